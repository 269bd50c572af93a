// Shards that change their writer while it is well: docs/internals/replication.md, rule 25.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/cluster/order/coordinator.hpp"
#include "evershard/sharding/memory_cut_log.hpp"
#include "tests/cluster/order/order_words.hpp"

namespace evershard::cluster {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr ShardId handed{0};

/// Three nodes keep each of six shards; each writes two, with one event on each.
class CoordinatorHandsOver : public testing::Test {
 protected:
  void SetUp() override {
    options_.nodes_expected = 3;
    options_.replicas = 3;
    coordinator_ = std::make_unique<Coordinator>(*log_.lead(), options_);
    for (std::uint32_t node = 1; node <= 3; ++node) settle(coordinator().hello(hello_of(process(node))));
    settle(coordinator().nodes_had_time());
    for (std::uint16_t s = 0; s != shards; ++s) settle(coordinator().report(process(writer(s)), report_of(s, 1, 1, 1)));
    ASSERT_EQ(writers(), (std::vector<std::uint32_t>{1, 2, 3, 1, 2, 3}));
  }
  Coordinator& coordinator() { return *coordinator_; }
  CoordinatorActions settle(CoordinatorActions actions) {
    while (actions.put) {
      auto next = coordinator().put_returned(log_.put(*std::exchange(actions.put, std::nullopt)));
      std::ranges::move(next.send, std::back_inserter(actions.send));
      std::ranges::move(next.warnings, std::back_inserter(actions.warnings));
      actions.put = next.put;
    }
    return actions;
  }
  [[nodiscard]] std::uint32_t writer(std::uint16_t shard) const { return log_.state().shards[shard].node; }
  [[nodiscard]] std::vector<std::uint32_t> writers() const {
    std::vector<std::uint32_t> all;
    for (std::uint16_t s = 0; s != shards; ++s) all.push_back(writer(s));
    return all;
  }
  /// As one that keeps all shards up to there.
  [[nodiscard]] Hello hello_with(std::uint32_t node, std::uint64_t tail, std::uint64_t incarnation = 1) const {
    auto hello = hello_of(process(node, incarnation), log_.state().last_cut.value);
    for (std::uint16_t s = 0; s != shards; ++s) {
      const bool own = incarnation == 1 && writer(s) == node;
      auto at = told(s, log_.state().shards[s].epoch.value, std::min<std::uint64_t>(tail, 2), tail);
      at.taken = own;
      hello.shards.push_back(at);
    }
    return hello;
  }

  static constexpr std::uint16_t shards = 6;
  CoordinatorOptions options_;
  sharding::MemoryCutLog log_{shards};
  std::unique_ptr<Coordinator> coordinator_;
};

TEST_F(CoordinatorHandsOver, OnceTheReplicaHasSaidThatItHasAllThatCutsCover) {
  const auto begun = coordinator().hand_over(handed, 2);
  ASSERT_TRUE(begun);
  EXPECT_FALSE(begun->put);
  EXPECT_THAT(sent<TellAgain>(*begun), SizeIs(1));
  ASSERT_TRUE(coordinator().hands_over());

  const auto dropped = settle(coordinator().report(process(1), report_of(0, 1, 2, 1)));
  EXPECT_EQ(log_.state().shards[0].next, ShardOffset{2}) << "what the writer reports meanwhile is not ordered";
  EXPECT_THAT(dropped.send, IsEmpty());

  const auto done = settle(coordinator().hello(hello_with(2, 3)));
  EXPECT_EQ(writer(0), 2u);
  EXPECT_FALSE(coordinator().hands_over());
  ASSERT_THAT(sent<Opens>(done), SizeIs(1));
  EXPECT_EQ(sent<Opens>(done)[0].shard, handed);
  ASSERT_THAT(done.moved, SizeIs(1));
  EXPECT_TRUE(done.moved[0].handed_over);
  EXPECT_EQ(done.moved[0].from, 1u);
  EXPECT_EQ(done.moved[0].to, 2u);
  settle(coordinator().report(process(2), report_of(0, 2, 2, 1)));
  EXPECT_EQ(log_.state().shards[0].next, ShardOffset{3}) << "what it has behind the cuts it reports itself";
}

TEST_F(CoordinatorHandsOver, NothingToAReplicaThatLagsAndTheWriterGoesOn) {
  ASSERT_TRUE(coordinator().hand_over(handed, 2));
  const auto given_up = settle(coordinator().hello(hello_with(2, 1)));
  EXPECT_EQ(writer(0), 1u);
  EXPECT_FALSE(coordinator().hands_over());
  ASSERT_THAT(sent<ReportFrom>(given_up), SizeIs(1));
  EXPECT_EQ(sent<ReportFrom>(given_up)[0].first, ShardOffset{2});
  settle(coordinator().report(process(1), report_of(0, 1, 2, 1)));
  EXPECT_EQ(log_.state().shards[0].next, ShardOffset{3});
}

TEST_F(CoordinatorHandsOver, NothingToAReplicaThatDoesNotAnswerOrGoes) {
  ASSERT_TRUE(coordinator().hand_over(handed, 2));
  EXPECT_THAT(sent<ReportFrom>(coordinator().hand_overs_took_too_long()), SizeIs(1));
  EXPECT_FALSE(coordinator().hands_over());

  ASSERT_TRUE(coordinator().hand_over(handed, 2));
  const auto gone = settle(coordinator().lost(process(2)));
  EXPECT_THAT(sent<ReportFrom>(gone), SizeIs(1));
  EXPECT_EQ(writer(0), 1u);
}

TEST_F(CoordinatorHandsOver, AWriterThatGoesMeanwhileIsReplacedAsAnyOther) {
  ASSERT_TRUE(coordinator().hand_over(handed, 2));
  settle(coordinator().lost(process(1)));
  EXPECT_FALSE(coordinator().hands_over());
  settle(coordinator().hello(hello_with(3, 2)));
  settle(coordinator().hello(hello_with(2, 2)));
  EXPECT_NE(writer(0), 1u);
}

TEST_F(CoordinatorHandsOver, RefusesWhatMakesNoSense) {
  EXPECT_EQ(coordinator().hand_over(ShardId{6}, 2).error().code, ErrorCode::not_found);
  EXPECT_EQ(coordinator().hand_over(handed, 1).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(coordinator().hand_over(handed, 4).error().code, ErrorCode::invalid_argument);
  settle(coordinator().lost(process(2)));
  EXPECT_EQ(coordinator().hand_over(handed, 2).error().code, ErrorCode::not_found);
  ShardAssignment both{.node = 1, .drain = true, .balance = true};
  EXPECT_EQ(coordinator().assign(both).error().code, ErrorCode::invalid_argument);
  ShardAssignment away{.node = 2, .drain = true};
  EXPECT_EQ(coordinator().assign(away).error().code, ErrorCode::not_found);
}

TEST_F(CoordinatorHandsOver, AnOperatorGivesAShardToAnotherReplicaAndNothingIsLost) {
  const auto begun = coordinator().assign(ShardAssignment{.node = 3, .shards = {handed}});
  ASSERT_TRUE(begun) << begun.error().what;
  EXPECT_TRUE(begun->answer.done);
  EXPECT_THAT(begun->answer.losses, IsEmpty());
  settle(coordinator().hello(hello_with(3, 2)));
  EXPECT_EQ(writer(0), 3u);
}

TEST_F(CoordinatorHandsOver, WhatNodesWriteThatStandStill) {
  for (const auto node : {1u, 2u}) coordinator().stands_still(node, true);
  for (int i = 0; i != 2; ++i) {  // so many at a time
    settle(coordinator().balance());
    settle(coordinator().hello(hello_with(3, 2)));
  }
  EXPECT_THAT(writers(), Each(3u));
  // One that is given the shards of a third does not get them back meanwhile.
  settle(coordinator().balance());
  EXPECT_FALSE(coordinator().hands_over());
  coordinator().stands_still(1, false);
  const auto balanced = coordinator().assign(ShardAssignment{.balance = true});  // of node 2 an operator knows better
  ASSERT_TRUE(balanced);
  EXPECT_THAT(sent<TellAgain>(balanced->actions), SizeIs(2));
  EXPECT_TRUE(coordinator().hands_over());
}

TEST_F(CoordinatorHandsOver, WhetherThereAreQuorumsIsKnown) {
  EXPECT_TRUE(coordinator().has_quorums());
  settle(coordinator().lost(process(2)));
  EXPECT_TRUE(coordinator().has_quorums());
  settle(coordinator().lost(process(3)));
  EXPECT_FALSE(coordinator().has_quorums());
  settle(coordinator().hello(hello_with(3, 2, 2)));
  EXPECT_TRUE(coordinator().has_quorums());
  EXPECT_TRUE(Coordinator(sharding::CutLogState(4), {}).has_quorums()) << "nothing has replicas";
}

TEST_F(CoordinatorHandsOver, WhoIsMissingWhereThereIsNoQuorumIsSaid) {
  EXPECT_EQ(coordinator().status().shards[0].trouble, "");
  settle(coordinator().lost(process(2)));
  EXPECT_EQ(coordinator().status().shards[0].trouble, "") << "two of three are enough";
  settle(coordinator().lost(process(3)));
  EXPECT_EQ(coordinator().status().shards[0].trouble,
            "1 of its 3 replicas are up, appends need 2: start node 2, or node 3");
}

TEST_F(CoordinatorHandsOver, NothingWhereALossIsAcceptedThatThereIsNot) {
  const auto refused = coordinator().assign(
      ShardAssignment{.node = 2, .shards = {handed}, .accepted = {{handed, ShardOffset{1}, ShardOffset{2}, 0}}});
  ASSERT_TRUE(refused) << refused.error().what;
  EXPECT_FALSE(refused->answer.done);
  EXPECT_THAT(refused->actions.send, IsEmpty());
  EXPECT_FALSE(coordinator().hands_over());
}

// Of a shard with replicas: whoever is to be one would wait for ever for what was given up.
TEST_F(CoordinatorHandsOver, NothingThatReplicasWouldLose) {
  settle(coordinator().lost(process(1)));
  settle(coordinator().lost(process(2)));
  settle(coordinator().lost(process(3)));
  settle(coordinator().hello(hello_with(2, 1, 2)));
  const auto refused = coordinator().assign(ShardAssignment{.node = 2, .shards = {handed}});
  ASSERT_FALSE(refused) << refused->answer.losses.size();
  EXPECT_EQ(refused.error().code, ErrorCode::corruption);
  EXPECT_THAT(refused.error().what, HasSubstr("Start node 1 or node 3 on the disk that it had"));
}

TEST_F(CoordinatorHandsOver, ANodeThatIsBackIsGivenItsShareAndADrainedOneNothing) {
  settle(coordinator().lost(process(1)));
  settle(coordinator().hello(hello_with(2, 2)));
  settle(coordinator().hello(hello_with(3, 2)));
  EXPECT_EQ(std::ranges::count(writers(), 1u), 0);
  settle(coordinator().hello(hello_with(1, 2, 2)));
  EXPECT_THAT(coordinator().balance().send, SizeIs(1)) << "node 1 is asked once";
  settle(coordinator().hello(hello_with(1, 2, 2)));
  EXPECT_EQ(std::ranges::count(writers(), 1u), 2);
  EXPECT_THAT(coordinator().balance().send, IsEmpty()) << "it is even";

  const auto drained = coordinator().assign(ShardAssignment{.node = 1, .drain = true});
  ASSERT_TRUE(drained) << drained.error().what;
  for (std::uint32_t node = 2; node <= 3; ++node) settle(coordinator().hello(hello_with(node, 2)));
  EXPECT_EQ(std::ranges::count(writers(), 1u), 0);
  EXPECT_THAT(coordinator().balance().send, IsEmpty());
  const auto again = coordinator().assign(ShardAssignment{.balance = true});
  ASSERT_TRUE(again);
  settle(coordinator().hello(hello_with(1, 2, 2)));
  EXPECT_EQ(std::ranges::count(writers(), 1u), 2) << "all take part again";
}

// For its log: docs/cluster.md, "What happened".
TEST_F(CoordinatorHandsOver, SaysWhyShardsStopAndWhichGoOn) {
  using Cause = ClusterChange::Cause;
  const auto causes = [](const CoordinatorActions& actions) {
    std::vector<std::pair<std::uint16_t, Cause>> found;
    for (const auto& stops : actions.stops) found.emplace_back(stops.shard.value, stops.cause);
    return found;
  };
  using Stops = std::vector<std::pair<std::uint16_t, Cause>>;

  const auto by_operator = coordinator().hand_over(handed, 2);
  ASSERT_TRUE(by_operator);
  EXPECT_EQ(causes(*by_operator), (Stops{{0, Cause::assigned}}));
  EXPECT_THAT(coordinator().hand_overs_took_too_long().goes_on, ElementsAre(handed));

  // Asked what it has, because another shard is to come to it, the writer tells of this one too.
  ASSERT_TRUE(coordinator().hand_over(handed, 2));
  EXPECT_THAT(settle(coordinator().hello(hello_with(1, 2))).goes_on, ElementsAre(ShardId{3}))
      << "that one stops until it is handed over, or is not";
  EXPECT_THAT(coordinator().hand_overs_took_too_long().goes_on, ElementsAre(handed));

  ShardAssignment drain;
  drain.node = 1;
  drain.drain = true;
  const auto drained = coordinator().assign(drain);
  ASSERT_TRUE(drained);
  EXPECT_EQ(causes(drained->actions), (Stops{{0, Cause::drained}, {3, Cause::drained}}));

  EXPECT_EQ(causes(settle(coordinator().lost(process(1), Cause::node_silent))),
            (Stops{{0, Cause::node_silent}, {3, Cause::node_silent}}));
}

// Rule 31. The writer counted a process of node 2 that another one has replaced: with another disk, perhaps.
TEST_F(CoordinatorHandsOver, TakesNoReportThatCountedAProcessThatWasReplacedSince) {
  const auto before = coordinator().membership().naming;
  settle(coordinator().lost(process(2)));
  settle(coordinator().hello(hello_of(process(2, 9), 0)));
  const auto now = coordinator().membership();
  EXPECT_GT(now.naming, before);
  EXPECT_THAT(now.processes, ElementsAre(process(1), process(2, 9), process(3)));

  const auto refused = settle(coordinator().report(process(1), report_of(0, 1, 2, 1), before));
  EXPECT_EQ(log_.state().shards[0].next, ShardOffset{2});
  ASSERT_THAT(sent<ReportFrom>(refused), SizeIs(1)) << "it is to count again";
  EXPECT_EQ(sent<ReportFrom>(refused)[0].first, ShardOffset{2});

  settle(coordinator().report(process(1), report_of(0, 1, 2, 1), now.naming));
  EXPECT_EQ(log_.state().shards[0].next, ShardOffset{3});
}

// It counted processes that an earlier coordinator had named, and that one had named more of them than this one.
TEST_F(CoordinatorHandsOver, TakesNoReportThatCountedWhomAnEarlierCoordinatorNamed) {
  for (std::uint64_t process_of = 11; process_of != 20; ++process_of) {
    settle(coordinator().lost(process(2, process_of - 1)));
    settle(coordinator().hello(hello_of(process(2, process_of), 0)));
  }
  const auto earlier = coordinator().membership().naming;
  coordinator_ = std::make_unique<Coordinator>(*log_.lead(), options_);
  settle(coordinator().hello(hello_with(1, 3)));
  settle(coordinator().hello(hello_with(2, 2, 30)));
  settle(coordinator().hello(hello_with(3, 3)));
  settle(coordinator().nodes_had_time());
  ASSERT_EQ(writer(0), 1u);

  const auto refused = settle(coordinator().report(process(1), report_of(0, 1, 2, 1), earlier));
  EXPECT_EQ(log_.state().shards[0].next, ShardOffset{2});
  EXPECT_THAT(sent<ReportFrom>(refused), SizeIs(1)) << "it is to count again";

  settle(coordinator().report(process(1), report_of(0, 1, 2, 1), coordinator().membership().naming));
  EXPECT_EQ(log_.state().shards[0].next, ShardOffset{3});
}

TEST_F(CoordinatorHandsOver, TakesReportsOfWritersOfAnEarlierReleaseAsTheyCame) {
  settle(coordinator().lost(process(2)));
  settle(coordinator().hello(hello_of(process(2, 9), 0)));
  settle(coordinator().report(process(1), report_of(0, 1, 2, 1)));
  EXPECT_EQ(log_.state().shards[0].next, ShardOffset{3});
}

}  // namespace
}  // namespace evershard::cluster
