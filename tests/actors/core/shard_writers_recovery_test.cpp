// The shard writers of a node that begins again: rebuilt from what its disk holds and no cut covers.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/core/appends.hpp"
#include "tests/actors/core/writers_world.hpp"

namespace evershard::actors {
namespace {

const Query seat_taken = Query{}.tags({"seat_taken:1"});

// A node begins again at the first cut, and applies it and what follows.
void restart(WritersWorld& world, std::uint32_t node = 0) {
  world.crash(node, world.nodes[node].writers->last_cut());
  world.begin_session(node);
  while (world.apply(node)) {
  }
  for (std::uint32_t s = 0; s != world.options.shards; ++s) {
    if (world.owners[s] == node) world.open(ShardId{static_cast<std::uint16_t>(s)}, node);
  }
  world.make_cut();
  world.apply(node);
}

TEST(ShardWritersRecovery, ReportsAndOrdersWhatWasDurable) {
  WritersWorld world({});
  const std::string order = aggregate_on(0, 2);
  auto append = one(order).request(EventId::random());
  append.ack = Ack::durable;
  world.lose_session(0);
  world.send(append);
  world.write(0);
  world.send(one(order));  // not written

  restart(world);
  const auto next = world.send(one(order).expect(order, Version::exactly(1)));
  const auto again = world.send(append);
  append.ack = Ack::ordered;
  const auto retry = world.send(append);
  EXPECT_TRUE(world.clients.at(again).durable);
  world.rest();

  EXPECT_EQ(position(world.answer(retry)), 1u);
  EXPECT_EQ(position(world.answer(next)), 2u);
  EXPECT_EQ(world.model.last(), GlobalPosition{2});
}

TEST(ShardWritersRecovery, WaitsForTheVerdictOnWhatWasTentative) {
  WritersWorld world({});
  const std::string order = aggregate_on(0, 2);
  const auto append = one(order, "Booked", {"seat_taken:1"}).fail_if(seat_taken).request(EventId::random());
  world.lose_session(0);
  world.send(append);
  world.write(0);

  world.crash(0, CutNumber{1});
  world.begin_session(0);
  world.open(ShardId{0}, 0);
  world.open(ShardId{1}, 0);
  world.make_cut();
  world.apply(0);
  const auto waits = world.send(one(order).expect(order, Version::exactly(1)));
  const auto retry = world.send(append);
  EXPECT_FALSE(world.nodes[0].writers->any());
  world.rest();

  EXPECT_EQ(position(world.answer(retry)), 1u);
  EXPECT_EQ(position(world.answer(waits)), 2u);
}

TEST(ShardWritersRecovery, LetsARetryGoOnWhereTheRecoveredAttemptWasRefused) {
  WritersWorld world({.shards = 2, .nodes = 2});
  const auto append = one(aggregate_on(0, 2)).event(aggregate_on(1, 2), "Placed", "").request(EventId::random());
  world.send(append);
  world.write(0);
  world.parts.clear();  // the other part is never written

  restart(world);
  const auto retry = world.send(append);
  world.rest();

  EXPECT_GT(world.seen["refused by a cut"], 0);
  EXPECT_EQ(position(world.answer(retry)), 1u);
}

TEST(ShardWritersRecovery, CompletesAnAppendOverSeveralShardsWhoseNodesBeginAgain) {
  WritersWorld world({.shards = 2, .nodes = 2});
  const auto append = one(aggregate_on(0, 2)).event(aggregate_on(1, 2), "Placed", "").request(EventId::random());
  world.send(append);
  world.deliver_part();
  world.write(0);
  world.write(1);
  world.reports.clear();

  restart(world, 0);
  restart(world, 1);
  world.rest();
  const auto retry = world.send(append);

  EXPECT_EQ(position(world.answer(retry)), 1u);
}

TEST(ShardWritersRecovery, KnowsAgainWhatCutsPlacedThatItHadNotApplied) {
  WritersWorld world({});
  const auto append = one(aggregate_on(0, 2)).expect(aggregate_on(0, 2), Version::none()).request(EventId::random());
  const auto first = world.send(append);
  world.write(0);
  world.exchange();
  world.make_cut();
  world.apply(0);
  ASSERT_EQ(position(world.answer(first)), 1u);

  world.crash(0, CutNumber{1});
  world.rest();
  const auto retry = world.send(append);
  world.rest();

  EXPECT_EQ(position(world.answer(retry)), 1u);
}

// An aggregate is loaded when nothing of it can still come: neither what an earlier process wrote, nor what nobody
// waits for any more.
TEST(ShardWritersRecovery, SaysWhenAnAggregateIsSettled) {
  WritersWorld world({});
  const std::string order = aggregate_on(0, 2);
  const auto settled = [&](const std::string& text) {
    return !world.nodes[0].writers->settled_at(ShardId{0}, sharding::TermHasher(7).aggregate(text), text).has_value();
  };
  EXPECT_TRUE(settled(order));
  world.send(one(order));
  EXPECT_FALSE(settled(order)) << "decided";
  EXPECT_TRUE(settled(aggregate_on(0, 2, 1))) << "another one";
  world.write(0);
  world.send(one(order).fail_if(Query{}.tags({"x"})));

  restart(world);
  EXPECT_FALSE(settled(order)) << "recovered, and not ordered";
  const auto at =
      world.nodes[0].writers->settled_at(ShardId{0}, sharding::TermHasher(7).aggregate(order), order).value();
  EXPECT_LT(world.nodes[0].writers->ordered(ShardId{0}), at);
  world.rest();

  EXPECT_TRUE(settled(order));
  EXPECT_GE(world.nodes[0].writers->ordered(ShardId{0}), at);
}

// What is not synced may be gone when the opening comes.
TEST(ShardWritersRecovery, IsOpenedUpToWhatIsDurable) {
  WritersWorld world({});
  world.send(one(aggregate_on(0, 2)));
  world.write(0);
  world.send(one(aggregate_on(0, 2)));
  world.open(ShardId{0}, 0);

  world.crash(0, CutNumber{1});
  world.rest();

  EXPECT_EQ(world.model.last(), GlobalPosition{1});
  EXPECT_TRUE(world.nodes[0].writers->is_open(ShardId{0}));
}

// A disk that is older than the cuts: loudly, and nothing of it is served.
TEST(ShardWritersRecovery, RefusesAShardThatHasLostWhatACutCovers) {
  const Epoch epoch{2};
  ShardWriters writers({CutNumber{1}, GlobalPosition{0}, {{ShardId{0}, epoch, ShardOffset{1}}}, {}}, {.node = 0});
  sharding::Cut cut{
      CutNumber{2}, Epoch{1}, GlobalPosition{1}, {{ShardId{0}, epoch, ShardOffset{1}, ShardOffset{3}, {}}}, {}};
  WriterActions actions;

  writers.apply(cut, actions);

  ASSERT_EQ(actions.lost.size(), 1u);
  EXPECT_EQ(actions.lost[0].second.code, ErrorCode::corruption);
  OrderedModel model(1, ~std::uint64_t{0});
  auto attempt = model.attempt(7, one("order-1"));
  writers.take(attempt, actions);
  ASSERT_EQ(actions.answers.size(), 1u);
  EXPECT_EQ(actions.answers[0].result.error().code, ErrorCode::corruption);
}

TEST(ShardWritersRecovery, RefusesAShardThatWasOpenedUpToMoreThanIsHere) {
  ShardWriters writers({CutNumber{0}, GlobalPosition{0}, {{ShardId{0}, Epoch{1}, ShardOffset{1}}}, {}}, {.node = 3});
  sharding::Cut cut{CutNumber{1}, Epoch{1}, GlobalPosition{1}, {}, {{ShardId{0}, Epoch{2}, 3, ShardOffset{9}}}};
  WriterActions actions;

  writers.apply(cut, actions);

  EXPECT_EQ(actions.lost.size(), 1u);
  EXPECT_FALSE(writers.is_open(ShardId{0}));
}

}  // namespace
}  // namespace evershard::actors
