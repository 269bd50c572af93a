// The coordinator, rule by rule, by hand.

#include "evershard/cluster/order/coordinator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/cluster/order/cut_rate.hpp"
#include "evershard/cluster/order/cut_times.hpp"
#include "evershard/sharding/memory_cut_log.hpp"
#include "tests/cluster/order/order_words.hpp"

namespace evershard::cluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// A coordinator and its log; puts are done at once, unless a test holds them.
class CoordinatorByHand : public testing::Test {
 protected:
  explicit CoordinatorByHand(std::uint32_t shards = 2) : log_(shards) { lead(); }
  void lead() { coordinator_ = std::make_unique<Coordinator>(*log_.lead(), options_); }
  Coordinator& coordinator() { return *coordinator_; }
  /// What it wants put is put, until it wants nothing more. Returns: all that was sent and said, from the beginning.
  CoordinatorActions settle(CoordinatorActions actions) {
    while (actions.put) {
      const auto stored = log_.put(*std::exchange(actions.put, std::nullopt));
      auto next = coordinator().put_returned(stored);
      if (next.fold && log_.fold(coordinator().stored().epoch, *next.fold)) coordinator().folded(log_.state());
      std::ranges::move(next.send, std::back_inserter(actions.send));
      std::ranges::move(next.warnings, std::back_inserter(actions.warnings));
      actions.put = next.put;
      actions.ended = next.ended;
    }
    return actions;
  }
  /// Node 1 owns both shards and has `events` ordered on each: cuts 1 and up.
  void join_with(std::size_t events) {
    settle(coordinator().hello(hello_of(process(1))));
    if (events == 0) return;
    settle(coordinator().report(process(1), report_of(0, 1, 1, events)));
    settle(coordinator().report(process(1), report_of(1, 1, 1, events)));
  }

  CoordinatorOptions options_;
  sharding::MemoryCutLog log_;
  std::unique_ptr<Coordinator> coordinator_;
};

TEST_F(CoordinatorByHand, NamesTheNodesThatSaidHelloOrOwnAShard) {
  auto hello = hello_of(process(1));
  hello.door = "door-1";
  hello.version = "1.2.3";
  settle(coordinator().hello(hello));
  const auto here = coordinator().membership();
  ASSERT_THAT(here.nodes, SizeIs(1));
  EXPECT_EQ(here.nodes.front(), (ClusterView::Node{1, "host-1", "door-1", true, {}, "1.2.3"}));
  EXPECT_EQ(here.coordinator, coordinator().stored().epoch);

  (void)coordinator().lost(process(1));
  EXPECT_FALSE(coordinator().membership().nodes.front().up);

  lead();  // who leads next has only the log
  EXPECT_THAT(coordinator().membership().nodes, ElementsAre(ClusterView::Node{1, "", "", false, {}, ""}));
}

// Two coordinators on copies of one log reach the same epoch, and the same cuts' numbers.
TEST_F(CoordinatorByHand, RefusesANodeThatAppliedCutsOfAnotherUnderOneEpoch) {
  join_with(1);
  auto copy = log_.disk();
  lead();
  const auto mine = coordinator().identity();
  sharding::MemoryCutLog other(std::move(copy));
  const auto theirs = other.lead()->leaderships.back();
  ASSERT_EQ(theirs.epoch, coordinator().stored().epoch);
  auto hello = hello_of(process(1, 2), coordinator().stored().last_cut.value, {told(0, 1, 2, 2), told(1, 1, 2, 2)});
  hello.led = theirs;

  const auto refused = sent<HelloRefused>(coordinator().hello(hello));

  ASSERT_THAT(refused, SizeIs(1));
  EXPECT_EQ(refused.front().error.code, ErrorCode::corruption);
  EXPECT_THAT(refused.front().error.what, HasSubstr("a copy that went on by itself"));
  hello.led = {theirs.epoch + 1, theirs.identity};
  EXPECT_EQ(sent<HelloRefused>(coordinator().hello(hello)).front().error.code, ErrorCode::fenced);
  hello.led = {theirs.epoch, mine};
  const auto actions = settle(coordinator().hello(hello));
  ASSERT_THAT(sent<Welcome>(actions), SizeIs(1)) << "its own";
  EXPECT_EQ(sent<Welcome>(actions).front().leaderships.back(), (sharding::Leadership{theirs.epoch, mine}));
  for (const auto& opens : sent<Opens>(actions)) EXPECT_EQ(opens.leader, mine);
  for (const auto& announce : sent<Announce>(actions)) EXPECT_EQ(announce.leader, mine);
}

TEST_F(CoordinatorByHand, GivesShardsOutOnceAllNodesAreThere) {
  options_.nodes_expected = 2;
  lead();

  const auto first = settle(coordinator().hello(hello_of(process(1))));
  EXPECT_EQ(log_.state().last_cut, CutNumber{0});
  EXPECT_THAT(sent<Welcome>(first), SizeIs(1));
  const auto second = settle(coordinator().hello(hello_of(process(2))));

  EXPECT_EQ(log_.state().shards[0].node, 1u);
  EXPECT_EQ(log_.state().shards[1].node, 2u);
  ASSERT_THAT(sent<Opens>(second), SizeIs(2)) << "each is told which opening is its own";
  EXPECT_EQ(sent<Opens>(second)[0].to, process(1));
  ASSERT_THAT(sent<Announce>(second), SizeIs(1)) << "both in one cut";
  EXPECT_THAT(sent<Announce>(second)[0].cut.openings, SizeIs(2));
  EXPECT_EQ(coordinator().map().owner(ShardId{1}), (sharding::ShardOwner{2, "host-2", Epoch{1}}));
}

TEST_F(CoordinatorByHand, AGatewayIsNoneOfTheNodesThatShardsAreGivenTo) {
  options_.nodes_expected = 2;
  lead();
  auto gateway = hello_of(process(3));
  gateway.gateway = true;

  settle(coordinator().hello(hello_of(process(1))));
  settle(coordinator().hello(gateway));
  EXPECT_EQ(log_.state().last_cut, CutNumber{0}) << "one node and a gateway are not two nodes";
  settle(coordinator().hello(hello_of(process(2))));

  EXPECT_EQ(log_.state().shards[0].node, 1u);
  EXPECT_EQ(log_.state().shards[1].node, 2u);
  EXPECT_TRUE(coordinator().membership().nodes.back().gateway);
}

TEST_F(CoordinatorByHand, AnnouncesACutOnlyAfterItsPutAndMakesTheNextOfAllThatCameMeanwhile) {
  join_with(0);

  auto first = coordinator().report(process(1), report_of(0, 1, 1, 1));
  const auto meanwhile = coordinator().report(process(1), report_of(0, 1, 2, 2));
  const auto more = coordinator().report(process(1), report_of(1, 1, 1, 1));
  ASSERT_TRUE(first.put);
  EXPECT_FALSE(meanwhile.put || more.put) << "one put at a time";
  EXPECT_THAT(sent<Announce>(first), IsEmpty());
  const auto returned = coordinator().put_returned(log_.put(*first.put));

  ASSERT_THAT(sent<Announce>(returned), SizeIs(1));
  EXPECT_EQ(sent<Announce>(returned)[0].cut, *first.put);
  ASSERT_TRUE(returned.put);
  EXPECT_EQ(returned.put->events(), 3u);
}

TEST_F(CoordinatorByHand, StepsDownWhenItsPutIsRefused) {
  join_with(1);
  const auto made = coordinator().report(process(1), report_of(0, 1, 2, 1));
  ASSERT_TRUE(log_.lead()) << "somebody else leads";

  const auto ended = coordinator().put_returned(log_.put(*made.put));

  ASSERT_TRUE(ended.ended);
  EXPECT_EQ(ended.ended->code, ErrorCode::fenced);
  EXPECT_THAT(ended.send, IsEmpty());
  EXPECT_THAT(coordinator().hello(hello_of(process(2))).send, IsEmpty()) << "it does nothing any more";
  EXPECT_FALSE(coordinator().report(process(1), report_of(0, 1, 3, 1)).put);
  EXPECT_EQ(coordinator().reported_until(ShardId{0}), ShardOffset{3});
  EXPECT_THAT(coordinator().cuts_after({process(1), CutNumber{1}}).read, IsEmpty());
  EXPECT_THAT(coordinator().held({process(1), CutNumber{99}}).warnings, IsEmpty());
  EXPECT_EQ(coordinator().assign(ShardId{0}, 1, {}).error().code, ErrorCode::unavailable);
}

TEST_F(CoordinatorByHand, StepsDownWhenTheLogFails) {
  join_with(1);
  const auto made = coordinator().report(process(1), report_of(0, 1, 2, 1));
  log_.fail();

  EXPECT_EQ(coordinator().put_returned(log_.put(*made.put)).ended->code, ErrorCode::io);
}

TEST_F(CoordinatorByHand, StepsDownBeforeANodeThatKnowsMore) {
  join_with(1);

  const auto actions = coordinator().hello(hello_of(process(2), 9));

  ASSERT_TRUE(actions.ended);
  EXPECT_EQ(actions.ended->code, ErrorCode::corruption);
  EXPECT_EQ(
      actions.ended->what,
      "node 2 holds cut 9, this coordinator's log ends with cut 3: another one leads, or the log has lost its end");
  EXPECT_THAT(actions.send, IsEmpty());
  EXPECT_FALSE(coordinator().report(process(1), report_of(0, 1, 2, 1)).put) << "it makes no cut any more";
}

// What it holds covers more than this log knows, for the same reason: it is this coordinator that is behind, not the
// disk that is another history's.
TEST_F(CoordinatorByHand, StepsDownBeforeADiskThatIsAheadOfIt) {
  join_with(1);
  coordinator().lost(process(1));

  const auto actions = coordinator().hello(hello_of(process(1, 2), 9, {told(0, 1, 8, 8)}));

  EXPECT_TRUE(actions.ended);
  EXPECT_THAT(sent<HelloRefused>(actions), IsEmpty());
}

TEST_F(CoordinatorByHand, StepsDownWhenAReportSpeaksOfANewerOpening) {
  join_with(1);

  const auto actions = coordinator().report(process(1), report_of(0, 2, 2, 1));

  ASSERT_TRUE(actions.ended);
  EXPECT_EQ(actions.ended->code, ErrorCode::fenced);
}

TEST_F(CoordinatorByHand, DropsWhatIsNoReportOfItsNodes) {
  join_with(1);
  settle(coordinator().hello(hello_of(process(2))));

  for (const auto& [from, report] :
       {std::pair(process(7), report_of(0, 1, 2, 1)), std::pair(process(2), report_of(0, 1, 2, 1)),
        std::pair(process(1), report_of(5, 1, 2, 1)), std::pair(process(1), report_of(0, 1, 0, 1))}) {
    const auto actions = coordinator().report(from, report);
    EXPECT_THAT(actions.warnings, SizeIs(1));
    EXPECT_FALSE(actions.put || actions.ended);
  }
  EXPECT_EQ(coordinator().reported_until(ShardId{0}), ShardOffset{2});
  lead();
  const auto early = coordinator().report(process(1), report_of(0, 1, 2, 1));
  EXPECT_THAT(early.warnings, SizeIs(1)) << "its owner, which has not said hello to this one";
  EXPECT_FALSE(early.put || early.ended);
}

TEST_F(CoordinatorByHand, AsksAgainFromWhereAReportDoesNotJoinOn) {
  join_with(1);

  const auto gap = coordinator().report(process(1), report_of(0, 1, 4, 1));
  const auto stale = coordinator().report(process(1), report_of(0, 1, 1, 1));

  ASSERT_THAT(sent<ReportFrom>(gap), SizeIs(1));
  EXPECT_EQ(sent<ReportFrom>(gap)[0].first, ShardOffset{2});
  EXPECT_THAT(stale.send, IsEmpty());
  EXPECT_FALSE(stale.put);
}

TEST_F(CoordinatorByHand, TakesNoMoreThanItCanHoldWhileAPutIsStalled) {
  options_.waiting_events_max = 3;
  lead();
  join_with(0);
  const auto stalled = coordinator().report(process(1), report_of(0, 1, 1, 1));
  ASSERT_TRUE(stalled.put);

  coordinator().report(process(1), report_of(0, 1, 2, 3));
  const auto above = coordinator().report(process(1), report_of(0, 1, 5, 3));
  EXPECT_EQ(coordinator().reported_until(ShardId{0}), ShardOffset{5});
  EXPECT_THAT(above.send, IsEmpty());
  const auto returned = coordinator().put_returned(log_.put(*stalled.put));

  ASSERT_THAT(sent<ReportFrom>(returned), SizeIs(1)) << "what was not taken is asked for again";
  EXPECT_EQ(sent<ReportFrom>(returned)[0].first, ShardOffset{5});
}

TEST_F(CoordinatorByHand, RefusesASecondProcessOfANodeThatIsThere) {
  join_with(1);

  const auto second = coordinator().hello(hello_of(process(1, 2)));
  ASSERT_THAT(sent<HelloRefused>(second), SizeIs(1));
  EXPECT_EQ(sent<HelloRefused>(second)[0].to, process(1, 2));
  EXPECT_THAT(sent<HelloRefused>(second)[0].error.what, HasSubstr("node 1 is here already, at host-1"));
  EXPECT_THAT(second.warnings, SizeIs(1));
  coordinator().lost(process(1, 2));
  EXPECT_THAT(sent<HelloRefused>(coordinator().hello(hello_of(process(1, 2)))), SizeIs(1))
      << "that was not the one that is there";
  coordinator().lost(process(1));

  const auto rejoined = settle(coordinator().hello(hello_of(process(1, 2), 3, {told(0, 1, 2, 2), told(1, 1, 2, 2)})));
  EXPECT_THAT(sent<Welcome>(rejoined), SizeIs(1));
  EXPECT_EQ(log_.state().shards[0].epoch, Epoch{2}) << "another process: opened again";
}

TEST_F(CoordinatorByHand, OpensNothingAgainForAProcessThatOnlyReconnects) {
  join_with(1);
  coordinator().lost(process(1));

  const auto again =
      settle(coordinator().hello(hello_of(process(1), 3, {told(0, 1, 2, 2, true), told(1, 1, 2, 2, true)})));

  EXPECT_THAT(sent<Welcome>(again), SizeIs(1));
  EXPECT_THAT(sent<Opens>(again), IsEmpty());
  EXPECT_EQ(log_.state().last_cut, CutNumber{3});
}

// It was replaced by another process of its node, and comes back with what it took before.
TEST_F(CoordinatorByHand, OpensAgainForAProcessThatTookAnEarlierOpening) {
  join_with(0);
  coordinator().lost(process(1));
  settle(coordinator().hello(hello_of(process(1, 2), 1, {told(0, 1, 1, 1), told(1, 1, 1, 1)})));
  coordinator().lost(process(1, 2));

  const auto again =
      settle(coordinator().hello(hello_of(process(1), 1, {told(0, 1, 1, 1, true), told(1, 1, 1, 1, true)})));

  EXPECT_THAT(sent<Opens>(again), SizeIs(2));
  EXPECT_EQ(log_.state().shards[0].epoch, Epoch{3});
}

TEST_F(CoordinatorByHand, OpensWhatItRefusedOnceTheDiskHasIt) {
  join_with(4);
  coordinator().lost(process(1));
  settle(coordinator().hello(hello_of(process(1, 2), 3, {told(0, 1, 3, 3), told(1, 1, 5, 5)})));
  ASSERT_THAT(coordinator().members().at(1).refused, SizeIs(1));

  const auto again =
      settle(coordinator().hello(hello_of(process(1, 2), 4, {told(0, 1, 5, 5), told(1, 2, 5, 5, true)})));

  EXPECT_THAT(sent<Welcome>(again)[0].refused, IsEmpty());
  EXPECT_EQ(log_.state().shards[0].epoch, Epoch{2});
}

TEST_F(CoordinatorByHand, RepeatsAPromiseThatWasLostAndOpensAgainWhatWentBy) {
  join_with(0);

  const auto before = settle(coordinator().hello(hello_of(process(1), 0)));
  EXPECT_THAT(sent<Opens>(before), SizeIs(2));
  EXPECT_EQ(log_.state().last_cut, CutNumber{1}) << "the opening is still to come";
  settle(coordinator().hello(hello_of(process(1), 1)));

  EXPECT_EQ(log_.state().shards[0].epoch, Epoch{2}) << "the cut with it was applied, and it was not taken";
}

TEST_F(CoordinatorByHand, RefusesMalformedHellos) {
  for (const auto& bad : {hello_of({0, 1}), hello_of({1, 0}), hello_of(process(1), 0, {told(2, 1, 1, 1)}),
                          hello_of(process(1), 0, {told(0, 1, 1, 1), told(0, 1, 1, 1)}),
                          hello_of(process(1), 0, {told(0, 1, 3, 2)}), hello_of(process(1), 0, {told(0, 1, 0, 1)})}) {
    const auto actions = coordinator().hello(bad);
    ASSERT_THAT(sent<HelloRefused>(actions), SizeIs(1));
    EXPECT_EQ(sent<HelloRefused>(actions)[0].error.code, ErrorCode::invalid_argument);
  }
  EXPECT_THAT(coordinator().members(), IsEmpty());
}

TEST_F(CoordinatorByHand, RefusesADiskThatIsOfAnotherHistory) {
  join_with(4);
  lead();
  // This log is an old copy that has gone on: under the number of its cut the disk has one that this log never had.
  const auto actions = settle(coordinator().hello(hello_of(process(1, 2), 3, {told(0, 1, 5, 5), told(1, 1, 6, 6)})));

  ASSERT_THAT(sent<HelloRefused>(actions), SizeIs(1));
  EXPECT_EQ(sent<HelloRefused>(actions)[0].error.code, ErrorCode::corruption);
  EXPECT_THAT(sent<HelloRefused>(actions)[0].error.what,
              HasSubstr("the disk of node 1 has cuts that cover shard 1 up to offset 5, those of this coordinator's "
                        "log end with offset 4"));
  EXPECT_THAT(actions.warnings, SizeIs(1));
  EXPECT_FALSE(actions.put || actions.ended);
  EXPECT_THAT(sent<Opens>(actions), IsEmpty()) << "nothing of it is opened";
}

TEST_F(CoordinatorByHand, OpensNoShardThatHasLost) {
  join_with(4);
  lead();
  // Shorter than the cuts; and long enough, but of before the newest ordered events.
  const auto actions = settle(coordinator().hello(hello_of(process(1, 2), 3, {told(0, 1, 3, 3), told(1, 0, 2, 9)})));

  ASSERT_THAT(sent<Welcome>(actions), SizeIs(1));
  const auto refused = sent<Welcome>(actions)[0].refused;
  ASSERT_THAT(refused, SizeIs(2));
  EXPECT_EQ(refused[0].error.code, ErrorCode::corruption);
  EXPECT_THAT(refused[0].error.what,
              HasSubstr("shard 0 of node 1 has lost data: offsets 3 to 4 stand in the order and are not there"));
  EXPECT_THAT(refused[1].error.what,
              HasSubstr("shard 1 of node 1 cannot go on with what it has: offsets 2 to 4 are there, and may be others "
                        "than stand in the order: what was ordered last was written under "
                        "epoch 1, this disk is of epoch 0; 4 behind them were never ordered"));
  EXPECT_EQ(log_.state().last_cut, CutNumber{3});
  EXPECT_THAT(actions.warnings, SizeIs(2));
}

TEST_F(CoordinatorByHand, OpensNoShardWhoseCutsWereFoldedBecauseItHeldThem) {
  options_.fold_cuts = 1;
  for (const std::uint64_t covered : {1, 2}) {
    log_ = sharding::MemoryCutLog(2);
    lead();
    join_with(2);
    coordinator().held({process(1), CutNumber{3}});
    settle(coordinator().report(process(1), report_of(0, 1, 3, 1)));
    ASSERT_EQ(log_.state().shards[1].folded, ShardOffset{2});
    ASSERT_EQ(coordinator().stored(), log_.state());
    coordinator().lost(process(1));

    const auto actions =
        settle(coordinator().hello(hello_of(process(1, 2), 2, {told(0, 1, 4, 4), told(1, 1, covered, 3)})));

    ASSERT_THAT(sent<Welcome>(actions)[0].refused, SizeIs(1)) << "shard 0 has applied all of its own";
    EXPECT_EQ(sent<Welcome>(actions)[0].refused[0].shard, ShardId{1});
    EXPECT_THAT(sent<Welcome>(actions)[0].refused[0].error.what,
                HasSubstr((covered == 1 ? "offsets 1 to 2 are" : "offset 2 is") + std::string(" there, but without")));
  }
}

// Cuts that it applied cannot cover what was written under an epoch that it was never opened under.
TEST_F(CoordinatorByHand, TrustsNothingOnADiskThatContradictsItself) {
  join_with(1);
  coordinator().lost(process(1));
  settle(coordinator().hello(hello_of(process(1, 2), 3, {told(0, 1, 2, 2), told(1, 1, 2, 2)})));
  settle(coordinator().report(process(1, 2), report_of(0, 2, 2, 4)));
  coordinator().lost(process(1, 2));

  const auto actions = settle(coordinator().hello(hello_of(process(1, 3), 4, {told(0, 1, 6, 6), told(1, 2, 2, 2)})));

  ASSERT_THAT(sent<Welcome>(actions)[0].refused, SizeIs(1));
  EXPECT_THAT(
      sent<Welcome>(actions)[0].refused[0].error.what,
      HasSubstr("shard 0 of node 1 cannot go on with what it has: offsets 1 to 5 are there, and may be others"));
}

// An old copy that catches up has applied a cut that was kept, and will hear of the hole before it with the checkpoint
// only.
TEST_F(CoordinatorByHand, OpensNoShardBehindAHoleWhicheverCutsWereApplied) {
  options_.fold_cuts = 1;
  lead();
  join_with(2);
  coordinator().held({process(1), CutNumber{3}});
  settle(coordinator().report(process(1), report_of(0, 1, 3, 1)));
  ASSERT_EQ(log_.state().shards[1].folded, ShardOffset{2});
  coordinator().lost(process(1));

  // What it has behind its cuts is as it was ordered, or longer: where it has its place is not known any more.
  settle(coordinator().hello(hello_of(process(1, 2), 4, {told(0, 1, 4, 4), told(1, 1, 1, 3)})));
  const auto actions = settle(coordinator().hello(hello_of(process(1, 2), 4, {told(0, 1, 4, 4), told(1, 1, 1, 9)})));

  ASSERT_THAT(sent<Welcome>(actions)[0].refused, SizeIs(1));
  EXPECT_THAT(
      sent<Welcome>(actions)[0].refused[0].error.what,
      HasSubstr("shard 1 of node 1 cannot go on with what it has: offsets 1 to 2 are there, but without their places"));
  EXPECT_FALSE(coordinator().assign(ShardId{1}, 1, {})) << "nothing is given without the loss";
  settle(*coordinator().assign(ShardId{1}, 1, Loss{ShardOffset{1}, ShardOffset{3}, 6}));
  EXPECT_EQ(log_.state().shards[1].losses.front().from, ShardOffset{1});
}

TEST_F(CoordinatorByHand, OpensAShardWhoseCutsAreStillThere) {
  options_.fold_cuts = 1;
  lead();
  join_with(2);
  coordinator().held({process(1), CutNumber{2}});
  settle(coordinator().report(process(1), report_of(0, 1, 3, 1)));
  ASSERT_THAT(log_.cuts_after(CutNumber{0}, 1'000)->cuts, SizeIs(2))
      << "the cut that ordered shard 1, and the last one";
  coordinator().lost(process(1));

  const auto actions = settle(coordinator().hello(hello_of(process(1, 2), 2, {told(0, 1, 3, 4), told(1, 1, 1, 3)})));

  EXPECT_THAT(sent<Welcome>(actions)[0].refused, IsEmpty());
}

TEST_F(CoordinatorByHand, CountsOnlyWhatTheProcessThatIsThereHolds) {
  options_.fold_cuts = 1;
  lead();
  join_with(1);
  coordinator().lost(process(1));
  settle(coordinator().hello(hello_of(process(1, 2), 1, {told(0, 1, 1, 2), told(1, 1, 1, 2)})));

  coordinator().held({process(1), CutNumber{3}});
  coordinator().held({process(9), CutNumber{3}});
  EXPECT_THAT(coordinator().held({process(1, 2), CutNumber{99}}).warnings, SizeIs(1))
      << "nobody holds what is not there";
  settle(coordinator().report(process(1, 2), report_of(0, 2, 2, 1)));

  EXPECT_EQ(log_.state().shards[0].folded, ShardOffset{0}) << "it has not said that it holds cut 2";
}

TEST_F(CoordinatorByHand, GivesAShardAwayOnlyWithWhatIsLostByName) {
  join_with(4);
  settle(coordinator().hello(hello_of(process(2))));

  EXPECT_EQ(coordinator().assign(ShardId{0}, 2, {}).error().code, ErrorCode::invalid_argument) << "its node is there";
  EXPECT_EQ(coordinator().assign(ShardId{9}, 2, {}).error().code, ErrorCode::not_found);
  EXPECT_EQ(coordinator().assign(ShardId{0}, 7, {}).error().code, ErrorCode::not_found);
  coordinator().lost(process(1));
  const auto unnamed = coordinator().assign(ShardId{0}, 2, {});
  ASSERT_FALSE(unnamed);
  EXPECT_EQ(unnamed.error().what, "offsets 1 to 4 of shard 0 would be lost on node 2: accept that by name");
  EXPECT_EQ(coordinator().assign(ShardId{0}, 2, Loss{ShardOffset{2}, ShardOffset{5}}).error().code,
            ErrorCode::corruption);
  auto assigned = coordinator().assign(ShardId{0}, 2, Loss{ShardOffset{1}, ShardOffset{5}});
  ASSERT_TRUE(assigned);
  const auto actions = settle(*assigned);

  EXPECT_EQ(log_.state().shards[0].node, 2u);
  const auto opening = sent<Announce>(actions).at(0).cut.openings.at(0);
  EXPECT_EQ(opening, (sharding::Opening{ShardId{0}, Epoch{2}, 2, ShardOffset{5}, ShardOffset{1}, ShardOffset{5}}))
      << "the log says what was lost";
  EXPECT_THAT(actions.warnings, SizeIs(1));
  // The one it was taken from comes back with all of it: that is not the shard any more.
  const auto back = settle(coordinator().hello(hello_of(process(1, 2), 3, {told(0, 1, 5, 5), told(1, 1, 5, 5)})));
  EXPECT_THAT(sent<Welcome>(back)[0].refused, IsEmpty());
  EXPECT_EQ(log_.state().shards[0].node, 2u);
}

// The log knows from where on what was given up goes.
TEST_F(CoordinatorByHand, NamesAllThatMayHaveBeenGivenUpToWhoWasLeftBehind) {
  for (const bool went_on : {false, true}) {
    log_ = sharding::MemoryCutLog(2);
    lead();
    join_with(4);
    coordinator().lost(process(1));
    settle(coordinator().hello(hello_of(process(2))));
    auto given = coordinator().assign(ShardId{0}, 2, Loss{ShardOffset{1}, ShardOffset{5}});
    ASSERT_TRUE(given);
    settle(*given);
    if (went_on) settle(coordinator().report(process(2), report_of(0, 2, 5, 2)));
    coordinator().lost(process(2));
    // It has all that it ever had, and everybody else was told that it is gone.
    settle(coordinator().hello(hello_of(process(1, 2), 3, {told(0, 1, 5, 5), told(1, 1, 5, 5)})));

    const auto back = coordinator().assign(ShardId{0}, 1, {});
    ASSERT_FALSE(back) << "readers have passed those positions";
    EXPECT_EQ(back.error().what, went_on ? "offsets 1 to 6 of shard 0 would be lost on node 1: accept that by name"
                                         : "offsets 1 to 4 of shard 0 would be lost on node 1: accept that by name");
  }
}

// Node 1's disk was emptied behind offset 2. A copy from before that knows nothing of it, whether the cut that says so
// is stored or not.
TEST_F(CoordinatorByHand, NamesWhatWasGivenUpToWhoBringsItBack) {
  for (const bool stalled : {false, true}) {
    SCOPED_TRACE(stalled ? "behind a put that is under way" : "stored");
    log_ = sharding::MemoryCutLog(2);
    lead();
    join_with(4);
    coordinator().lost(process(1));
    settle(coordinator().hello(hello_of(process(1, 2), 3, {told(0, 1, 3, 3), told(1, 1, 5, 5)})));
    CoordinatorActions under_way;
    if (stalled) {
      under_way = coordinator().report(process(1, 2), report_of(1, 2, 5, 1));
      ASSERT_TRUE(under_way.put);
    }
    auto given = coordinator().assign(ShardId{0}, 1, Loss{ShardOffset{3}, ShardOffset{5}});
    ASSERT_TRUE(given) << given.error().what;
    settle(*given);
    coordinator().lost(process(1, 2));

    const auto actions = coordinator().hello(hello_of(process(1, 3), 3, {told(0, 1, 5, 7), told(1, 2, 5, 6)}));

    ASSERT_THAT(coordinator().members().at(1).refused, SizeIs(1)) << "it is not opened as one that has lost nothing";
    EXPECT_EQ(coordinator().status().shards[0].trouble,
              "shard 0 of node 1 cannot go on with what it has: offsets 3 to 4 are there, but not as they stand in the "
              "order: all from offset 3 on was given up as lost since this disk was written; 2 behind "
              "them were never ordered")
        << "what is there is not called absent";
    const auto again = coordinator().assign(ShardId{0}, 1, {});
    EXPECT_EQ(again.error().what,
              "offsets 3 to 4 and 2 never ordered behind them of shard 0 would be lost on node 1: accept that by name");
    (void)settle(stalled ? under_way : actions);
  }
}

// The loss begins with what was given up, and goes on over what was written since, elsewhere or here.
TEST_F(CoordinatorByHand, TellsWhatIsNotOnADiskFromWhatIsThereAndIsNotBelieved) {
  join_with(4);
  coordinator().lost(process(1));
  settle(coordinator().hello(hello_of(process(1, 2), 3, {told(0, 1, 3, 3), told(1, 1, 5, 5)})));
  auto given = coordinator().assign(ShardId{0}, 1, Loss{ShardOffset{3}, ShardOffset{5}});
  ASSERT_TRUE(given) << given.error().what;
  settle(*given);
  settle(coordinator().report(process(1, 2), report_of(0, 2, 5, 2)));
  coordinator().lost(process(1, 2));

  settle(coordinator().hello(hello_of(process(1, 3), 3, {told(0, 1, 5, 5), told(1, 2, 5, 5)})));

  EXPECT_EQ(coordinator().status().shards[0].trouble,
            "shard 0 of node 1 has lost data: offsets 5 to 6 stand in the order and are not there; offsets 3 to 4 are "
            "there, but not as they stand in the order: all from offset 3 on was given up as lost "
            "since this disk was written");
}

TEST_F(CoordinatorByHand, LetsANodeThatCameBackWithLessGoOnWhereThatIsAccepted) {
  join_with(4);
  coordinator().lost(process(1));
  settle(coordinator().hello(hello_of(process(1, 2), 3, {told(0, 1, 3, 3), told(1, 1, 5, 5)})));

  EXPECT_EQ(coordinator().assign(ShardId{1}, 1, {}).error().code, ErrorCode::invalid_argument) << "that one is whole";
  auto assigned = coordinator().assign(ShardId{0}, 1, Loss{ShardOffset{3}, ShardOffset{5}});
  ASSERT_TRUE(assigned) << assigned.error().what;
  const auto actions = settle(*assigned);

  EXPECT_EQ(sent<Announce>(actions).at(0).cut.openings.at(0),
            (sharding::Opening{ShardId{0}, Epoch{2}, 1, ShardOffset{5}, ShardOffset{3}, ShardOffset{5}}))
      << "what it has is kept";
  EXPECT_EQ(log_.state().shards[0].epoch, Epoch{2});
  EXPECT_THAT(coordinator().members().at(1).refused, IsEmpty());
}

TEST_F(CoordinatorByHand, WantsDigestsWhileThereAreConditions) {
  options_.digest_cuts = 2;
  lead();
  join_with(0);
  EXPECT_FALSE(coordinator().digests_wanted());
  auto conditional = report_of(0, 1, 1, 1);
  conditional.appends[0].tentative = true;
  conditional.appends[0].conditions = {{{false, {{{}, {7}}}}, GlobalPosition{0}}};

  const auto with = settle(coordinator().report(process(1), conditional));
  EXPECT_TRUE(sent<Announce>(with).at(0).digests_wanted);
  settle(coordinator().report(process(1), report_of(0, 1, 2, 1)));
  settle(coordinator().report(process(1), report_of(0, 1, 3, 1)));

  EXPECT_FALSE(coordinator().digests_wanted());
}

TEST_F(CoordinatorByHand, SendsStoredCutsToWhoeverAsksAndNoneOfANewerOne) {
  join_with(1);
  const auto asked = coordinator().cuts_after({process(1), CutNumber{1}});
  ASSERT_THAT(asked.read, SizeIs(1));

  const auto cuts = coordinator().cuts_message(asked.read[0], *log_.cuts_after(CutNumber{1}, 1'000));
  EXPECT_EQ(cuts.to, process(1));
  EXPECT_EQ(cuts.after, CutNumber{1});
  EXPECT_THAT(cuts.found.cuts, SizeIs(2));
  const auto led = *log_.lead();
  ASSERT_TRUE(log_.put({led.last_cut + 1, led.epoch, led.watermark + 1, {}, {}}));

  EXPECT_THAT(coordinator().cuts_message(asked.read[0], *log_.cuts_after(CutNumber{1}, 1'000)).found.cuts, SizeIs(2));
  ASSERT_TRUE(log_.fold(led.epoch, std::vector<sharding::HeldBy>{{1, CutNumber{2}}}));
  ASSERT_EQ(log_.cuts_after(CutNumber{1}, 1'000)->cuts.size(), 1u)
      << "cut 3; cut 2 is held, cut 4 names nobody's shard";
  const auto folded = coordinator().cuts_message(asked.read[0], *log_.cuts_after(CutNumber{1}, 1'000)).found;
  EXPECT_FALSE(folded.folded) << "without what it does not know, the rest would have holes";
  EXPECT_THAT(folded.cuts, IsEmpty());

  // Of a short answer nothing is left: the checkpoint, which it knows, is all there is.
  sharding::CutsFound shortened{{{CutNumber{4}, led.epoch, led.watermark + 1, {}, {}}}, coordinator().stored(), true};
  const auto rest = coordinator().cuts_message(asked.read[0], shortened).found;
  EXPECT_THAT(rest.cuts, IsEmpty());
  EXPECT_FALSE(rest.more) << "it has nothing that would come next";
  EXPECT_TRUE(rest.reaches_checkpoint());
  EXPECT_FALSE((sharding::CutsFound{{}, coordinator().stored(), true}.reaches_checkpoint())) << "whoever says so";
}

TEST_F(CoordinatorByHand, GivesSeveralShardsOfANodeThatIsGoneOrNone) {
  join_with(4);
  (void)coordinator().lost(process(1));
  settle(coordinator().hello(hello_of(process(2))));

  ShardAssignment wanted{2, {ShardId{0}, ShardId{1}}, {}};
  const auto looked = coordinator().assign(wanted);
  ASSERT_TRUE(looked) << looked.error().what;
  EXPECT_FALSE(looked->answer.done);
  EXPECT_THAT(looked->answer.losses, ElementsAre(ShardLoss{ShardId{0}, ShardOffset{1}, ShardOffset{5}},
                                                 ShardLoss{ShardId{1}, ShardOffset{1}, ShardOffset{5}}));
  EXPECT_FALSE(looked->actions.put) << "nothing is done";

  wanted.accepted = {looked->answer.losses[1]};
  EXPECT_FALSE(coordinator().assign(wanted)->answer.done) << "one is not accepted";
  EXPECT_EQ(coordinator().status().shards[1].node, 1u);

  wanted.accepted = {looked->answer.losses[1], looked->answer.losses[0]};
  auto assigned = coordinator().assign(wanted);
  ASSERT_TRUE(assigned && assigned->answer.done);
  ASSERT_TRUE(assigned->actions.put);
  EXPECT_THAT(assigned->actions.put->openings, SizeIs(2)) << "in one cut";
  EXPECT_EQ(assigned->stands_with, assigned->actions.put->number) << "before, it goes with this coordinator";
  settle(std::move(assigned->actions));
  EXPECT_EQ(log_.state().shards[0].node, 2u);
  EXPECT_EQ(log_.state().shards[1].node, 2u);

  EXPECT_EQ(coordinator().assign(ShardAssignment{2, {}, {}}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(coordinator().assign(ShardAssignment{2, {ShardId{0}}, {}}).error().code, ErrorCode::invalid_argument)
      << "its node is here and has it";
}

TEST_F(CoordinatorByHand, GivesShardsOnlyToWhoIsHereAndTakesThem) {
  join_with(4);
  (void)coordinator().lost(process(1));
  settle(coordinator().hello(hello_of(process(2))));
  auto gateway = hello_of(process(3));
  gateway.gateway = true;
  settle(coordinator().hello(gateway));

  EXPECT_THAT(coordinator().assign(ShardId{0}, 3, {}).error().what, HasSubstr("node 3 is a gateway"));
  EXPECT_THAT(coordinator().assign(ShardAssignment{2, {ShardId{0}, ShardId{0}}, {}}).error().what,
              HasSubstr("shard 0 is named twice"));
  (void)coordinator().lost(process(2));
  EXPECT_EQ(coordinator().assign(ShardId{0}, 2, Loss{ShardOffset{1}, ShardOffset{5}}).error().code,
            ErrorCode::not_found)
      << "it is gone, too";
}

TEST_F(CoordinatorByHand, SaysHowTheClusterIs) {
  join_with(4);
  settle(coordinator().report(process(1), report_of(0, 1, 5, 2)));
  settle(coordinator().held({process(1), CutNumber{0}, CutNumber{1}}));
  auto status = coordinator().status();
  EXPECT_EQ(status.watermark, log_.state().watermark);
  EXPECT_EQ(status.last_cut, log_.state().last_cut);
  ASSERT_THAT(status.nodes, SizeIs(1));
  EXPECT_TRUE(status.nodes[0].is.up);
  EXPECT_EQ(status.nodes[0].shards, 2u);
  EXPECT_EQ(status.nodes[0].applied, CutNumber{1});
  EXPECT_EQ(status.nodes[0].behind, log_.state().last_cut.value - 1);
  ASSERT_THAT(status.shards, SizeIs(2));
  EXPECT_TRUE(status.shards[0].open);
  EXPECT_EQ(status.shards[0].ordered, ShardOffset{7});
  EXPECT_EQ(status.shards[0].durable, ShardOffset{7});

  // What is reported while a cut is being put waits.
  auto first = coordinator().report(process(1), report_of(1, 1, 5, 1));
  (void)coordinator().report(process(1), report_of(1, 1, 6, 3));
  status = coordinator().status();
  EXPECT_EQ(status.shards[1].durable, ShardOffset{9});
  EXPECT_EQ(status.shards[1].ordered, ShardOffset{5});
  settle(std::move(first));

  (void)coordinator().lost(process(1));
  EXPECT_FALSE(coordinator().status().shards[0].open);
  // It comes back with an empty disk.
  settle(coordinator().hello(hello_of(process(1, 2))));
  status = coordinator().status();
  EXPECT_FALSE(status.shards[0].open);
  EXPECT_THAT(status.shards[0].trouble, HasSubstr("has lost data"));
  EXPECT_EQ(status.nodes[0].refused, 2u);
}

TEST(CutRateByHand, CountsTheLastTenSeconds) {
  using std::chrono::milliseconds;
  const CutRate::Time begin{std::chrono::hours(1)};
  CutRate rate;
  EXPECT_EQ(rate.per_second(begin, CutNumber{7}), 0u);
  for (std::uint64_t n = 1; n <= 300; ++n) rate.seen(begin + milliseconds(100 * n), CutNumber{n});
  EXPECT_EQ(rate.per_second(begin + milliseconds(30'000), CutNumber{300}), 10u);
  EXPECT_EQ(rate.per_second(begin + milliseconds(60'000), CutNumber{300}), 0u) << "nothing for half a minute";
}

TEST(CutTimesByHand, SaysHowFarSomebodyIsBehind) {
  using std::chrono::milliseconds;
  const CutTimes::Time begin{std::chrono::hours(1)};
  CutTimes times;
  EXPECT_EQ(times.behind(begin, CutNumber{7}).events, 0u);
  for (std::uint64_t n = 1; n <= 100; ++n)
    times.made(begin + milliseconds(10 * n), CutNumber{n}, GlobalPosition{3 * n});
  const auto behind = times.behind(begin + milliseconds(2'000), CutNumber{90});
  EXPECT_EQ(behind.events, 30u);
  EXPECT_EQ(behind.time, milliseconds(2'000 - 910));
  EXPECT_EQ(times.behind(begin + milliseconds(2'000), CutNumber{100}).events, 0u);
  EXPECT_EQ(times.behind(begin + milliseconds(2'000), CutNumber{100}).time, milliseconds(0));
  EXPECT_EQ(times.behind(begin + milliseconds(2'000), CutNumber{0}).events, 297u) << "at least";
  for (std::uint64_t n = 101; n <= 100'000; ++n)
    times.made(begin + milliseconds(10 * n), CutNumber{n}, GlobalPosition{3 * n});
  EXPECT_EQ(times.behind(begin + milliseconds(1'000'000), CutNumber{99'990}).events, 30u);
  const auto far = times.behind(begin + milliseconds(1'000'000), CutNumber{50'000});
  EXPECT_NEAR(static_cast<double>(far.events), 150'000, 1'000) << "old ones are known less well";
}

TEST(ShardLossText, IsReadAsItIsWritten) {
  for (const ShardLoss& loss : {ShardLoss{ShardId{3}, ShardOffset{1}, ShardOffset{41}, 0},
                                ShardLoss{ShardId{65'535}, ShardOffset{7}, ShardOffset{8}, 2}})
    EXPECT_EQ(ShardLoss::parse(loss.text()), loss) << loss.text();
  EXPECT_EQ((ShardLoss{ShardId{3}, ShardOffset{1}, ShardOffset{41}, 2}.text()), "3:1-40+2");
  for (const char* bad : {"", "3", "3:", "3:1", "3:1-", "3:0-4", "3:5-4", "3:1-4+", "3:1-4x", "65536:1-4",
                          "3:1-18446744073709551615", "-3:1-4"})
    EXPECT_FALSE(ShardLoss::parse(bad)) << bad;
}

}  // namespace
}  // namespace evershard::cluster
