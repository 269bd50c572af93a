// Retention on a cluster whose nodes are killed while aggregates are truncated and removed. What was answered holds,
// everything else is whole, and the log has the order and the end of each operation once. The test starts itself as a
// node (`--node`); one node is its own, and asks. EVERSHARD_ROUNDS and EVERSHARD_SEED steer it.

#include <gtest/gtest.h>
#include <signal.h>

#include <iostream>

#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "evershard/protocol/retention_events.hpp"
#include "tests/cluster/embedded/embedding_cluster.hpp"
#include "tests/process/process.hpp"

namespace evershard {
namespace {

using testing::Process;

constexpr int removable_things = 8, kept_things = 6;
constexpr auto removals_patience = 180s;

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* set = std::getenv(name);
  return set == nullptr ? otherwise : std::strtoull(set, nullptr, 10);
}

AggregateId removable_thing(int number) { return {"thing", std::to_string(number)}; }
AggregateId kept_thing(int number) { return {"kept", std::to_string(number)}; }

/// What was said of an aggregate.
struct Said {
  std::uint64_t gone_below = 0;   ///< answered: those are removed
  std::uint64_t asked_below = 0;  ///< by a truncation
};

/// Until its input ends. Words: NODE DATA COORDINATOR SECRET SHARDS.
int node_that_is_killed(char** words) {
  ClusterOptions options;
  options.node = static_cast<std::uint32_t>(std::stoul(words[0]));
  options.data_dir = words[1];
  options.coordinator = words[2];
  options.secret_file = words[3];
  options.shards = static_cast<std::uint32_t>(std::stoul(words[4]));
  options.disk_reserve_bytes = 0;
  options.memtable_bytes = 4u << 20;
  options.block_cache_bytes = 8u << 20;
  auto node = Cluster::join(options);
  if (!node) return std::cerr << node.error().what << std::endl, 1;
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
  }
  return 0;
}

class ClusterRemovals : public ::testing::Test {
 protected:
  static constexpr std::uint32_t own = 3;  ///< the node of this process

  ClusterRemovals() {
    std::thread first([this] { start(1); });
    start(2);
    first.join();
    auto options = cluster_.options(own);
    options.timeout = 5s;
    cluster_.start(own, options);
  }
  void start(std::uint32_t n) {
    const auto options = cluster_.options(n);
    processes_[n - 1] = std::make_unique<Process>(std::vector<std::string>{
        std::filesystem::read_symlink("/proc/self/exe").string(), "--node", std::to_string(n),
        options.data_dir.string(), options.coordinator, options.secret_file.string(), std::to_string(options.shards)});
    EXPECT_EQ(processes_[n - 1]->lines(1, removals_patience), std::vector<std::string>{"ready"})
        << processes_[n - 1]->errors();
  }
  void kill(std::uint32_t n) {
    processes_[n - 1]->signal(SIGKILL);
    EXPECT_EQ(processes_[n - 1]->wait(removals_patience).status, 128 + SIGKILL);
  }
  Cluster& store() { return cluster_.node(own); }
  /// Of a whole cluster.
  std::vector<RecordedEvent> events_of(const AggregateId& aggregate) {
    for (const auto until = std::chrono::steady_clock::now() + removals_patience;;) {
      std::vector<RecordedEvent> events;
      auto stream = store().read(aggregate);
      for (const auto& event : stream) events.push_back(event);
      if (!stream.error()) return events;
      if (std::chrono::steady_clock::now() > until) return ADD_FAILURE() << stream.error()->what, events;
      std::this_thread::sleep_for(50ms);
    }
  }

  EmbeddingCluster cluster_{3};
  std::array<std::unique_ptr<Process>, 2> processes_;
};

TEST_F(ClusterRemovals, HoldWhatWasAnsweredThroughKills) {
  const auto seed = from_environment("EVERSHARD_SEED", 1), rounds = from_environment("EVERSHARD_ROUNDS", 8);
  RecordProperty("seed", static_cast<int>(seed));
  std::atomic<bool> over{false};
  std::mutex mutex;
  std::map<int, Said> said;
  std::map<int, std::uint64_t> kept;  // highest version that was answered
  std::atomic<int> answered{0}, unknown{0};

  std::thread writer([&] {
    std::mt19937_64 random(seed + 1);
    while (!over) {
      const int number = static_cast<int>(random() % kept_things);
      const auto done = store().append(Append{}.event(kept_thing(number).text(), "Kept", "stays"));
      const std::lock_guard lock(mutex);
      if (done) kept[number] = std::max(kept[number], done->versions.front().version.value);
    }
  });
  std::vector<std::thread> removers;
  for (std::uint32_t node = 1; node <= 2; ++node) {
    removers.emplace_back([&, node] {
      std::mt19937_64 random(seed * 10 + node);
      while (!over) {
        const int number = 2 * static_cast<int>(random() % (removable_things / 2)) + static_cast<int>(node) - 1;
        const auto id = removable_thing(number);
        std::uint64_t version = 0;
        for (auto left = 1 + random() % 4; left > 0 && !over;) {
          const auto done = store().append(Append{}
                                               .event(id.text(), "Written", std::string(500, 'x'))
                                               .event(id.text(), "Written", std::string(500, 'y')));
          if (!done) continue;
          version = done->versions.front().version.value;
          --left;
        }
        if (over || version == 0) break;
        const bool whole = random() % 2 == 0;
        TruncateOptions truncate;
        truncate.uncovered = true;
        if (!whole) {
          const std::lock_guard lock(mutex);
          said[number].asked_below = std::max(said[number].asked_below, version);
        }
        RetentionOrder order;
        if (random() % 2 == 0)
          order.bytes_per_second = truncate.bytes_per_second = 20'000;  // so that it is killed in the middle
        const auto done = whole ? store().retention().remove_aggregate(id, order)
                                : store().retention().truncate_aggregate(id, SeqNr{version}, truncate);
        if (!done) {
          ++unknown;
          continue;
        }
        ++answered;
        {
          const std::lock_guard lock(mutex);
          said[number].gone_below = std::max(said[number].gone_below, done->before.value);
        }
        // At once, for whoever asks.
        auto stream = store().read(id);
        for (const auto& event : stream)
          if (event.seq_nr < done->before && event.seq_nr.value < version && event.state != EventState::removed)
            ADD_FAILURE() << "not removed: " << id.text() << " " << event.seq_nr.value;
      }
    });
  }
  std::mt19937_64 random(seed);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300 + random() % 900));
    const auto node = static_cast<std::uint32_t>(1 + random() % 2);
    kill(node);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 500));
    start(node);
  }
  // Where a machine is slow, kills leave them little time.
  for (const auto until = std::chrono::steady_clock::now() + removals_patience;
       answered <= 5 && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(50ms);
  over = true;
  writer.join();
  for (auto& remover : removers) remover.join();

  // What was broken off is finished by a run.
  for (const auto until = std::chrono::steady_clock::now() + removals_patience;; std::this_thread::sleep_for(100ms)) {
    const auto done = store().retention().apply_retention({});
    if (done) break;
    ASSERT_LT(std::chrono::steady_clock::now(), until) << done.error().what;
  }
  EXPECT_GT(answered, 5);
  RecordProperty("answered", answered);
  RecordProperty("unknown", unknown);
  for (const auto& [number, what] : said) {
    const auto events = events_of(removable_thing(number));
    SCOPED_TRACE(removable_thing(number).text());
    std::uint64_t gone = 0, marker = 0, next = 1;
    for (const auto& event : events) {
      EXPECT_EQ(event.seq_nr.value, next++);
      if (event.state == EventState::removed) {
        EXPECT_EQ(gone + 1, event.seq_nr.value) << "a removed event behind one that is there";
        gone = event.seq_nr.value;
      } else if (event.type == retention::aggregate_removed) {
        marker = event.seq_nr.value;
      } else {
        EXPECT_EQ(event.payload.size(), 500u);
      }
    }
    EXPECT_GE(gone + 1, what.gone_below) << "what was answered does not hold";
    EXPECT_GE(gone + 1, marker) << "removed in part";
  }
  for (const auto& [number, version] : kept) {
    const auto events = events_of(kept_thing(number));
    EXPECT_GE(events.size(), version);
    for (const auto& event : events) EXPECT_EQ(event.payload, "stays");
  }
  // Each operation has one order and one end.
  std::map<std::string, int> orders, ends;
  const auto log = patiently([&] { return store().retention().retention_log(SeqNr{0}, 100'000); });
  ASSERT_TRUE(log) << log.error().what;
  for (const auto& entry : *log) {
    const auto from = entry.json.find("\"operation\":\"") + 13;
    const auto operation = entry.json.substr(from, entry.json.find('"', from) - from);
    if (entry.what == retention::removal_ordered || entry.what == retention::truncation_ordered) ++orders[operation];
    if (entry.what == retention::removal_done || entry.what == retention::truncation_done) ++ends[operation];
  }
  EXPECT_GE(orders.size(), static_cast<std::size_t>(answered));
  for (const auto& [operation, times] : orders) EXPECT_EQ(times, 1) << operation;
  for (const auto& [operation, times] : ends) EXPECT_EQ(times, 1) << operation;
  EXPECT_EQ(orders.size(), ends.size());
}

}  // namespace
}  // namespace evershard

int main(int argc, char** argv) {
  if (argc == 7 && std::string_view(argv[1]) == "--node") return evershard::node_that_is_killed(argv + 2);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
