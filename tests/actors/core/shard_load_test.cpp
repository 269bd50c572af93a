#include "evershard/actors/core/shard_load.hpp"

#include <gtest/gtest.h>

namespace evershard::actors {
namespace {

storage::EncodedAppend on(std::initializer_list<int> shards) {
  storage::EncodedAppend append;
  for (const int shard : shards) append.events.emplace_back().shard = ShardId{static_cast<std::uint16_t>(shard)};
  return append;
}

TEST(ShardLoad, CountsAnAppendOnceOnEachShardItVisits) {
  Limits limits;
  limits.shard_queue_appends_max = 1;
  ShardLoad load(4, limits);
  const auto append = on({2, 0, 2, 1, 0});

  ASSERT_TRUE(load.take(append, 10));
  for (const int shard : {0, 1, 2})
    EXPECT_EQ(load.take(on({shard}), 1).error().details->shard, ShardId{static_cast<std::uint16_t>(shard)});
  EXPECT_TRUE(load.take(on({3}), 1));
  load.give_back(append, 10);

  for (const int shard : {0, 1, 2}) EXPECT_TRUE(load.take(on({shard}), 1));
}

TEST(ShardLoad, TakesNothingOfWhatOneShardRefuses) {
  Limits limits;
  limits.shard_queue_appends_max = 1;
  ShardLoad load(4, limits);
  ASSERT_TRUE(load.take(on({3}), 1));

  EXPECT_FALSE(load.take(on({0, 1, 3}), 1));

  EXPECT_TRUE(load.take(on({0, 1}), 1));
}

TEST(ShardLoad, BoundsBytesButTakesALargeAppendThatIsAlone) {
  Limits limits;
  limits.shard_queue_bytes_max = 100;
  ShardLoad load(1, limits);

  ASSERT_TRUE(load.take(on({0}), 1'000));
  EXPECT_EQ(load.take(on({0}), 1).error().code, ErrorCode::overloaded);
  load.give_back(on({0}), 1'000);

  EXPECT_TRUE(load.take(on({0}), 60));
  EXPECT_TRUE(load.take(on({0}), 40));
  EXPECT_FALSE(load.take(on({0}), 1));
}

}  // namespace
}  // namespace evershard::actors
