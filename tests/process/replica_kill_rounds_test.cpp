// A cluster in which three nodes keep each shard: any one of them is killed, stopped or frozen, and its directory
// deleted, while clients go on: the whole history is checked. EVERSHARD_ROUNDS and EVERSHARD_SEED steer it.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "tests/contract/temporary_folder.hpp"
#include "tests/process/cluster_load.hpp"

namespace evershard::testing {
namespace {

constexpr std::chrono::seconds caught_up_deadline{60};

/// Waits until the node has applied what there is, or nearly: it counts as a replica again.
bool is_caught_up(const ClusterProcesses& cluster, std::uint32_t node, std::uint32_t asked) {
  const auto until = std::chrono::steady_clock::now() + caught_up_deadline;
  while (std::chrono::steady_clock::now() < until) {
    auto client = cluster.connect(asked);
    const auto status = client.cluster_status();
    if (status && status->trouble.empty()) {
      for (const auto& at : status->nodes)
        if (at.is.node == node && at.is.up && at.behind < 50 && at.applied.value != 0) return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

/// Waits until the nodes write so many shards: as `enough` has it.
template <class Enough>
bool is_spread(const ClusterProcesses& cluster, std::uint32_t asked, Enough enough) {
  const auto until = std::chrono::steady_clock::now() + caught_up_deadline;
  while (std::chrono::steady_clock::now() < until) {
    const auto status = cluster.connect(asked).cluster_status();
    if (status && status->trouble.empty()) {
      std::map<std::uint32_t, std::size_t> writes;
      for (const auto& at : status->nodes) writes[at.is.node] = 0;
      for (const auto& shard : status->shards) ++writes[shard.node];
      if (enough(writes)) return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

bool is_even(const std::map<std::uint32_t, std::size_t>& writes) {
  const auto [least, most] = std::ranges::minmax_element(writes, {}, [](const auto& of) { return of.second; });
  return most->second - least->second <= 1;
}

/// Three nodes keep each shard, of so many.
void any_node_may_go(std::uint32_t nodes, int rounds) {
  const auto seed = seed_of_run();
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  const TemporaryFolder folder;
  ClusterProcesses::Options options;
  options.nodes = nodes;
  options.flags = [](std::uint32_t number) {
    return ClusterProcesses::is_coordinator(number)
               ? std::map<std::string, std::string>{{"--replicas", "3"}, {"--balance-after", "500ms"}}
               : std::map<std::string, std::string>{};
  };
  ClusterProcesses cluster(folder.path(), options);
  ClusterLoad load(cluster, seed);

  std::mt19937_64 random(seed);
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    ASSERT_TRUE(load.goes_on()) << "before round " << round;
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 200));
    const auto node = static_cast<std::uint32_t>(1 + random() % cluster.nodes());
    const auto other = node % cluster.nodes() + 1;
    const auto what = random() % 6;
    if (what == 3) {
      cluster.signal(node, SIGSTOP);
      EXPECT_TRUE(load.goes_on()) << "node " << node << " is frozen, round " << round;
      cluster.signal(node, SIGCONT);
    } else if (what >= 4) {
      if (what == 5) {
        ASSERT_TRUE(cluster.connect(other).cluster_assign({.node = node, .drain = true}));
        EXPECT_TRUE(is_spread(cluster, other, [&](const auto& writes) { return writes.at(node) == 0; }))
            << "node " << node << " is drained, round " << round;
      }
      cluster.stop(node);  // what is under way is answered, and it ends well
      EXPECT_TRUE(load.goes_on()) << "node " << node << " is stopped, round " << round;
      cluster.start(node);
    } else {
      cluster.kill(node);
      if (what == 2) std::filesystem::remove_all(cluster.data(node));
      if (random() % 4 == 0) {
        cluster.kill(ClusterProcesses::coordinator);
        cluster.launch(ClusterProcesses::coordinator);
        cluster.start(ClusterProcesses::coordinator);
      }
      EXPECT_TRUE(load.goes_on()) << "node " << node << " is gone" << (what == 2 ? " with its disk" : "") << ", round "
                                  << round;
      cluster.launch(node);
      cluster.start(node);
    }
    // The next one may go once this one is a replica again: two of three have to be.
    ASSERT_TRUE(is_caught_up(cluster, node, other)) << "node " << node << ", round " << round << "\n"
                                                    << cluster.log(node);
    if (random() % 2 == 0) {  // else by itself
      ASSERT_TRUE(cluster.connect(other).cluster_assign({.balance = true}));
    }
    EXPECT_TRUE(is_spread(cluster, other, is_even)) << "round " << round;
  }
  EXPECT_TRUE(cluster.wait_until_whole());
  EXPECT_TRUE(load.goes_on());
  load.stop();
  load.check();
  cluster.stop_all();
}

TEST(ReplicaKillRounds, AnyNodeMayGoWithItsDisk) { any_node_may_go(3, rounds_or(5)); }

// Nobody else keeps all that a node keeps: several give it what it was away for.
TEST(ReplicaKillRounds, AnyNodeOfMoreThanThereAreReplicasMayGoWithItsDisk) { any_node_may_go(5, rounds_or(3)); }

}  // namespace
}  // namespace evershard::testing
