#include "evershard/protocol/check.hpp"

namespace evershard {
namespace {

TEST(CheckDeathTest, StopsTheProcessAndSaysWhyAndWhere) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  const int offset = 3;

  EXPECT_DEATH(EVERSHARD_CHECK(offset == 4, "offsets ascend"),
               "check_test.cpp:[0-9]+: broken invariant: offsets ascend \\(offset == 4\\)");
}

TEST(Check, EvaluatesItsConditionOnce) {
  int evaluated = 0;

  EVERSHARD_CHECK(++evaluated == 1, "once");

  EXPECT_EQ(evaluated, 1);
}

}  // namespace
}  // namespace evershard
