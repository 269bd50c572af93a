#include "tests/process/reached.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>

namespace evershard::testing {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

Append probe(const ClusterProcesses& cluster, std::uint32_t shard) {
  const auto aggregate = cluster.aggregate_in(shard);
  return Append().event(aggregate, "Probe", "probe").expect(aggregate, Version::exactly(no_version));
}

Reached reach(const ClusterProcesses& cluster, std::uint32_t node, std::chrono::milliseconds timeout, int tries_max,
              const std::set<std::uint32_t>& shards) {
  Reached reached;
  auto store = cluster.connect(node, timeout);
  for (std::uint32_t shard = 0; shard != cluster.shards(); ++shard) {
    if (!shards.empty() && !shards.contains(shard)) continue;
    Result<Appended> asked;
    // Until the silence of a node is noticed the outcome is unknown.
    for (int tries = 0; tries < tries_max; ++tries) {
      const auto began = Clock::now();
      asked = store.append(probe(cluster, shard));
      const auto took = Clock::now() - began;
      reached.course += "shard " + std::to_string(shard) + ", " +
                        std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()) +
                        " ms: " + (asked ? "stored" : asked.error().what) + '\n';
      EXPECT_LT(took, timeout + 30s) << reached.course;
      if (asked || asked.error().code != ErrorCode::timeout) break;
    }
    if (asked) {
      ADD_FAILURE() << "shard " << shard << ": stored";
    } else if (asked.error().code == ErrorCode::version_conflict) {
      reached.answered.insert(shard);
    } else if (asked.error().code == ErrorCode::timeout) {
      reached.silent.insert(shard);
    } else {
      EXPECT_EQ(asked.error().code, ErrorCode::unavailable) << asked.error().what;
      EXPECT_THAT(asked.error().what, HasSubstr("shard " + std::to_string(shard)));
      if (asked.error().details == nullptr ||
          asked.error().details->shard != ShardId{static_cast<std::uint16_t>(shard)})
        ADD_FAILURE() << "it is not named: " << asked.error().what;
      reached.missing.insert(shard);
    }
  }
  return reached;
}

Reached reach_missing(const ClusterProcesses& cluster, std::uint32_t node, const std::set<std::uint32_t>& missing,
                      std::chrono::milliseconds timeout) {
  Reached reached;
  for (const auto until = Clock::now() + 60s; Clock::now() < until;) {
    reached = reach(cluster, node, timeout);
    if (reached.missing == missing && reached.silent.empty()) break;
  }
  return reached;
}

void expect_named_in_time(const ClusterProcesses& cluster, std::uint32_t node, const std::set<std::uint32_t>& shards) {
  constexpr auto deadline = 2s;
  const auto silent_since = Clock::now();
  const auto reached = reach(cluster, node, deadline, 20, shards);
  EXPECT_EQ(reached.missing, shards) << reached.course;
  EXPECT_LT(Clock::now() - silent_since, deadline + shards.size() * deadline + 60s) << reached.course;
}

GlobalPosition fill(const ClusterProcesses& cluster, std::uint32_t node) {
  auto store = cluster.connect(node);
  GlobalPosition last;
  for (std::uint32_t shard = 0; shard != cluster.shards(); ++shard) {
    auto append = Append().event(cluster.aggregate_in(shard), "Filled", "x");
    append.request_id = EventId::random();
    Result<Appended> done = refuse(ErrorCode::unavailable, "not tried");
    for (const auto until = Clock::now() + 60s; !done && Clock::now() < until;
         std::this_thread::sleep_for(done ? 0ms : 50ms))
      done = store.append(append);
    EXPECT_TRUE(done) << "shard " << shard << ": " << done.error().what;
    if (done) last = std::max(last, done->last_position);
  }
  return last;
}

std::size_t count_at(const ClusterProcesses& cluster, std::uint32_t node, GlobalPosition at_least) {
  auto store = cluster.connect(node);
  auto stream = store.read(Query::all(), {.at_least = at_least});
  std::size_t count = 0;
  for (const auto& event : stream) count += event.position == GlobalPosition{count + 1} ? 1u : 0u;
  EXPECT_FALSE(stream.error()) << stream.error()->what;
  return count;
}

std::set<std::uint32_t> shards_of(const ClusterProcesses& cluster, std::uint32_t node, std::uint32_t asked) {
  const auto status = cluster.connect(asked).cluster_status();
  EXPECT_TRUE(status) << status.error().what;
  std::set<std::uint32_t> own;
  for (std::uint32_t shard = 0; status && shard != status->shards.size(); ++shard)
    if (status->shards[shard].node == node) own.insert(shard);
  return own;
}

void give(const ClusterProcesses& cluster, const std::set<std::uint32_t>& shards, std::uint32_t to,
          std::uint32_t asked) {
  auto store = cluster.connect(asked);
  ShardAssignment wanted{.node = to};
  for (const auto shard : shards) wanted.shards.push_back(ShardId{static_cast<std::uint16_t>(shard)});
  Result<ShardsAssigned> done = refuse(ErrorCode::unavailable, "not tried");
  for (const auto until = Clock::now() + 60s; !done && Clock::now() < until; std::this_thread::sleep_for(50ms))
    done = store.cluster_assign(wanted);
  EXPECT_TRUE(done) << done.error().what;
  EXPECT_TRUE(done && done->done) << "something would be lost";
}

}  // namespace evershard::testing
