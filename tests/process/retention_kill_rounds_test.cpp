// Kill rounds of retention: a process truncates, removes and vacuums beside appends, and is killed in the middle, now
// and then of a slow rewriting. What it left equals what it said: what was removed is removed to every reader, whole
// aggregates at a time, and everything else is there as it was written.
//
// The test starts itself as the workload (`--workload`). EVERSHARD_ROUNDS and EVERSHARD_SEED steer it.

#include <gtest/gtest.h>
#include <unistd.h>

#include <evershard/local.hpp>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "evershard/protocol/retention_events.hpp"
#include "tests/process/process.hpp"

namespace evershard {
namespace {

using namespace std::chrono_literals;
using testing::Process;

constexpr int removable = 4;  ///< aggregates that are truncated and removed; as many others are only written to
constexpr std::uint64_t slow_bytes_per_second = 300'000;

LocalOptions kept_in(const std::filesystem::path& folder) {
  return {.data_dir = folder, .shards = 4, .tail_events = 2'000, .disk_reserve_bytes = 1 << 20};
}
AggregateId thing(int number) { return {"thing", std::to_string(number)}; }

std::string payload_of(const AggregateId& aggregate, std::uint64_t n, std::size_t bytes) {
  std::string payload = aggregate.text() + ' ' + std::to_string(n) + ' ';
  std::mt19937_64 random(n);
  while (payload.size() < bytes) payload += static_cast<char>('a' + random() % 26);
  return payload;
}

void say(const std::string& line) { (void)!::write(1, line.data(), line.size()); }

/// What one append gave: `E AGGREGATE VERSION POSITION FIRST COUNT BYTES`. Before what removes: `T AGGREGATE BEFORE`,
/// `R AGGREGATE`; behind it `t`, `r VERSION`.
int retention_workload(const std::filesystem::path& folder, std::uint64_t seed) {
  auto opened = Local::open(kept_in(folder));
  if (!opened) return 1;
  auto& store = *opened;
  std::atomic<std::uint64_t> last{seed % 1'000'000 * 1'000'000};
  const auto append = [&](std::mt19937_64& random, int number) {
    const auto id = thing(number);
    const auto count = 1 + random() % 12;
    const auto bytes = 200 + random() % 6'000;
    const auto first = last.fetch_add(100);
    Append batch;
    for (std::uint64_t i = 0; i < count; ++i)
      batch.event(id.text(), "Written", payload_of(id, first + i, bytes), {"all"});
    const auto done = store.append(std::move(batch));
    if (!done) std::_Exit(2);
    say("E " + id.text() + ' ' + std::to_string(done->versions.front().version.value) + ' ' +
        std::to_string(done->first_position.value) + ' ' + std::to_string(first) + ' ' + std::to_string(count) + ' ' +
        std::to_string(bytes) + '\n');
  };
  std::thread beside([&] {
    for (std::mt19937_64 random(seed + 1);;) append(random, removable + static_cast<int>(random() % removable));
  });
  for (std::mt19937_64 random(seed);;) {
    const auto number = static_cast<int>(random() % removable);
    const auto id = thing(number);
    const auto what = random() % 12;
    RetentionOrder order;
    order.by = "workload";
    if (random() % 2 == 0) order.bytes_per_second = slow_bytes_per_second;
    if (what < 8) {
      append(random, number);
    } else if (what < 10) {
      const auto info = store.aggregate(id);
      if (!info) continue;
      const auto before = SeqNr{2 + random() % info->version.value};
      TruncateOptions truncate;
      static_cast<RetentionOrder&>(truncate) = order;
      truncate.uncovered = true;
      say("T " + id.text() + ' ' + std::to_string(before.value) + '\n');
      if (auto done = store.retention().truncate_aggregate(id, before, truncate); !done) std::_Exit(3);
      say("t " + id.text() + ' ' + std::to_string(before.value) + '\n');
    } else if (what == 10) {
      if (!store.aggregate(id)) continue;
      say("R " + id.text() + '\n');
      const auto done = store.retention().remove_aggregate(id, order);
      if (!done) std::_Exit(4);
      say("r " + id.text() + ' ' + std::to_string(done->before.value) + '\n');
    } else if (auto done = store.vacuum(); !done) {
      std::_Exit(5);
    } else {
      say("V\n");
    }
  }
}

/// One aggregate as the workload said it.
struct Known {
  struct Written {
    std::uint64_t position = 0;
    std::string payload;
  };
  std::map<std::uint64_t, Written> events;  ///< by number
  std::uint64_t removed_below = 1;          ///< said to be done
  bool removed = false;                     ///< with its last event
  std::uint64_t may_be_below = 1;           ///< was under way; all of it or nothing
  bool may_be_removed = false;
};

class RetentionKillRounds : public ::testing::Test {
 protected:
  RetentionKillRounds() {
    auto name = (std::filesystem::temp_directory_path() / "evershard-retention-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
    for (int number = 0; number < 2 * removable; ++number) known_[thing(number).text()];
  }
  ~RetentionKillRounds() override { std::filesystem::remove_all(folder_); }

  void read_what_was_said(const std::string& out) {
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line) && !lines.eof();) {  // one that was cut off was not said
      std::istringstream words(line);
      std::string what, text;
      words >> what >> text;
      if (what == "V") continue;
      auto& one = known_[text];
      if (what == "E") {
        std::uint64_t version = 0, position = 0, first = 0, count = 0, bytes = 0;
        words >> version >> position >> first >> count >> bytes;
        for (std::uint64_t i = 0; i < count; ++i)
          one.events[version - count + 1 + i] = {position + i, payload_of(*AggregateId::parse(text), first + i, bytes)};
        one.removed = false;
      } else if (what == "T") {
        words >> one.may_be_below;
      } else if (what == "t") {
        one.removed_below = std::max(one.removed_below, std::exchange(one.may_be_below, 1));
      } else if (what == "R") {
        one.may_be_removed = true;
      } else {
        words >> one.removed_below;
        one.removed = true;
        one.may_be_removed = false;
      }
    }
  }

  /// What is there must be what was said; from then on it is what is known.
  void compare(Local& store) {
    for (auto& [text, one] : known_) {
      SCOPED_TRACE(text);
      const auto id = *AggregateId::parse(text);
      std::uint64_t number = 0, removed_below = 1;
      bool marked = false;
      std::map<std::uint64_t, RecordedEvent> there;
      auto stream = store.read(id);
      for (const auto& event : stream) {
        ASSERT_EQ(event.seq_nr.value, ++number) << "a gap";
        if (event.state == EventState::removed) {
          ASSERT_EQ(removed_below, number) << "what is removed begins with the first event";
          ASSERT_TRUE(event.payload.empty() && event.type.empty());
          removed_below = number + 1;
        }
        marked = event.type == retention::aggregate_removed;
        there.emplace(number, event);
      }
      ASSERT_FALSE(stream.error()) << stream.error()->what;
      if (there.empty()) {
        EXPECT_TRUE(one.events.empty()) << "none of its acknowledged events is there";
        continue;
      }
      std::uint64_t allowed = std::max(one.removed_below, one.may_be_below);
      if (one.may_be_removed && marked) allowed = number;  // below its own marker
      EXPECT_TRUE(removed_below == one.removed_below || removed_below == allowed)
          << removed_below << " is neither " << one.removed_below << " nor " << allowed;
      for (const auto& [at, written] : one.events) {
        ASSERT_TRUE(there.contains(at)) << "the acknowledged event " << at << " is not there";
        EXPECT_EQ(there.at(at).position.value, written.position);
        if (at >= removed_below) {
          EXPECT_EQ(there.at(at).payload, written.payload) << at;
        }
      }
      const auto info = store.aggregate(id);
      EXPECT_EQ(info ? "it is there" : std::string(name_of(info.error().code)), marked ? "not_found" : "it is there");
      if (one.removed) {  // an append behind it may be there that was not said any more
        ASSERT_TRUE(there.contains(one.removed_below)) << "its marker is not there";
        EXPECT_EQ(there.at(one.removed_below).type, retention::aggregate_removed);
      }
      one = {};
      one.removed_below = removed_below;
      one.removed = marked;
      for (const auto& [at, event] : there) {
        if (event.state != EventState::removed && event.type == "Written")
          one.events[at] = {event.position.value, event.payload};
      }
    }
  }

  /// Every position is there, and what was ordered is done once all that was left is.
  void compare_the_whole(Local& store) {
    std::uint64_t position = 0;
    auto all = store.read(Query::all());
    for (const auto& event : all) ASSERT_EQ(event.position.value, ++position);
    ASSERT_FALSE(all.error()) << all.error()->what;
    EXPECT_EQ(position, store.head()->value);
    auto tagged = store.read(Query{}.tags({"all"}));
    std::uint64_t found = 0, expected = 0;
    for (const auto& event : tagged) found += event.state == EventState::removed ? 0 : 1;
    for (const auto& [text, one] : known_) expected += one.events.size();
    EXPECT_EQ(found, expected) << "what is removed matches no tag";
  }

  std::filesystem::path folder_;
  std::map<std::string, Known> known_;
};

TEST_F(RetentionKillRounds, WhatIsThereIsWhatWasSaid) {
  const char* rounds_text = std::getenv("EVERSHARD_ROUNDS");
  const char* seed_text = std::getenv("EVERSHARD_SEED");
  const int rounds = rounds_text ? std::atoi(rounds_text) : 6;
  const std::uint64_t seed = seed_text ? std::strtoull(seed_text, nullptr, 10) : std::random_device{}();
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto data = folder_ / "data";
  for (int round = 0; round < rounds && !HasFatalFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    {
      Process workload({"/proc/self/exe", "--workload", data.string(),
                        std::to_string(seed % 900'000 + static_cast<std::uint64_t>(round))});
      ASSERT_FALSE(workload.lines(20 + random() % 150, 60s).empty());
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 60));
      workload.signal(SIGKILL);
      const auto finished = workload.wait();
      ASSERT_EQ(finished.status, 128 + SIGKILL) << finished.err;
      read_what_was_said(finished.out);
    }
    auto opened = Local::open(kept_in(data));
    ASSERT_TRUE(opened) << opened.error().what;
    ASSERT_NO_FATAL_FAILURE(compare(*opened));  // before anything goes on with what was broken off
    ASSERT_NO_FATAL_FAILURE(compare_the_whole(*opened));
    if (round % 2 == 1) continue;  // the next one begins with what is left
    const auto vacuumed = opened->vacuum();
    ASSERT_TRUE(vacuumed) << vacuumed.error().what;
    ASSERT_NO_FATAL_FAILURE(compare(*opened));
    ASSERT_NO_FATAL_FAILURE(compare_the_whole(*opened));
    std::map<std::string, int> log;
    const auto entries = opened->retention().retention_log(SeqNr{0}, 1'000'000);
    ASSERT_TRUE(entries) << entries.error().what;
    for (const auto& entry : *entries) ++log[entry.what];
    EXPECT_EQ(log[std::string(retention::truncation_ordered)], log[std::string(retention::truncation_done)]);
    EXPECT_EQ(log[std::string(retention::removal_ordered)], log[std::string(retention::removal_done)]);
    const auto report = opened->verify();
    ASSERT_TRUE(report) << report.error().what;
    EXPECT_EQ(report->errors, 0u) << (report->findings.empty() ? "" : report->findings.front());
  }
}

}  // namespace
}  // namespace evershard

int main(int argc, char** argv) {
  if (argc == 4 && std::string_view(argv[1]) == "--workload")
    return evershard::retention_workload(argv[2], std::strtoull(argv[3], nullptr, 10));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
