// The cluster of plain classes under faults: every invariant holds, and each rule that is switched off is missed.

#include <gtest/gtest.h>

#include "tests/simulation/simulation.hpp"

namespace evershard::simulation {
namespace {
TEST(Simulation, KeepsEveryInvariant) {
  for (std::uint64_t seed = 1; seed != 40; ++seed) {
    const auto outcome = Simulation({.seed = seed}).run();
    ASSERT_EQ(outcome.invariant, "") << seed << outcome.what;
  }
}
}  // namespace
}  // namespace evershard::simulation
