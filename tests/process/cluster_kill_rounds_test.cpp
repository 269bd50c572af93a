// A cluster of processes, killed at random while clients append, read and follow: the whole history is checked.
// EVERSHARD_ROUNDS and EVERSHARD_SEED steer it.

#include <gtest/gtest.h>
#include <signal.h>

#include <random>
#include <thread>

#include "tests/contract/temporary_folder.hpp"
#include "tests/process/cluster_load.hpp"

namespace evershard::testing {
namespace {

TEST(ClusterKillRounds, LoseNothingAndDoubleNothing) {
  const auto seed = seed_of_run();
  const int rounds = rounds_or(3);
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  const TemporaryFolder folder;
  ClusterProcesses cluster(folder.path());
  ClusterLoad load(cluster, seed);

  std::mt19937_64 random(seed);
  for (int round = 0; round < rounds && !::testing::Test::HasFatalFailure(); ++round) {
    ASSERT_TRUE(load.goes_on()) << "before round " << round;
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 200));
    const auto first = static_cast<std::uint32_t>(random() % (cluster.nodes() + 1));
    cluster.kill(first);
    // Now and then another one while it is away.
    std::optional<std::uint32_t> second;
    if (random() % 3 == 0) {
      second = (first + 1 + static_cast<std::uint32_t>(random() % cluster.nodes())) % (cluster.nodes() + 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 300));
      cluster.kill(*second);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 500));
    cluster.launch(first);
    if (second) cluster.launch(*second);
    cluster.start(first);
    if (second) cluster.start(*second);
  }
  EXPECT_TRUE(cluster.wait_until_whole());
  EXPECT_TRUE(load.goes_on());
  load.stop();
  load.check();
  cluster.stop_all();
}

}  // namespace
}  // namespace evershard::testing
