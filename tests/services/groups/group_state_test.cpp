#include "evershard/services/groups/group_state.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evershard::actors {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

GroupState group_with(GroupSettings settings, std::initializer_list<std::pair<std::uint64_t, std::uint64_t>> events) {
  GroupState state(settings, GlobalPosition(0), 1, 1);
  std::vector<GroupEvent> found;
  for (const auto& [position, lane] : events) found.push_back({GlobalPosition(position), lane});
  state.read(found, GlobalPosition(found.back().position), 0);
  return state;
}

std::vector<std::uint64_t> positions_of(const std::vector<GroupDelivered>& out) {
  std::vector<std::uint64_t> positions;
  for (const auto& one : out) positions.push_back(one.position.value);
  std::ranges::sort(positions);
  return positions;
}

TEST(GroupState, GivesOutOneEventOfAnAggregateAtATime) {
  auto state = group_with({}, {{1, 7}, {2, 7}, {3, 8}});
  (void)state.join("w", 10, 0);
  auto out = state.deliver(0);
  EXPECT_THAT(positions_of(out), ElementsAre(1, 3));
  const auto first = out[0].position.value == 1 ? out[0] : out[1];
  ASSERT_TRUE(state.acknowledge(first.position, first.delivery, 1));
  EXPECT_THAT(positions_of(state.deliver(1)), ElementsAre(2));
  EXPECT_EQ(state.position(), GlobalPosition(1));
}

TEST(GroupState, ParksWhatIsBehindParkedOnesWhenTheyBlockFromNowOn) {
  auto state = group_with({.window = 4}, {{1, 7}, {2, 7}, {3, 7}, {4, 8}});
  (void)state.join("w", 1, 0);
  const auto out = state.deliver(0);
  ASSERT_THAT(positions_of(out), ElementsAre(1));
  ASSERT_TRUE(state.park(out[0].position, out[0].delivery, "no", 1, 0));

  state.change({.after_parked = AfterParked::block, .window = 4}, 99);

  ASSERT_THAT(state.parked(), SizeIs(3)) << "they are shown, and take no room";
  EXPECT_TRUE(state.parked().at(2).behind);
  EXPECT_EQ(state.parked().at(3).parked_at_ms, 99);
  EXPECT_EQ(state.room(), 3u);
  EXPECT_THAT(positions_of(state.deliver(2)), ElementsAre(4));
  ASSERT_TRUE(state.discard(GlobalPosition(1), 3));
  EXPECT_THAT(state.parked(), IsEmpty());
}

TEST(GroupState, LeavesWhatIsOutWithItsWorkerWhenParkedOnesBlock) {
  auto state = group_with({}, {{1, 7}, {2, 7}, {3, 7}});
  (void)state.join("w", 1, 0);
  const auto first = state.deliver(0);
  ASSERT_TRUE(state.park(first.at(0).position, first[0].delivery, "no", 1, 0));
  const auto second = state.deliver(1);
  ASSERT_THAT(positions_of(second), ElementsAre(2));

  state.change({.after_parked = AfterParked::block}, 0);

  EXPECT_THAT(state.parked(), SizeIs(2));
  EXPECT_TRUE(state.acknowledge(second[0].position, second[0].delivery, 2));
  EXPECT_THAT(state.deliver(2), IsEmpty());
}

TEST(GroupState, WaitsFiveTimesAsLongEachTimeThenParks) {
  auto state = group_with({.retry_jitter_percent = 0}, {{1, 7}, {2, 7}});
  const auto worker = state.join("w", 1, 0);
  GroupTime now = 0;
  for (const GroupTime wait : {60'000, 300'000}) {
    const auto out = state.deliver(now);
    ASSERT_THAT(out, SizeIs(1));
    ASSERT_TRUE(state.reject(out[0].position, out[0].delivery, "no stock", {}, now, 0));
    now += wait - 1;
    ASSERT_TRUE(state.heard(worker, now));
    (void)state.tick(now, 0);
    EXPECT_THAT(state.deliver(now), IsEmpty()) << "neither it nor the next of its aggregate";
    EXPECT_EQ(state.waiting(), 1u);
    now += 1;
    (void)state.tick(now, 0);
  }
  const auto out = state.deliver(now);
  ASSERT_THAT(out, SizeIs(1));
  EXPECT_EQ(out[0].attempt, 3u);
  ASSERT_TRUE(state.reject(out[0].position, out[0].delivery, "no stock at all", {}, now, 99));
  ASSERT_THAT(state.parked(), SizeIs(1));
  EXPECT_EQ(state.parked().begin()->second.attempts, 3u);
  EXPECT_EQ(state.parked().begin()->second.parked_at_ms, 99);
  EXPECT_EQ(state.reason_of(state.parked().begin()->second), "no stock at all");
  EXPECT_THAT(positions_of(state.deliver(now)), ElementsAre(2)) << "go_on";
}

TEST(GroupState, JittersWithinItsBounds) {
  GroupTime least = 1'000'000, most = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    GroupState state(GroupSettings{}, GlobalPosition(0), seed, 1);
    const std::array events{GroupEvent{GlobalPosition(1), 1}};
    state.read(events, GlobalPosition(1), 0);
    const auto worker = state.join("w", 1, 1'000);
    const auto out = state.deliver(1'000);
    ASSERT_TRUE(state.reject(GlobalPosition(1), out.at(0).delivery, "", {}, 1'000, 0));
    state.leave(worker, 1'000);
    const auto wait = *state.next_due() - 1'000;
    least = std::min(least, wait);
    most = std::max(most, wait);
  }
  EXPECT_GE(least, 48'000);
  EXPECT_LT(least, 51'000);
  EXPECT_LE(most, 72'000);
  EXPECT_GT(most, 69'000);
}

TEST(GroupState, BlocksAnAggregateBehindAParkedEventUntilItIsReplayed) {
  auto state = group_with({.after_parked = AfterParked::block}, {{1, 7}, {2, 7}, {3, 8}});
  (void)state.join("w", 10, 0);
  for (const auto& out : state.deliver(0)) {
    if (out.position.value == 1) {
      ASSERT_TRUE(state.park(out.position, out.delivery, "broken", 0, 0));
    } else {
      ASSERT_TRUE(state.acknowledge(out.position, out.delivery, 0));
    }
  }
  const std::array later{GroupEvent{GlobalPosition(4), 7}, GroupEvent{GlobalPosition(5), 8}};
  state.read(later, GlobalPosition(6), 0);
  EXPECT_THAT(positions_of(state.deliver(0)), ElementsAre(5));
  ASSERT_THAT(state.parked(), SizeIs(3));
  EXPECT_FALSE(state.parked().at(1).behind);
  EXPECT_TRUE(state.parked().at(4).behind);
  EXPECT_THAT(std::string(state.reason_of(state.parked().at(4))), HasSubstr("behind"));

  EXPECT_EQ(state.replay(GlobalPosition(2), 0).value(), 3u) << "all of its aggregate, whichever was named";
  for (const std::uint64_t expected : {1, 2, 4}) {
    const auto out = state.deliver(0);
    ASSERT_THAT(positions_of(out), ElementsAre(expected));
    EXPECT_EQ(out[0].attempt, 1u);
    ASSERT_TRUE(state.acknowledge(out[0].position, out[0].delivery, 0));
  }
}

TEST(GroupState, DiscardingWhatBlocksGivesOutWhatWasBehindIt) {
  auto state = group_with({.after_parked = AfterParked::block}, {{1, 7}, {2, 7}});
  (void)state.join("w", 10, 0);
  const auto out = state.deliver(0);
  ASSERT_TRUE(state.park(out.at(0).position, out.at(0).delivery, "broken", 0, 0));
  EXPECT_FALSE(state.discard(GlobalPosition(3), 0));
  ASSERT_TRUE(state.discard(GlobalPosition(1), 0));
  EXPECT_THAT(positions_of(state.deliver(0)), ElementsAre(2));
}

TEST(GroupState, TakesOverTheShareOfALostWorkerAtOnce) {
  auto state = group_with({}, {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}, {7, 7}, {8, 8}});
  const auto a = state.join("a", 10, 0), b = state.join("b", 10, 0);
  std::map<GroupWorkerId, std::size_t> shares;
  for (const auto& out : state.deliver(0)) ++shares[out.worker];
  EXPECT_GT(shares[a], 0u);
  EXPECT_GT(shares[b], 0u);
  ASSERT_TRUE(state.renew(b, {}, 29'000));
  EXPECT_THAT(state.tick(30'000, 0), ElementsAre(a));
  const auto taken = state.deliver(30'000);
  std::uint32_t tried_again = 0;
  EXPECT_EQ(taken.size(), shares[a]);
  for (const auto& out : taken) {
    EXPECT_EQ(out.worker, b);
    tried_again += out.attempt - 1;
  }
  EXPECT_EQ(tried_again, 1u) << "that it was lost counts, of the one that it was given first";
  EXPECT_EQ(state.counters().expired, shares[a]);
}

// One event that breaks its worker, fifteen that lie in its buffer.
TEST(GroupState, CountsAnAttemptOfWhatWasBegunOnly) {
  std::vector<GroupEvent> found;
  for (std::uint64_t i = 1; i <= 16; ++i) found.push_back({GlobalPosition(i), i});
  for (const bool says_begun : {true, false}) {
    GroupState state({.attempts_max = 3}, GlobalPosition(0), 1, 1);
    state.read(found, GlobalPosition(16), 0);
    for (int crash = 0; crash != 3; ++crash) {
      const auto worker = state.join("w", 16, crash);
      const auto out = state.deliver(crash);
      ASSERT_THAT(out, SizeIs(16)) << "what was only buffered is given out again at once";
      const auto first = std::ranges::find(out, GlobalPosition(1), &GroupDelivered::position);
      EXPECT_EQ(first->attempt, 1u + static_cast<std::uint32_t>(crash));
      if (says_begun) {
        ASSERT_TRUE(state.begin(first->position, first->delivery, crash));
      }
      state.lose(worker, crash, 0);
    }
    EXPECT_THAT(state.parked(), SizeIs(1));
    EXPECT_TRUE(state.parked().contains(1));
    EXPECT_EQ(state.unsettled(), 15u);
    (void)state.join("w", 16, 4);
    for (const auto& out : state.deliver(4)) EXPECT_EQ(out.attempt, 1u) << out.position.value;
  }
}

TEST(GroupState, CountsNoAttemptOfWhatWaitedInABufferTooLong) {
  auto state = group_with({}, {{1, 1}, {2, 2}});
  const auto worker = state.join("w", 2, 0);
  const auto out = state.deliver(0);
  const auto first = std::ranges::find(out, GlobalPosition(1), &GroupDelivered::position);
  ASSERT_TRUE(state.begin(first->position, first->delivery, 10'000));
  ASSERT_TRUE(state.heard(worker, 25'000));
  EXPECT_THAT(state.tick(30'000, 0), IsEmpty());
  const auto again = state.deliver(30'000);
  ASSERT_THAT(positions_of(again), ElementsAre(2));
  EXPECT_EQ(again[0].attempt, 1u);
  ASSERT_TRUE(state.acknowledge(GlobalPosition(1), first->delivery, 31'000));
  EXPECT_EQ(state.begin(GlobalPosition(1), first->delivery, 31'000).error().code, ErrorCode::fenced) << "it is settled";
}

TEST(GroupState, LeavingCountsNoAttempt) {
  auto state = group_with({}, {{1, 1}});
  const auto a = state.join("a", 10, 0);
  ASSERT_THAT(state.deliver(0), SizeIs(1));
  state.leave(a, 0);
  (void)state.join("b", 1, 0);
  EXPECT_EQ(state.deliver(0).at(0).attempt, 1u);
}

TEST(GroupState, ExpiresWhatIsNotRenewedOfAWorkerThatIsThere) {
  auto state = group_with({}, {{1, 1}, {2, 2}});
  const auto a = state.join("a", 10, 0);
  const auto out = state.deliver(0);
  const std::array renewed{GlobalPosition(2)};
  ASSERT_TRUE(state.renew(a, renewed, 20'000));
  EXPECT_THAT(state.tick(31'000, 0), IsEmpty());
  const auto again = state.deliver(31'000);
  ASSERT_THAT(positions_of(again), ElementsAre(1));
  EXPECT_EQ(again[0].attempt, 2u);
  const auto old = out[0].position.value == 1 ? out[0] : out[1];
  EXPECT_EQ(state.acknowledge(old.position, old.delivery, 31'000).error().code, ErrorCode::fenced);
  ASSERT_TRUE(state.acknowledge(again[0].position, again[0].delivery, 31'000));
  EXPECT_TRUE(state.acknowledge(again[0].position, again[0].delivery, 31'000)) << "the same again";
  EXPECT_EQ(state.counters().acknowledged, 1u);
  EXPECT_EQ(state.acknowledge(GlobalPosition(3), 1, 31'000).error().code, ErrorCode::invalid_argument);
}

TEST(GroupState, TakesALateAcknowledgementWhileNobodyElseHasTheEvent) {
  auto state = group_with({}, {{1, 1}});
  (void)state.join("a", 1, 0);
  const auto out = state.deliver(0);
  (void)state.tick(40'000, 0);
  EXPECT_EQ(state.workers(), 0u);
  EXPECT_TRUE(state.acknowledge(GlobalPosition(1), out.at(0).delivery, 41'000));
  EXPECT_EQ(state.position(), GlobalPosition(1));
}

TEST(GroupState, ReadsNoFurtherThanItsWindow) {
  auto state = group_with({.window = 3}, {{1, 1}, {2, 2}});
  EXPECT_EQ(state.room(), 1u);
  const std::array more{GroupEvent{GlobalPosition(3), 3}};
  state.read(more, GlobalPosition(9), 0);
  EXPECT_EQ(state.room(), 0u);
  (void)state.join("a", 1, 0);
  const auto out = state.deliver(0);
  ASSERT_THAT(out, SizeIs(1)) << "credit";
  ASSERT_TRUE(state.acknowledge(out[0].position, out[0].delivery, 0));
  EXPECT_EQ(state.room(), 1u);
}

TEST(GroupState, RefusesToParkMoreThanItMayAndGoesOnTrying) {
  auto state = group_with(
      {.attempts_max = 1, .retry_first = std::chrono::milliseconds(10), .retry_jitter_percent = 0, .parked_max = 1},
      {{1, 1}, {2, 2}});
  (void)state.join("a", 10, 0);
  const auto out = state.deliver(0);
  ASSERT_TRUE(state.park(out[0].position, out[0].delivery, "x", 0, 0));
  EXPECT_TRUE(state.parked_full());
  EXPECT_EQ(state.park(out[1].position, out[1].delivery, "x", 0, 0).error().code, ErrorCode::overloaded);
  ASSERT_TRUE(state.reject(out[1].position, out[1].delivery, "x", {}, 0, 0));
  EXPECT_EQ(state.waiting(), 1u) << "not lost, not parked: tried again";
  (void)state.tick(10, 0);
  const auto again = state.deliver(10);
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].attempt, 2u);
}

TEST(GroupState, AGlobalOrderHasOneWorkerAndOneEventAtATime) {
  auto state = group_with({.order = GroupOrder::global}, {{1, 1}, {2, 2}});
  const auto a = state.join("a", 10, 0), b = state.join("b", 10, 0);
  auto out = state.deliver(0);
  ASSERT_THAT(out, SizeIs(1));
  EXPECT_EQ(out[0].worker, a);
  ASSERT_TRUE(state.acknowledge(out[0].position, out[0].delivery, 0));
  state.leave(a, 0);
  out = state.deliver(0);
  ASSERT_THAT(out, SizeIs(1));
  EXPECT_EQ(out[0].worker, b);
}

TEST(GroupState, CutBackBeginsAgainBehindWhatIsStillTrue) {
  auto state = group_with({}, {{1, 1}, {5, 2}, {9, 3}});
  (void)state.join("a", 10, 0);
  for (const auto& out : state.deliver(0)) {
    if (out.position.value == 9) {
      ASSERT_TRUE(state.acknowledge(out.position, out.delivery, 0));
    }
    if (out.position.value == 5) {
      ASSERT_TRUE(state.park(out.position, out.delivery, "x", 0, 0));
    }
  }
  state.cut_back(GlobalPosition(4), 0);
  EXPECT_EQ(state.read_to(), GlobalPosition(4));
  EXPECT_EQ(state.unsettled(), 1u);
  EXPECT_THAT(state.parked(), IsEmpty());
  const std::array other{GroupEvent{GlobalPosition(5), 9}};
  state.read(other, GlobalPosition(5), 0);
  EXPECT_THAT(positions_of(state.deliver(0)), ElementsAre(5));
}

}  // namespace
}  // namespace evershard::actors
