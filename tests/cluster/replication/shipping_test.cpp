// Shipping: who is sent what, and when it is sent again.

#include <gtest/gtest.h>

#include "evershard/cluster/replication/shipping.hpp"

namespace evershard::cluster {
namespace {

constexpr ShardId shipped_shard{3};

storage::ShippedRows rows(std::uint64_t first, std::uint64_t end, std::size_t bytes = 10) {
  storage::ShippedRows rows;
  rows.shard = shipped_shard;
  rows.first = ShardOffset{first};
  rows.end = ShardOffset{end};
  rows.records.push_back({rows.first, std::string(bytes, 'x')});
  return rows;
}

std::vector<storage::ShippedRows> one(storage::ShippedRows of) { return {std::move(of)}; }

FollowedShard at(std::uint64_t tail, std::uint64_t epoch = 1) {
  return {shipped_shard, Epoch{epoch}, ShardOffset{tail}};
}

TEST(Shipping, SendsNothingBeforeAFollowerSaidWhereItIs) {
  Shipping shipping;
  shipping.begin(shipped_shard, Epoch{1}, {2, 3}, ShardOffset{5});

  EXPECT_TRUE(shipping.made(one(rows(5, 6))).empty());
  EXPECT_TRUE(shipping.wanted().empty());
}

TEST(Shipping, SendsWhoIsInStepWhatIsMade) {
  Shipping shipping;
  shipping.begin(shipped_shard, Epoch{1}, {2, 3}, ShardOffset{5});
  EXPECT_TRUE(shipping.followed(2, at(5), true));
  EXPECT_TRUE(shipping.followed(3, at(4), true));

  const auto out = shipping.made(one(rows(5, 6)));

  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out.front().nodes, std::vector<std::uint32_t>{2});
  ASSERT_EQ(shipping.wanted().size(), 1u);
  EXPECT_EQ(shipping.wanted().front().node, 3u);
  EXPECT_EQ(shipping.wanted().front().from, ShardOffset{4});
}

TEST(Shipping, TakesNoWordOfAnotherEpochOrNode) {
  Shipping shipping;
  shipping.begin(shipped_shard, Epoch{2}, {2}, ShardOffset{5});

  EXPECT_FALSE(shipping.followed(2, at(5, 1), true));
  EXPECT_FALSE(shipping.followed(4, at(5, 2), true));
}

// Its bytes stayed in the count of what is under way: after some fail-overs nothing had room.
TEST(Shipping, CountsNothingOfAShardThatEnded) {
  Shipping shipping({.under_way_max = 100});
  for (std::uint64_t epoch = 1; epoch != 4; ++epoch) {
    shipping.begin(shipped_shard, Epoch{epoch}, {2}, ShardOffset{1});
    EXPECT_TRUE(shipping.followed(2, at(1, epoch), true));
    EXPECT_EQ(shipping.made(one(rows(1, 2, 200))).size(), 1u);
    shipping.end(shipped_shard);
  }
}

// Another thread reads: by then the shipped_shard may have been another node's, and be this one's again.
TEST(Shipping, DoesNotSendWhatWasReadUnderAnOlderEpoch) {
  Shipping shipping;
  shipping.begin(shipped_shard, Epoch{1}, {2}, ShardOffset{5});
  EXPECT_TRUE(shipping.followed(2, at(1), true));
  const auto wanted = shipping.wanted().front();
  shipping.end(shipped_shard);
  shipping.begin(shipped_shard, Epoch{3}, {2}, ShardOffset{5});
  EXPECT_TRUE(shipping.followed(2, at(1, 3), true));

  EXPECT_FALSE(shipping.read(wanted, rows(1, 5)));
  EXPECT_TRUE(shipping.read(shipping.wanted().front(), rows(1, 5)));
}

TEST(Shipping, SendsAgainWhatDoesNotCome) {
  Shipping shipping;
  shipping.begin(shipped_shard, Epoch{1}, {2}, ShardOffset{5});
  EXPECT_TRUE(shipping.followed(2, at(5), true));
  EXPECT_EQ(shipping.made(one(rows(5, 6))).size(), 1u);
  shipping.durable(shipped_shard, ShardOffset{6});

  for (int words = 0; words != 3; ++words) {
    EXPECT_TRUE(shipping.wanted().empty());
    EXPECT_TRUE(shipping.followed(2, at(5), false));
  }

  ASSERT_EQ(shipping.wanted().size(), 1u);
  EXPECT_EQ(shipping.wanted().front().from, ShardOffset{5});
}

TEST(Shipping, WaitsForTheNextWordOfWhoseSessionEnded) {
  Shipping shipping;
  shipping.begin(shipped_shard, Epoch{1}, {2}, ShardOffset{5});
  EXPECT_TRUE(shipping.followed(2, at(3), true));

  shipping.lost(2);
  EXPECT_TRUE(shipping.wanted().empty());

  EXPECT_TRUE(shipping.followed(2, at(3), false));
  EXPECT_EQ(shipping.wanted().size(), 1u);
}

}  // namespace
}  // namespace evershard::cluster
