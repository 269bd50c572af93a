// Many seeds.

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/actors/entity/entity_simulation.hpp"

namespace evershard::actors {

namespace {

TEST(EntitySimulation, KeepsEveryPromiseWithDelaysFaultsAndCrashes) {
  const char* const one_seed = std::getenv("EVERSHARD_SEED");
  const std::uint64_t from = one_seed != nullptr ? std::strtoull(one_seed, nullptr, 10) : 0;
  const std::uint64_t until = one_seed != nullptr ? from + 1 : 400;
  EntityCounters total;
  std::uint64_t crashes = 0, ghosts = 0;
  for (std::uint64_t seed = from; seed < until; ++seed) {
    EntitySimulation simulation(seed);
    ASSERT_EQ(simulation.run(1'000), "") << "EVERSHARD_SEED=" << seed;
    total.conflicts += simulation.total.conflicts;
    total.duplicates += simulation.total.duplicates;
    total.discarded += simulation.total.discarded;
    total.evicted += simulation.total.evicted;
    total.passivated += simulation.total.passivated;
    total.outcomes_unknown += simulation.total.outcomes_unknown;
    total.condition_retries += simulation.total.condition_retries;
    total.snapshots_used += simulation.total.snapshots_used;
    total.snapshots_skipped += simulation.total.snapshots_skipped;
    total.replied += simulation.total.replied;
    total.rejected += simulation.total.rejected;
    crashes += simulation.crashes;
    ghosts += simulation.ghosts_landed;
  }
  if (one_seed != nullptr) return;
  EXPECT_GT(total.replied, 10'000u);
  for (const auto happened :
       {total.conflicts, total.duplicates, total.discarded, total.evicted, total.passivated, total.outcomes_unknown,
        total.condition_retries, total.snapshots_used, total.snapshots_skipped, total.rejected, crashes, ghosts}) {
    EXPECT_GT(happened, 50u) << "a simulation in which it does not happen tells nothing about it";
  }
}

}  // namespace
}  // namespace evershard::actors
