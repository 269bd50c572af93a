// Whom a node asks for what it was away for: docs/internals/replication.md, rule 24.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/cluster/order/history_sources.hpp"

namespace evershard::cluster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint32_t self = 2;
constexpr GlobalPosition after{10};

class HistoryOfReplicas : public testing::Test {
 protected:
  HistorySources::Choice choose() {
    std::vector<ShardId> shards;
    for (std::uint16_t s = 0; s != sets_.size(); ++s) shards.emplace_back(s);
    return sources_.choose(
        shards, self, [this](ShardId shard) -> const auto& { return sets_[shard.value]; });
  }
  static NodeHistory history(std::vector<ShardId> shards, GlobalPosition watermark = GlobalPosition{20}) {
    NodeHistory history;
    history.shards = std::move(shards);
    history.watermark = watermark;
    return history;
  }

  HistorySources sources_;
  std::vector<sharding::ReplicaSet> sets_{{2, {1, 2, 3}}, {2, {1, 2, 3}}, {2, {2, 3, 4}}};
};

TEST_F(HistoryOfReplicas, IsAskedOfAsFewAsKeepAll) {
  const auto choice = choose();
  EXPECT_FALSE(choice.nobody);
  ASSERT_THAT(choice.asks, SizeIs(1));
  EXPECT_EQ(choice.asks[0].node, 3u);
  EXPECT_THAT(choice.asks[0].shards, ElementsAre(ShardId{0}, ShardId{1}, ShardId{2}));
}

TEST_F(HistoryOfReplicas, IsAskedOfAnotherNextWhereOneGivesNothing) {
  const auto first = choose();
  EXPECT_FALSE(sources_.answered(first.asks[0], after, std::nullopt));
  const auto next = choose();
  for (const auto& ask : next.asks) EXPECT_NE(ask.node, 3u);
  EXPECT_THAT(next.asks, SizeIs(2));
}

TEST_F(HistoryOfReplicas, IsAskedOfAnotherNextWhereOneIsNoFurther) {
  const auto first = choose();
  EXPECT_TRUE(sources_.answered(first.asks[0], after, history(first.asks[0].shards, after)));
  for (const auto& ask : choose().asks) EXPECT_NE(ask.node, 3u);
}

// As this node knows the sets, each of the others keeps all. By now none does.
TEST_F(HistoryOfReplicas, ComesFromSeveralWhereNobodyHasAllThatSetsSay) {
  sets_.assign(4, {2, {1, 2, 3, 4}});
  const std::map<std::uint32_t, std::vector<ShardId>> whole{{1, {ShardId{1}, ShardId{2}, ShardId{3}}},
                                                            {3, {ShardId{0}, ShardId{1}, ShardId{3}}},
                                                            {4, {ShardId{0}, ShardId{1}, ShardId{2}}}};
  for (int times = 0; times != 4; ++times) {
    bool all = true;
    for (const auto& ask : choose().asks) all &= sources_.answered(ask, after, history(whole.at(ask.node)));
    if (all) return;
  }
  FAIL() << "no choice brought all";
}

// The only one that had it is gone, and one that lacked it has learned it since.
TEST_F(HistoryOfReplicas, IsAskedAgainOfWhoLackedIt) {
  sets_.assign(1, {2, {1, 2, 3}});
  const auto first = choose();
  ASSERT_THAT(first.asks, SizeIs(1));
  EXPECT_FALSE(sources_.answered(first.asks[0], after, history({})));
  const auto second = choose();
  ASSERT_THAT(second.asks, SizeIs(1));
  EXPECT_NE(second.asks[0].node, first.asks[0].node);
  EXPECT_FALSE(sources_.answered(second.asks[0], after, std::nullopt));
  ASSERT_THAT(choose().asks, SizeIs(1));
  EXPECT_EQ(choose().asks[0].node, first.asks[0].node);
}

TEST_F(HistoryOfReplicas, IsOfNobodyWhereNobodyElseKeepsAShard) {
  sets_.push_back({1, {self}});
  const auto choice = choose();
  EXPECT_EQ(choice.nobody, ShardId{3});
  EXPECT_THAT(choice.asks, IsEmpty());
}

}  // namespace
}  // namespace evershard::cluster
