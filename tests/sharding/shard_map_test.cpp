#include "evershard/sharding/shard_map.hpp"

#include <gtest/gtest.h>

namespace evershard::sharding {
namespace {

TEST(ShardMap, BelongsToNobodyAtFirst) {
  const ShardMap map(4);

  EXPECT_EQ(map.shard_count(), 4u);
  EXPECT_EQ(map.owner(ShardId{3}), ShardOwner{});
}

TEST(ShardMap, TakesOnlyNewerEpochs) {
  ShardMap map(4);
  const ShardOwner first{1, "a:1", Epoch{2}};
  const ShardOwner second{2, "b:1", Epoch{3}};

  EXPECT_TRUE(map.assign(ShardId{3}, first));
  EXPECT_TRUE(map.assign(ShardId{3}, second));
  const auto again = map.assign(ShardId{3}, second);
  const auto older = map.assign(ShardId{3}, first);

  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::fenced);
  ASSERT_FALSE(older);
  EXPECT_EQ(older.error().code, ErrorCode::fenced);
  EXPECT_EQ(older.error().what, "shard 3 is owned by node 2 under epoch 3, node 1 brings epoch 2");
  EXPECT_EQ(map.owner(ShardId{3}), second);
}

TEST(ShardMap, KnowsItsShards) {
  ShardMap map(4);

  const auto refused = map.assign(ShardId{4}, {1, "a:1", Epoch{2}});

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace evershard::sharding
