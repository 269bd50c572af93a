// Sets that change: who counts for a shard, and from when on. docs/internals/replication.md, rules 27 to 29.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/cluster/order/coordinator.hpp"
#include "evershard/sharding/memory_cut_log.hpp"
#include "tests/cluster/order/order_words.hpp"

namespace evershard::cluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint16_t shards = 3;
constexpr std::uint32_t newcomer = 4;

/// Three nodes keep each of three shards, with one event on each. A fourth one is here, and is to keep its share.
class CoordinatorSets : public testing::Test {
 protected:
  void SetUp() override {
    options_.nodes_expected = 3;
    options_.replicas = 3;
    coordinator_ = std::make_unique<Coordinator>(*log_.lead(), options_);
    for (std::uint32_t node = 1; node <= 3; ++node) settle(coordinator().hello(hello_of(process(node))));
    settle(coordinator().nodes_had_time());
    for (std::uint16_t s = 0; s != shards; ++s)
      settle(coordinator().report(process(log_.state().shards[s].node), report_of(s, 1, 1, 1)));
    settle(coordinator().hello(hello_of(process(newcomer))));
    auto added = coordinator().assign(ShardAssignment{.node = newcomer, .sets = ShardAssignment::Sets::add});
    ASSERT_TRUE(added) << added.error().what;
    settle(std::move(added->actions));
    learns_ = learned_by_newcomer();
    ASSERT_THAT(learns_, SizeIs(testing::Ge(1u)));
    ASSERT_FALSE(counts(learns_.front()));
  }
  Coordinator& coordinator() { return *coordinator_; }
  CoordinatorActions settle(CoordinatorActions actions) {
    while (actions.put) {
      auto next = coordinator().put_returned(log_.put(*std::exchange(actions.put, std::nullopt)));
      std::ranges::move(next.send, std::back_inserter(actions.send));
      actions.put = next.put;
    }
    return actions;
  }
  [[nodiscard]] std::vector<ShardId> learned_by_newcomer() const {
    std::vector<ShardId> learned;
    for (std::uint16_t s = 0; s != shards; ++s)
      if (log_.state().shards[s].replicas.had_to_learn(newcomer)) learned.emplace_back(s);
    return learned;
  }
  [[nodiscard]] bool counts(ShardId shard) const { return log_.state().shards[shard.value].replicas.has(newcomer); }
  /// The newcomer's, at the last cut: how far its disk is in each shard that it learns.
  [[nodiscard]] Hello hello_with(std::uint64_t incarnation, bool damaged) const {
    auto hello = hello_of(process(newcomer, incarnation), log_.state().last_cut.value);
    for (const ShardId shard : learns_) {
      hello.shards.push_back(told(shard.value, 1, 2, 2));
      hello.shards.back().damaged = damaged;
    }
    return hello;
  }
  [[nodiscard]] ClusterStatus::Node newcomers_status() const {
    const auto status = coordinator_->status();
    return *std::ranges::find(status.nodes, newcomer, [](const auto& node) { return node.is.node; });
  }
  void learned() {
    settle(coordinator().lost(process(newcomer)));
    settle(coordinator().hello(hello_with(2, false)));
    settle(coordinator().tend_sets());
    ASSERT_TRUE(counts(learns_.front()));
  }

  CoordinatorOptions options_;
  sharding::MemoryCutLog log_{shards};
  std::unique_ptr<Coordinator> coordinator_;
  std::vector<ShardId> learns_;
};

TEST_F(CoordinatorSets, WhoLearnsCountsOnceItHasSaidThatItHasAll) {
  settle(coordinator().hello(hello_of(process(newcomer), log_.state().last_cut.value)));
  settle(coordinator().tend_sets());
  EXPECT_FALSE(counts(learns_.front())) << "it tells of nothing";
  EXPECT_EQ(newcomers_status().learns, learns_.size());
  learned();
  EXPECT_EQ(newcomers_status().learns, 0u);
}

// It kept the shard before, was told to keep it no longer, and is killed while it learns it anew: its disk still has
// what it kept, and says so before it knows what it is to keep.
TEST_F(CoordinatorSets, WhatADiskHasFromBeforeItWasToldToKeepItNoLongerDoesNotCount) {
  settle(coordinator().lost(process(newcomer)));
  settle(coordinator().hello(hello_with(2, true)));
  settle(coordinator().tend_sets());
  EXPECT_FALSE(counts(learns_.front()));
  EXPECT_EQ(newcomers_status().learns, learns_.size());
}

// The set stays as it is: its quorum may need what the others have of each other.
TEST_F(CoordinatorSets, WhoLosesItsDiskLearnsAgainAndNobodyIsLetGoMeanwhile) {
  learned();
  settle(coordinator().lost(process(newcomer, 2)));
  settle(coordinator().hello(hello_of(process(newcomer, 3), log_.state().last_cut.value)));
  for (int times = 0; times != 3; ++times) {
    const auto tended = settle(coordinator().tend_sets());
    EXPECT_THAT(sent<Narrow>(tended), testing::Each(testing::Field(&Narrow::without, 0u)));
  }
  EXPECT_TRUE(counts(learns_.front()));
  EXPECT_EQ(log_.state().shards[learns_.front().value].replicas.nodes, (std::vector<std::uint32_t>{1, 2, 3, newcomer}));
  EXPECT_EQ(newcomers_status().learns, learns_.size());
  EXPECT_EQ(newcomers_status().replicas, 0u);
  const auto status = coordinator().status();
  EXPECT_THAT(status.shards[learns_.front().value].replicas, ElementsAre(1u, 2u, 3u));
  EXPECT_THAT(status.shards[learns_.front().value].learners, ElementsAre(newcomer));
  EXPECT_TRUE(status.shards[learns_.front().value].trouble.empty());

  for (const std::uint32_t node : {2u, 3u}) settle(coordinator().lost(process(node)));
  EXPECT_THAT(
      coordinator().status().shards[learns_.front().value].trouble,
      HasSubstr("1 of its 4 replicas are up, appends need 2: start node 2, or node 3, or wait for node 4, which "
                "learns it again"));

  settle(coordinator().lost(process(newcomer, 3)));
  settle(coordinator().hello(hello_with(4, false)));
  EXPECT_EQ(newcomers_status().learns, 0u);
  EXPECT_THAT(coordinator().status().shards[learns_.front().value].learners, IsEmpty());
}

// Whoever is told that nothing is left may switch the node off.
TEST_F(CoordinatorSets, NothingIsLeftOnceThatIsStored) {
  const ShardAssignment wanted{.node = newcomer, .sets = ShardAssignment::Sets::remove};
  auto removed = coordinator().assign(wanted);
  ASSERT_TRUE(removed) << removed.error().what;
  EXPECT_EQ(removed->answer.left, 0u);
  EXPECT_EQ(removed->stands_with.value, log_.state().last_cut.value + 1);
  ASSERT_TRUE(removed->actions.put);
  settle(std::move(removed->actions));
  EXPECT_THAT(learned_by_newcomer(), IsEmpty());
  removed = coordinator().assign(wanted);
  ASSERT_TRUE(removed) << removed.error().what;
  EXPECT_EQ(removed->answer.left, 0u);
  EXPECT_EQ(removed->stands_with.value, 0u);
}

}  // namespace
}  // namespace evershard::cluster
