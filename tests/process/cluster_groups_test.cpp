// A consumer group on a cluster of real processes: its home is killed while workers at the other nodes settle. Nothing
// is skipped, what was acknowledged is not given out again, and one aggregate's events keep their order.

#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <map>
#include <mutex>
#include <set>
#include <thread>

#include "evershard/sharding/route.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/process/cluster_processes.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using testing::ClusterProcesses;

constexpr int shared_aggregates = 6;
constexpr std::size_t first_events = 10, more_events = 5;  ///< of each

class ClusterGroupProcesses : public ::testing::Test {
 protected:
  /// Which node it is at home on, as an operator sees it.
  [[nodiscard]] std::uint32_t home_of(const std::string& name) {
    const auto shard = sharding::shard_of(sharding::stream_hash(AggregateId{"$group", name}), cluster_.shards());
    auto remote = cluster_.connect(1);
    const auto status = remote.cluster_status();
    EXPECT_TRUE(status) << status.error().what;
    return status ? status->shards.at(shard.value).node : 0;
  }
  void append(Remote& remote, std::size_t each) {
    for (std::size_t i = 0; i < each; ++i) {
      for (int a = 0; a < shared_aggregates; ++a) {
        const auto done = remote.append(Append{}.event("order-" + std::to_string(a), "Placed", "{}"));
        ASSERT_TRUE(done) << done.error().what;
      }
    }
  }
  template <class Holds>
  void eventually(Holds holds) {
    const auto deadline = std::chrono::steady_clock::now() + 120s;
    while (!holds() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(10ms);
    EXPECT_TRUE(holds());
  }

  TemporaryFolder folder_;
  ClusterProcesses cluster_{folder_.path(), {.nodes = 3, .shards = 6}};
};

TEST_F(ClusterGroupProcesses, SurviveTheirHomesDeath) {
  std::string name = "billing";
  auto home = home_of(name);
  ASSERT_NE(home, 0u);
  const std::uint32_t one = home % 3 + 1, other = one % 3 + 1;
  auto remote = cluster_.connect(one);
  ASSERT_NO_FATAL_FAILURE(append(remote, first_events));
  GroupSettings settings;
  settings.attempts_max = 1'000;
  settings.retry_first = 1ms;
  settings.retry_most = 20ms;
  settings.lease = 5s;
  settings.window = 20;
  const auto created =
      remote.groups().create_group({.name = name, .query = Query{}.types({"Placed"}), .settings = settings});
  ASSERT_TRUE(created) << created.error().what;

  std::mutex mutex;
  std::set<std::uint64_t> acknowledged;  ///< and answered so
  std::map<std::string, std::uint64_t> highest;
  std::atomic<bool> over{false};
  std::vector<std::thread> workers;
  for (const auto node : {one, other}) {
    workers.emplace_back([&, node] {
      auto own = cluster_.connect(node, 60s);  // as long as the home may take to be back
      std::optional<GroupWorker> worker;
      while (!over) {
        if (!worker) {
          auto joined = own.groups().join_group(name, {.credit = 4});
          if (joined)
            worker.emplace(*std::move(joined));
          else
            std::this_thread::sleep_for(50ms);
          continue;
        }
        const auto next = worker->next(50ms);
        if (!next) {
          ADD_FAILURE() << next.error().what;
          return;
        }
        if (!*next) continue;
        const auto& event = (*next)->event;
        {
          const std::lock_guard lock(mutex);
          EXPECT_FALSE(acknowledged.contains(event.position.value))
              << event.position.value << " was acknowledged, and is given out again";
          auto& before = highest[event.aggregate->text()];
          EXPECT_LE(event.seq_nr.value, before + 1) << "one of " << event.aggregate->text() << " was passed over";
          before = std::max(before, event.seq_nr.value);
        }
        if (!worker->acknowledge(**next)) continue;
        const std::lock_guard lock(mutex);
        acknowledged.insert(event.position.value);
      }
    });
  }
  const auto how_many = [&] {
    const std::lock_guard lock(mutex);
    return acknowledged.size();
  };
  eventually([&] { return how_many() >= 12; });
  cluster_.kill(home);
  std::this_thread::sleep_for(200ms);
  cluster_.start(home);
  ASSERT_TRUE(cluster_.wait_until_whole());
  ASSERT_NO_FATAL_FAILURE(append(remote, more_events));
  cluster_.kill(home);
  cluster_.start(home);
  ASSERT_TRUE(cluster_.wait_until_whole());

  const auto all = static_cast<std::uint64_t>(shared_aggregates) * (first_events + more_events);
  GroupInfo info;
  eventually([&] {
    const auto now = remote.groups().group(name);
    if (now) info = *now;
    return info.acknowledged >= all && info.unsettled == 0;
  });
  over = true;
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(info.acknowledged, all) << "each once, in the state";
  EXPECT_EQ(info.parked, 0u);
  EXPECT_EQ(highest.size(), static_cast<std::size_t>(shared_aggregates));
  for (const auto& [aggregate, last] : highest) EXPECT_EQ(last, first_events + more_events) << aggregate;
  for (std::uint32_t n = 1; n <= 3; ++n) {
    auto asked = cluster_.connect(n);
    auto listed = asked.groups().list_groups();
    eventually([&] { return (listed = asked.groups().list_groups()) && listed->size() == 1; });
    ASSERT_TRUE(listed) << listed.error().what;
    ASSERT_EQ(listed->size(), 1u);
    EXPECT_EQ(listed->front().acknowledged, all);
    EXPECT_EQ(listed->front().trouble, "");
  }
  cluster_.stop_all();
}

}  // namespace
}  // namespace evershard
