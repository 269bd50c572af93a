// The shard writers' rules by hand: one writer's node, or two, and a coordinator.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/actors/core/appends.hpp"
#include "tests/actors/core/writers_world.hpp"

namespace evershard::actors {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

TEST(ShardWriters, AnswersAnAppendOnceItsNodeHasAppliedTheCut) {
  WritersWorld world({});
  const auto client = world.send(one(aggregate_on(0, 2)).event(aggregate_on(0, 2), "Paid", ""));

  world.exchange();
  EXPECT_FALSE(world.answer(client));
  ASSERT_TRUE(world.make_cut());
  EXPECT_FALSE(world.answer(client));
  world.apply(0);

  ASSERT_TRUE(world.answer(client));
  EXPECT_EQ(position(world.answer(client)), 1u);
  EXPECT_EQ((**world.answer(client)).versions[0].version, SeqNr{2});
  EXPECT_TRUE(world.nodes[0].writers->idle());
}

TEST(ShardWriters, AppendsToAnAggregateOnTopOfWhatIsNotSyncedYet) {
  WritersWorld world({});
  const std::string order = aggregate_on(0, 2);
  std::vector<std::uint64_t> sent;
  for (std::uint64_t v = 0; v != 3; ++v) sent.push_back(world.send(one(order).expect(order, Version::exactly(v))));

  world.rest();

  for (std::uint64_t i = 0; i != 3; ++i) EXPECT_EQ(position(world.answer(sent[i])), i + 1);
  EXPECT_EQ(world.seen["appended"], 3);
}

TEST(ShardWriters, AcknowledgesAPlainAppendAsDurableWithoutACoordinator) {
  WritersWorld world({});
  world.lose_session(0);
  auto append = one(aggregate_on(0, 2));
  append.ack = Ack::durable;
  const auto durable = world.send(append);
  const auto ordered = world.send(one(aggregate_on(0, 2)));

  world.exchange();

  EXPECT_TRUE(world.answer(durable));
  EXPECT_TRUE(world.clients.at(durable).durable);
  EXPECT_FALSE(world.answer(ordered));
  EXPECT_THAT(world.reports, IsEmpty());
  world.rest();
  EXPECT_EQ(position(world.answer(ordered)), 2u);
}

TEST(ShardWriters, BoundsWhatWaitsForTheCoordinator) {
  WritersWorld::Options options;
  options.writers.unordered_bytes_max = 300;
  options.writers.report_events_max = 2;
  WritersWorld world(options);
  world.lose_session(0);
  std::vector<std::uint64_t> sent;
  for (int i = 0; i != 4; ++i) sent.push_back(world.send(one(aggregate_on(0, 2))));
  EXPECT_EQ(code(world.answer(sent[3])), ErrorCode::overloaded);
  world.write(0);

  world.begin_session(0);
  ASSERT_THAT(world.reports, SizeIs(2)) << "of two events and one";
  world.rest();

  EXPECT_EQ(position(world.answer(sent[2])), 3u);
  const auto later = world.send(one(aggregate_on(0, 2)));
  world.rest();
  EXPECT_EQ(position(world.answer(later)), 4u);
}

TEST(ShardWriters, GivesEveryAttemptOfARequestTheOneAnswer) {
  WritersWorld world({});
  const auto append = one(aggregate_on(0, 2)).expect(aggregate_on(0, 2), Version::none()).request(EventId::random());
  const auto first = world.send(append);
  const auto second = world.send(append);
  world.write(0);
  const auto third = world.send(append);
  world.rest();
  const auto late = world.send(append);

  for (const auto client : {first, second, third, late}) EXPECT_EQ(position(world.answer(client)), 1u);
  EXPECT_FALSE((**world.answer(first)).duplicate);
  EXPECT_TRUE((**world.answer(second)).duplicate);
  EXPECT_EQ(world.model.last(), GlobalPosition{1});
}

TEST(ShardWriters, AcknowledgesARetryAsDurableIfTheFirstAttemptIs) {
  WritersWorld world({});
  world.lose_session(0);
  auto append = one(aggregate_on(0, 2)).request(EventId::random());
  append.ack = Ack::durable;
  const auto first = world.send(append);
  world.write(0);
  const auto retry = world.send(append);

  ASSERT_TRUE(world.answer(first));
  ASSERT_TRUE(world.answer(retry));
  EXPECT_TRUE(world.clients.at(retry).durable);
  world.rest();
}

// Rule 14: whatever else there is to say of a request that is under way, it gets its answer.
TEST(ShardWriters, JoinsBeforeItRefuses) {
  WritersWorld world({});
  world.send(one(aggregate_on(0, 2, 1), "Placed", {"seat:1"}));
  world.rest();
  auto append = one(aggregate_on(0, 2)).request(EventId::random());
  const auto first = world.send(append);
  const auto retry = world.send(append.fail_if(Query{}.tags({"seat:1"})));

  EXPECT_FALSE(world.answer(retry));
  world.rest();
  EXPECT_EQ(position(world.answer(first)), 2u);
  EXPECT_EQ(position(world.answer(retry)), 2u);
}

TEST(ShardWriters, RefusesOtherContentUnderKnownIds) {
  WritersWorld world({});
  const auto id = EventId::random();
  const auto first = world.send(one(aggregate_on(0, 2)).request(id));
  auto other = one(aggregate_on(0, 2), "Paid").request(EventId::random());
  other.events[0].id = EventId::derived(id, 0);
  const auto second = world.send(other);

  world.rest();

  EXPECT_EQ(position(world.answer(first)), 1u);
  EXPECT_EQ(code(world.answer(second)), ErrorCode::duplicate_event);
}

// Nothing was stored under the id: the refusal of the one request says nothing of the other.
TEST(ShardWriters, DecidesOtherContentItselfWhereTheFirstIsRefused) {
  WritersWorld world({});
  const auto id = EventId::random();
  const auto first = world.send(one(aggregate_on(0, 2)).expect(aggregate_on(0, 2), Version::exactly(9)).request(id));
  auto other = one(aggregate_on(0, 2), "Paid").request(EventId::random());
  other.events[0].id = EventId::derived(id, 0);
  const auto second = world.send(other);

  world.rest();

  EXPECT_EQ(code(world.answer(first)), ErrorCode::version_conflict);
  EXPECT_EQ(position(world.answer(second)), 1u);
}

// Rule 19.
TEST(ShardWriters, AnswersARefusalWhenWhatItRestsOnIsOrdered) {
  WritersWorld world({});
  const std::string order = aggregate_on(0, 2);
  world.send(one(order));
  const auto refused = world.send(one(order).expect(order, Version::none()));

  world.exchange();
  EXPECT_FALSE(world.answer(refused)) << "the first event is durable and not ordered";
  world.make_cut();
  world.apply(0);

  EXPECT_EQ(code(world.answer(refused)), ErrorCode::version_conflict);
  EXPECT_EQ((*world.answer(refused)).error().details->actual, SeqNr{1});
}

TEST(ShardWriters, RefusesForWhatIsMissingAfterACutMadeSince) {
  WritersWorld world({});
  const std::string order = aggregate_on(0, 2);
  const auto refused = world.send(one(order).expect(order, Version::exists()));

  ASSERT_THAT(world.reports, SizeIs(1));
  EXPECT_THAT(world.reports[0].report.report.appends, IsEmpty());
  world.exchange();
  EXPECT_FALSE(world.answer(refused));
  world.make_cut();
  world.apply(0);

  EXPECT_EQ(code(world.answer(refused)), ErrorCode::version_conflict);
}

TEST(ShardWriters, DecidesAgainAfterTheCutWhatWasMissing) {
  WritersWorld world({});
  const std::string order = aggregate_on(0, 2);
  const auto waits = world.send(one(order).expect(order, Version::exactly(1)));
  world.send(one(order));

  world.rest();

  EXPECT_EQ(position(world.answer(waits)), 2u);
}

// Cut 2 was made before node 0 asks; that its shard is another's stands in cut 3.
TEST(ShardWriters, DoesNotTrustThePromiseOfAReplacedCoordinator) {
  WritersWorld world({.shards = 2, .nodes = 2});
  const std::string order = aggregate_on(0, 2);
  world.replace_coordinator();
  world.begin_session(1);
  world.send(one(aggregate_on(1, 2)));
  world.exchange();
  world.make_cut();  // 2
  world.move(ShardId{0}, 1);
  world.make_cut();  // 3
  world.apply(1);
  world.apply(1);
  const auto acknowledged = world.send(one(order));
  world.exchange();
  world.make_cut();  // 4
  world.apply(1);
  ASSERT_NE(position(world.answer(acknowledged)), 0u);

  const auto stale = world.send(0, one(order).expect(order, Version::exists()));
  world.nodes[0].session = true;  // with the replaced one, still
  world.nodes[0].coordinator = world.replaced->state().coordinator;
  WriterActions actions;
  world.nodes[0].writers->session_begun(actions);
  ASSERT_THAT(actions.reports, SizeIs(1));
  world.reports.push_back({0, world.nodes[0].life, world.nodes[0].coordinator, actions.reports[0]});
  ASSERT_TRUE(world.deliver_report(0, false, true)) << "the replaced one promises cut 2, which is stored";
  world.deliver_promise();
  world.apply(0);
  EXPECT_FALSE(world.answer(stale)) << "refused, although the event was acknowledged before it was sent";
  world.rest();

  EXPECT_EQ(code(world.answer(stale)), ErrorCode::fenced);
}

TEST(ShardWriters, DoesNotCountACutThatWasMadeBeforeTheAsking) {
  WritersWorld world({.shards = 2, .nodes = 2});
  const std::string order = aggregate_on(0, 2);
  world.send(one(aggregate_on(1, 2)));
  world.exchange();
  world.make_cut();  // 2
  const auto refused = world.send(one(order).expect(order, Version::exists()));
  world.deliver_report();
  world.deliver_promise();

  world.apply(0);
  EXPECT_FALSE(world.answer(refused));
  world.make_cut();
  world.apply(0);

  EXPECT_EQ(code(world.answer(refused)), ErrorCode::version_conflict);
}

TEST(ShardWriters, AnswersFencedAndShowsNothingOnceAnotherOwnsTheShard) {
  WritersWorld world({.shards = 2, .nodes = 2});
  const std::string order = aggregate_on(0, 2);
  world.move(ShardId{0}, 1);
  const auto written = world.send(0, one(order));
  const auto tentative = world.send(0, one(order).fail_if(Query{}.tags({"x"})));
  const auto waiting = world.send(0, one(order));
  world.write(0);

  world.rest();

  for (const auto client : {written, tentative, waiting}) EXPECT_EQ(code(world.answer(client)), ErrorCode::fenced);
  EXPECT_EQ(code(world.answer(world.send(0, one(order)))), ErrorCode::fenced);
  EXPECT_EQ(world.model.last(), GlobalPosition{0});
}

TEST(ShardWriters, LeavesBehindWhatWasWrittenAlone) {
  for (const bool on_disk : {false, true}) {
    WritersWorld world({.shards = 2, .nodes = 2});
    const ShardId shard{0};
    const auto sent = world.send(0, one(aggregate_on(0, 2)));
    ASSERT_TRUE(world.nodes[0].writers->any());
    if (on_disk) world.write(0);

    WriterActions fenced;
    world.nodes[0].writers->fence(shard, fenced);

    ASSERT_EQ(fenced.answers.size(), 1u);
    EXPECT_EQ(fenced.answers.front().client, sent);
    EXPECT_TRUE(world.nodes[0].writers->is_fenced(shard));
    EXPECT_EQ(world.nodes[0].writers->left_behind(shard), on_disk);
    EXPECT_FALSE(world.nodes[0].writers->any());
  }
}

TEST(ShardWriters, EndsEverythingAsOutcomeUnknownWhenAWriteFails) {
  WritersWorld world({});
  const std::string order = aggregate_on(0, 2);
  const auto request = EventId::random();
  const auto durable = world.send(one(order));
  world.write(0);
  const auto writing = world.send(one(order).request(request));
  const auto joined = world.send(one(order).request(request));
  world.close(0);
  const auto decided = world.send(one(order));
  const auto missing = world.send(one(order).expect(order, Version::exactly(9)));

  world.fail(0);

  EXPECT_EQ(code(world.answer(durable)), ErrorCode::timeout);
  EXPECT_EQ(code(world.answer(writing)), ErrorCode::timeout);
  EXPECT_EQ(code(world.answer(joined)), ErrorCode::timeout);
  EXPECT_EQ(code(world.answer(decided)), ErrorCode::io);
  EXPECT_EQ(code(world.answer(missing)), ErrorCode::io);
  EXPECT_EQ(code(world.answer(world.send(one(order)))), ErrorCode::io);
  EXPECT_TRUE(world.nodes[0].writers->idle());
}

TEST(ShardWriters, SaysWhoseAShardIs) {
  WritersWorld world({.shards = 2, .nodes = 2});
  EXPECT_EQ(code(world.answer(world.send(0, one(aggregate_on(1, 2))))), ErrorCode::wrong_shard);
  world.crash(0, CutNumber{0});
  EXPECT_EQ(code(world.answer(world.send(0, one(aggregate_on(0, 2))))), ErrorCode::unavailable);
  world.rest();
}

TEST(ShardWriters, TellsStreamsUnderOneHashApart) {
  WritersWorld world({.shards = 2, .nodes = 1, .term_mask = 1});
  std::vector<std::uint64_t> sent;
  for (int i = 0; i != 6; ++i)
    sent.push_back(world.send(one(aggregate_on(0, 2, i)).expect(aggregate_on(0, 2, i), Version::none())));
  world.rest();
  for (const auto client : sent) EXPECT_NE(position(world.answer(client)), 0u);
}

TEST(ShardWriters, GivesUpOnWhatIsNotDecidedInTime) {
  WritersWorld world({});
  const std::string order = aggregate_on(0, 2);
  const auto request = EventId::random();
  const auto written = world.send(one(order).fail_if(Query{}.tags({"x"})));
  const auto waiting = world.send(one(order).request(request));
  const auto joined = world.send(one(order).request(request));
  world.give_up(written);
  world.give_up(waiting);

  EXPECT_EQ(code(world.answer(written)), ErrorCode::timeout);
  EXPECT_EQ(code(world.answer(waiting)), ErrorCode::unavailable);
  world.rest();
  EXPECT_EQ(position(world.answer(joined)), 2u);
}

}  // namespace
}  // namespace evershard::actors
