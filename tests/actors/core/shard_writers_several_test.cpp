// Appends over several shards, of one node and of two: parts, crossings, what is asked for and lost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/actors/core/part_of.hpp"
#include "tests/actors/core/appends.hpp"
#include "tests/actors/core/writers_world.hpp"

namespace evershard::actors {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

Append on_both(const std::string& a, const std::string& b) {
  return one(a).event(b, "Placed", "").event(a, "Paid", "");
}

TEST(ShardWritersSeveral, PlacesTheEventsOfSeveralShardsTogetherInTheirOrder) {
  WritersWorld world({.shards = 2, .nodes = 1});
  const std::string a = aggregate_on(0, 2), b = aggregate_on(1, 2);
  world.send(one(b));
  const auto client =
      world.send(on_both(a, b).expect(a, Version::none()).expect(b, Version::exactly(1)).fail_if(Query{}.tags({"x"})));

  world.rest();

  EXPECT_EQ(position(world.answer(client)), 2u);
  EXPECT_THAT(world.parts, IsEmpty());
  EXPECT_EQ((**world.answer(client)).versions,
            (std::vector<AggregateVersion>{{*AggregateId::parse(a), SeqNr{2}}, {*AggregateId::parse(b), SeqNr{2}}}));
}

TEST(ShardWritersSeveral, AsksTheOwnersOfOtherShardsForTheirParts) {
  WritersWorld world({.shards = 2, .nodes = 2});
  const std::string a = aggregate_on(0, 2), b = aggregate_on(1, 2);
  world.send(one(b));
  world.rest();
  const auto client = world.send(on_both(a, b).expect(b, Version::exactly(1)));
  ASSERT_THAT(world.parts, SizeIs(1));
  EXPECT_EQ(world.parts[0].asked.part.runs,
            (std::vector<std::pair<ShardId, std::uint32_t>>{{ShardId{0}, 1}, {ShardId{1}, 1}, {ShardId{0}, 1}}));

  world.rest();

  EXPECT_EQ(position(world.answer(client)), 2u);
  EXPECT_EQ((**world.answer(client)).versions[1].version, SeqNr{2});
  EXPECT_FALSE((**world.answer(client)).duplicate);
}

TEST(ShardWritersSeveral, AnswersTheConflictThatAnotherOwnerFound) {
  WritersWorld world({.shards = 2, .nodes = 2});
  const std::string a = aggregate_on(0, 2), b = aggregate_on(1, 2);
  world.send(one(b));
  const auto high = world.send(on_both(a, b).expect(b, Version::none()));
  const auto low = world.send(one(aggregate_on(0, 2, 1))
                                  .event(aggregate_on(1, 2, 1), "Placed", "")
                                  .expect(aggregate_on(1, 2, 1), Version::exactly(4)));

  world.rest();

  EXPECT_EQ(code(world.answer(high)), ErrorCode::version_conflict);
  EXPECT_EQ((*world.answer(high)).error().details->actual, SeqNr{1});
  EXPECT_EQ(code(world.answer(low)), ErrorCode::version_conflict);
  EXPECT_EQ(world.model.last(), GlobalPosition{1});
}

// A part never waits: two appends that each hold what the other waits for would wait for each other.
TEST(ShardWritersSeveral, RefusesAPartThatWouldWaitAndTriesAgain) {
  WritersWorld world({.shards = 2, .nodes = 2});
  const std::string a = aggregate_on(0, 2), b = aggregate_on(1, 2);
  const auto first = world.send(one(a).event(b, "Placed", ""));
  const auto second = world.send(one(b).event(a, "Placed", ""));

  world.rest();

  EXPECT_GT(world.seen["part busy"], 0);
  EXPECT_GT(world.seen["refused by a cut"], 0);
  EXPECT_NE(position(world.answer(first)), 0u);
  EXPECT_NE(position(world.answer(second)), 0u);
  EXPECT_EQ(world.model.last(), GlobalPosition{4});
}

// All parts together, and by the shard of the first event alone: parts tried again one by one would chase each other.
TEST(ShardWritersSeveral, WaitsForEveryPartsAnswerBeforeItTriesAgain) {
  WritersWorld world({.shards = 2, .nodes = 2});
  const auto client = world.send(one(aggregate_on(0, 2)).event(aggregate_on(1, 2), "Placed", ""));
  const auto late = world.parts;
  world.parts.clear();
  world.exchange();
  while (world.make_cut()) world.apply(0);
  ASSERT_GT(world.seen["refused by a cut"], 0);
  EXPECT_FALSE(world.nodes[0].writers->any());

  world.parts = late;
  world.rest();
  EXPECT_EQ(position(world.answer(client)), 1u);
}

TEST(ShardWritersSeveral, DoesNotTryAPartAgainThatWasRefused) {
  WritersWorld world({.shards = 2, .nodes = 2});
  world.send(one(aggregate_on(0, 2)).event(aggregate_on(1, 2), "Placed", ""));
  world.deliver_part();
  world.crash(0, CutNumber{1});
  world.exchange();
  while (world.make_cut()) world.apply(1);

  ASSERT_GT(world.seen["refused by a cut"], 0);
  EXPECT_FALSE(world.nodes[1].writers->any());
  EXPECT_TRUE(world.nodes[1].writers->idle());
}

// Of two that cross, one is refused by the cut itself and tried again, unseen by its client.
TEST(ShardWritersSeveral, PlacesBothOfTwoThatCross) {
  WritersWorld world({.shards = 2, .nodes = 2});
  const auto first = world.send(one(aggregate_on(0, 2)).event(aggregate_on(1, 2), "Placed", ""));
  const auto second = world.send(one(aggregate_on(1, 2, 1)).event(aggregate_on(0, 2, 1), "Placed", ""));
  world.rest();
  EXPECT_GT(world.seen["refused by a cut"], 0);
  EXPECT_EQ(world.seen["part busy"], 0);
  EXPECT_NE(position(world.answer(first)), 0u);
  EXPECT_NE(position(world.answer(second)), 0u);
}

TEST(ShardWritersSeveral, AnswersUnavailableWhenAPartIsLostAndTheRestWasRefused) {
  WritersWorld world({.shards = 2, .nodes = 2});
  const auto client = world.send(one(aggregate_on(0, 2)).event(aggregate_on(1, 2), "Placed", ""));
  world.lose_part(0, false);

  world.exchange();
  EXPECT_FALSE(world.answer(client)) << "its own part is undecided: the other may have arrived";
  world.rest();

  EXPECT_EQ(code(world.answer(client)), ErrorCode::unavailable);
  EXPECT_EQ(world.model.last(), GlobalPosition{0});
}

TEST(ShardWritersSeveral, AnswersAsPlacedWhenOnlyTheAnswerWasLost) {
  WritersWorld world({.shards = 2, .nodes = 2});
  const auto client =
      world.send(one(aggregate_on(0, 2)).event(aggregate_on(1, 2), "Placed", "").request(EventId::random()), false);
  world.lose_part(0, true);

  world.rest();

  EXPECT_EQ(position(world.answer(client)), 1u);
  EXPECT_EQ((**world.answer(client)).versions[1].version, SeqNr{1});
  EXPECT_FALSE((**world.answer(client)).duplicate) << "it was found again, and is this attempt all the same";
}

// What node 1 said of the part was true, and of a part that a cut has refused since.
TEST(ShardWritersSeveral, AnswersTheVersionsOfThePartThatWasPlaced) {
  WritersWorld world({.shards = 2, .nodes = 2});
  const std::string a = aggregate_on(0, 2), b = aggregate_on(1, 2);
  const auto client = world.send(one(a).event(b, "Placed", ""));
  world.deliver_part(0, true);
  world.write(1);
  ASSERT_TRUE(world.deliver_reply());
  world.deliver_report();
  while (world.make_cut()) world.apply(1);
  ASSERT_GT(world.seen["refused by a cut"], 0);
  world.send(one(b));
  world.deliver_part();  // again, late
  world.write(1);
  world.write(0);
  while (world.deliver_report()) {
  }
  world.make_cut();
  while (world.apply(0)) {
  }
  world.rest();

  ASSERT_TRUE(world.answer(client));
  EXPECT_EQ((**world.answer(client)).versions[1].version, SeqNr{2});
}

TEST(ShardWritersSeveral, WritesAPartOnceHoweverOftenItIsAskedFor) {
  WritersWorld world({.shards = 2, .nodes = 2});
  for (const bool named : {true, false}) {
    const auto client = world.send(one(aggregate_on(0, 2)).event(aggregate_on(1, 2), "Placed", ""), named);
    world.deliver_part(0, true);
    world.deliver_part(0, true);
    EXPECT_EQ(world.nodes[1].writers->close().written.size(), 1u);
    world.crash(1, world.nodes[1].persisted);
    world.deliver_part(0, true);
    world.rest();
    static_cast<void>(client);
  }
  EXPECT_FALSE(testing::Test::HasFailure());
}

TEST(ShardWritersSeveral, KnowsAPartThatIsAskedForAfterItWasPlaced) {
  WritersWorld world({.shards = 2, .nodes = 2});
  world.send(one(aggregate_on(0, 2)).event(aggregate_on(1, 2), "Placed", ""), false);
  world.deliver_part(0, true);
  const auto late = world.parts[0];
  world.rest();
  ASSERT_EQ(world.model.last(), GlobalPosition{2});

  world.parts.push_back(late);
  world.deliver_part();

  EXPECT_FALSE(world.nodes[1].writers->any());
  EXPECT_EQ(world.replies.back().answer.kind, PartAnswer::Kind::known);
}

// Two requests under one name would be taken for contradicting parts of one, and the shard would be reported in vain
// for ever.
TEST(ShardWritersSeveral, NamesPartsByWhatTheyAreAndNotByTheFirstIdAlone) {
  WritersWorld world({.shards = 3, .nodes = 3});
  const auto id = EventId::random();
  auto first = one(aggregate_on(0, 3)).event(aggregate_on(2, 3), "Placed", "").request(EventId::random());
  auto second = one(aggregate_on(1, 3)).event(aggregate_on(2, 3, 1), "Placed", "").request(EventId::random());
  first.events[0].id = second.events[0].id = id;
  const auto a = world.send(first);
  const auto b = world.send(second);

  world.rest();

  EXPECT_NE(position(world.answer(a)), position(world.answer(b))) << "an id is one event's: one of them is refused";
  EXPECT_EQ(world.seen["duplicate_event"], 1);
  EXPECT_EQ(world.model.last(), GlobalPosition{2});
}

TEST(ShardWritersSeveral, IsNotAcknowledgedAsDurable) {
  WritersWorld world({.shards = 2, .nodes = 1});
  world.lose_session(0);
  auto append = one(aggregate_on(0, 2)).event(aggregate_on(1, 2), "Placed", "");
  append.ack = Ack::durable;
  const auto client = world.send(append);
  world.write(0);

  EXPECT_FALSE(world.answer(client));
  world.rest();
  EXPECT_EQ(position(world.answer(client)), 1u);
}

}  // namespace
}  // namespace evershard::actors
