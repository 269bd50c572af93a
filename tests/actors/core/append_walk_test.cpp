// The path of an append under every interleaving a seed can think of.

#include <gtest/gtest.h>

#include "tests/actors/core/append_walk.hpp"

namespace evershard::actors {
namespace {

std::map<std::string, int> walk(AppendWalk::World world, std::uint64_t seeds) {
  std::map<std::string, int> seen;
  for (std::uint64_t seed = 1; seed <= seeds && !::testing::Test::HasFailure(); ++seed) {
    world.seed = seed;
    AppendWalk walk(world);
    walk.run();
    for (const auto& [what, times] : walk.seen) seen[what] += times;
  }
  return seen;
}

TEST(AppendWalk, KeepsEveryInvariantUnderFaults) {
  auto seen = walk({}, 80);

  for (const char* what : {"appended", "duplicate", "version_conflict", "condition_failed", "duplicate_event",
                           "timeout", "io", "crashes", "failed commits", "confirmed", "looked up again"}) {
    EXPECT_GT(seen[what], 10) << what;
  }
}

TEST(AppendWalk, KeepsEveryInvariantWhereAllTermsCollide) {
  AppendWalk::World world;
  world.term_mask = 1;
  auto seen = walk(world, 25);

  EXPECT_GT(seen["confirmed"], 10);
  EXPECT_GT(seen["appended"], 10);
}

TEST(AppendWalk, RefusesNobodyAsOverloadedWhereMemoryReachesBack) {
  AppendWalk::World world;
  world.recent_entries_max = 65'536;
  world.window_events_max = 262'144;
  auto seen = walk(world, 20);

  EXPECT_EQ(seen["overloaded"], 0);
  EXPECT_GT(seen["appended"], 10);
}

}  // namespace
}  // namespace evershard::actors
