// Conditional appends at the shard writers: tentative, waited for, confirmed, tried again (rules 15 to 18).

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/actors/core/appends.hpp"
#include "tests/actors/core/writers_world.hpp"

namespace evershard::actors {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

const Query seat = Query{}.tags({"seat:1"});

TEST(ShardWritersConditions, PlacesAnAppendWhoseConditionHoldsAndRefusesTheNext) {
  WritersWorld world({});
  const auto first = world.send(one(aggregate_on(0, 2), "Booked", {"seat:1"}).fail_if(seat));
  const auto second = world.send(one(aggregate_on(1, 2), "Booked", {"seat:1"}).fail_if(seat));

  world.rest();

  EXPECT_EQ(position(world.answer(first)), 1u);
  ASSERT_EQ(code(world.answer(second)), ErrorCode::condition_failed);
  EXPECT_EQ((*world.answer(second)).error().details->position, GlobalPosition{1});
  EXPECT_EQ(world.seen["confirmed"], 1);
}

// Rule 17.
TEST(ShardWritersConditions, NeverAcknowledgesATentativeAppendAsDurable) {
  WritersWorld world({});
  world.lose_session(0);
  auto append = one(aggregate_on(0, 2)).fail_if(seat).request(EventId::random());
  append.ack = Ack::durable;
  const auto client = world.send(append);
  world.write(0);
  const auto joined = world.send(append);

  EXPECT_FALSE(world.answer(client));
  EXPECT_FALSE(world.answer(joined));
  world.rest();
  EXPECT_EQ(position(world.answer(client)), 1u);
  EXPECT_EQ(position(world.answer(joined)), 1u);
}

// Rule 15.
TEST(ShardWritersConditions, MakesAppendsToAnAggregateWaitForTheVerdictInTheOrderTheyCame) {
  WritersWorld world({});
  const std::string order = aggregate_on(0, 2);
  const auto tentative = world.send(one(order).fail_if(seat));
  const auto second = world.send(one(order).expect(order, Version::exactly(1)));
  const auto third = world.send(one(order).expect(order, Version::exactly(2)));
  const auto other = world.send(one(aggregate_on(0, 2, 1)));

  EXPECT_EQ(world.nodes[0].writers->close().written.size(), 2u)
      << "the tentative one, and the one on another aggregate";
  static_cast<void>(other);
  world.fail(0);
  for (const auto client : {second, third}) EXPECT_EQ(code(world.answer(client)), ErrorCode::io);
  EXPECT_EQ(code(world.answer(tentative)), ErrorCode::timeout);

  WritersWorld again({});
  const auto a = again.send(one(order).fail_if(seat));
  const auto b = again.send(one(order).expect(order, Version::exactly(1)));
  const auto c = again.send(one(order).expect(order, Version::exactly(2)));
  again.rest();
  EXPECT_EQ(position(again.answer(a)), 1u);
  EXPECT_EQ(position(again.answer(b)), 2u);
  EXPECT_EQ(position(again.answer(c)), 3u);
}

TEST(ShardWritersConditions, LetsNobodyOvertakeWhoWaitsForTwoAggregates) {
  WritersWorld world({});
  const std::string held = aggregate_on(0, 2), free = aggregate_on(0, 2, 1);
  world.send(one(held).fail_if(seat));
  const auto waits_for_two = world.send(one(held).event(free, "Placed", ""));
  const auto later = world.send(one(free));

  world.rest();

  EXPECT_EQ(position(world.answer(waits_for_two)), 2u);
  EXPECT_EQ(position(world.answer(later)), 4u);
}

TEST(ShardWritersConditions, DoesNotMakeOthersWaitForWhoOnlyExpectsAVersion) {
  WritersWorld world({});
  const std::string account = aggregate_on(0, 2), order = aggregate_on(0, 2, 1), bill = aggregate_on(0, 2, 2);
  world.send(one(account));
  world.rest();
  world.send(one(order).expect(account, Version::exists()).fail_if(seat));
  world.send(one(bill).expect(account, Version::exists()).fail_if(seat));
  world.send(one(account));

  EXPECT_EQ(world.nodes[0].writers->close().written.size(), 3u);
}

// Who is ahead of the store sends the next append before he knows what became of the one before it.
TEST(ShardWritersConditions, RefusesWhatFollowsAnAppendThatWasRefused) {
  WritersWorld world({});
  const std::string order = aggregate_on(1, 2);
  world.send(one(aggregate_on(0, 2), "Booked", {"seat:1"}));
  const auto first =
      world.send(std::nullopt, one(order).expect(order, Version::none()).fail_if(seat), true, {77, false});
  const auto follows = world.send(std::nullopt, one(order).expect(order, Version::exactly(1)), true, {77, true});
  const auto other = world.send(one(order));  // makes the version that the second one expects

  world.rest();

  EXPECT_EQ(code(world.answer(first)), ErrorCode::condition_failed);
  EXPECT_EQ(position(world.answer(other)), 2u);
  ASSERT_EQ(code(world.answer(follows)), ErrorCode::version_conflict);
  EXPECT_THAT((*world.answer(follows)).error().what, testing::HasSubstr("of events that its writer has seen"));
}

TEST(ShardWritersConditions, BoundsWhoWaits) {
  WritersWorld::Options options;
  options.writers.waiting_max = 2;
  WritersWorld world(options);
  const std::string order = aggregate_on(0, 2);
  world.send(one(order).fail_if(seat));
  const auto second = world.send(one(order));
  const auto third = world.send(one(order));
  const auto fourth = world.send(one(order));

  EXPECT_EQ(code(world.answer(fourth)), ErrorCode::overloaded);
  world.rest();
  EXPECT_EQ(position(world.answer(second)), 2u);
  EXPECT_EQ(position(world.answer(third)), 3u);
}

// Rule 16.
TEST(ShardWritersConditions, RunsAConditionAsAQueryOnlyWhereItLiesBeforeTheWindow) {
  WritersWorld world({});
  world.send(one(aggregate_on(0, 2), "Booked", {"seat:1"}));
  world.rest();
  world.replace_coordinator();
  world.begin_session(0);
  world.send(one(aggregate_on(0, 2, 1)));
  world.exchange();
  world.make_cut();  // its window begins behind position 1
  world.apply(0);
  world.seen.clear();

  // What its node looked up before it heard of the window.
  auto attempt = world.model.attempt(1'000, one(aggregate_on(0, 2, 2)).fail_if(Query{}.tags({"seat:2"})));
  ASSERT_TRUE(world.model.look_up(*attempt, GlobalPosition{1}, false, GlobalPosition{0}));
  WriterActions actions;
  world.nodes[0].writers->take(attempt, actions);
  ASSERT_THAT(actions.look_ups, SizeIs(1));
  EXPECT_FALSE(actions.look_ups[0].confirm);
  EXPECT_FALSE(world.nodes[0].writers->any()) << "it would be refused as stale";

  ASSERT_TRUE(world.model.look_up(*attempt, GlobalPosition{2}, false, actions.look_ups[0].window_from));
  EXPECT_EQ(attempt->prepared.terms[0].from, GlobalPosition{2});
  world.nodes[0].writers->looked_up(attempt, std::optional<Appended>{}, actions);
  EXPECT_TRUE(world.nodes[0].writers->any());
}

TEST(ShardWritersConditions, RefusesAtOnceWhatAQueryMatches) {
  WritersWorld world({});
  world.send(one(aggregate_on(0, 2), "Booked", {"seat:1"}));
  world.rest();

  const auto client = world.send(one(aggregate_on(0, 2, 1)).fail_if(seat));

  EXPECT_EQ(code(world.answer(client)), ErrorCode::condition_failed);
  EXPECT_FALSE(world.nodes[0].writers->any());
}

// Rule 18.
TEST(ShardWritersConditions, TriesAgainWhatWasRefusedWithoutAMatch) {
  WritersWorld world({.shards = 2, .nodes = 1, .term_mask = 1});  // every term is one of two
  const auto plain = world.send(one(aggregate_on(0, 2), "Placed", {"a", "b", "c", "d"}));
  const auto wronged = world.send(one(aggregate_on(0, 2, 1)).fail_if(seat));

  world.rest();

  EXPECT_EQ(position(world.answer(plain)), 1u);
  EXPECT_EQ(position(world.answer(wronged)), 2u);
  EXPECT_GT(world.seen["refused by a cut"], 0);
  EXPECT_GT(world.seen["confirmed"], 0);
}

TEST(ShardWritersConditions, TriesAgainWhatANewCoordinatorCannotJudge) {
  WritersWorld world({});
  world.send(one(aggregate_on(0, 2)));
  const auto client = world.send(one(aggregate_on(0, 2, 1)).fail_if(seat));
  world.exchange();
  world.make_cut();
  world.apply(0);
  const auto second = world.send(one(aggregate_on(0, 2, 1)).fail_if(seat, GlobalPosition{1}));
  world.write(0);
  world.replace_coordinator();

  world.rest();

  EXPECT_EQ(position(world.answer(client)), 2u);
  EXPECT_EQ(position(world.answer(second)), 3u);
}

TEST(ShardWritersConditions, GivesUpOnWhatCollidesForEver) {
  WritersWorld::Options options;
  options.term_mask = 1;
  options.writers.tries_max = 3;
  WritersWorld world(options);
  const auto wronged = world.send(one(aggregate_on(0, 2, 1)).fail_if(seat));
  for (int round = 0; !world.answer(wronged); ++round) {
    ASSERT_LT(round, 20);
    world.send(one(aggregate_on(1, 2), "Placed", {"a", "b", "c", "d"}));
    world.write(0);
    // The plain one is cut first: shard 1 is reported, shard 0 is not yet.
    std::stable_sort(world.reports.begin(), world.reports.end(),
                     [](const auto& a, const auto& b) { return a.report.report.shard > b.report.report.shard; });
    if (world.deliver_report()) world.make_cut();
    world.exchange();
    world.make_cut();
    while (world.apply(0)) {
    }
  }
  EXPECT_EQ(code(world.answer(wronged)), ErrorCode::overloaded);
  world.rest();
}

// A guard on a shard that the append does not write to is a condition, and its refusal a version conflict.
TEST(ShardWritersConditions, HoldsWhatIsExpectedOfAnAggregateOnAnotherShardUntilItsPlace) {
  WritersWorld world({.shards = 2, .nodes = 2});
  const std::string account = aggregate_on(1, 2), order = aggregate_on(0, 2);
  world.send(one(account));
  world.rest();
  const auto held = world.send(one(order).expect(account, Version::exactly(1)));
  const auto between = world.send(one(account));
  world.write(1);
  while (world.deliver_report()) {
  }
  world.make_cut();  // the account moves before the other append is there

  world.rest();

  EXPECT_NE(position(world.answer(between)), 0u);
  ASSERT_EQ(code(world.answer(held)), ErrorCode::version_conflict);
  EXPECT_EQ((*world.answer(held)).error().details->actual, SeqNr{2});
  const auto now = world.send(one(order).expect(account, Version::exactly(2)));
  world.rest();
  EXPECT_EQ(position(world.answer(now)), 3u);
  EXPECT_EQ(world.seen["part placed"], 0);
}

// A retried conditional append would be refused by its own event.
TEST(ShardWritersConditions, AnswersARetryAsTheFirstTime) {
  WritersWorld world({});
  const auto append = one(aggregate_on(0, 2), "Booked", {"seat:1"})
                          .fail_if(seat)
                          .expect(aggregate_on(0, 2), Version::none())
                          .request(EventId::random());
  const auto first = world.send(append);
  world.exchange();
  const auto joined = world.send(append);
  // Looked up before the first attempt was placed, taken afterwards.
  auto late = world.model.attempt(1'000, append);
  ASSERT_TRUE(world.model.look_up(*late, GlobalPosition{0}, false, GlobalPosition{0}));
  world.rest();
  WriterActions actions;
  world.nodes[0].writers->take(late, actions);
  ASSERT_THAT(actions.look_ups, SizeIs(1));
  world.nodes[0].writers->looked_up(late, world.model.look_up(*late, world.model.last(), false, GlobalPosition{0}),
                                    actions);

  EXPECT_EQ(position(world.answer(first)), 1u);
  EXPECT_EQ(position(world.answer(joined)), 1u);
  ASSERT_THAT(actions.answers, SizeIs(1));
  EXPECT_EQ(actions.answers[0].result->first_position, GlobalPosition{1});
}

TEST(ShardWritersConditions, ReportsDigestsOfTentativeAppendsAndElseWhereTheyAreWanted) {
  WritersWorld world({});
  world.nodes[0].writers->announce(GlobalPosition{0}, false, true);
  world.send(one(aggregate_on(0, 2)), false);
  world.send(one(aggregate_on(0, 2, 1)).fail_if(seat), false);
  world.write(0);

  ASSERT_THAT(world.reports, SizeIs(1));
  const auto& appends = world.reports[0].report.report.appends;
  ASSERT_THAT(appends, SizeIs(2));
  EXPECT_THAT(appends[0].terms, IsEmpty());
  EXPECT_THAT(appends[1].terms, SizeIs(1));
  world.rest();
}

}  // namespace
}  // namespace evershard::actors
