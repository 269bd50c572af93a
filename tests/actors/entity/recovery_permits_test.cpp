// So many load at once, and who asked first is first.

#include "evershard/actors/entity/recovery_permits.hpp"

#include <gtest/gtest.h>

namespace evershard::actors {
namespace {

TEST(RecoveryPermits, GrantsSoManyAtOnceAndTheRestInOrder) {
  RecoveryPermits permits(2);
  EXPECT_TRUE(permits.ask(ShardId{1}));
  EXPECT_TRUE(permits.ask(ShardId{1}));
  EXPECT_FALSE(permits.ask(ShardId{1}));
  EXPECT_FALSE(permits.ask(ShardId{2}));

  EXPECT_EQ(permits.give_back(), ShardId{1});
  EXPECT_EQ(permits.give_back(), ShardId{2});
  EXPECT_EQ(permits.give_back(), std::nullopt);
  EXPECT_EQ(permits.give_back(), std::nullopt);
  EXPECT_EQ(permits.free(), 2u);
}

TEST(RecoveryPermits, AreFiftyByDefault) { EXPECT_EQ(RecoveryPermits().free(), 50u); }

}  // namespace
}  // namespace evershard::actors
