// Ids over the shards of several nodes: one event's, one request's, and what is written on top of what waits for that.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/core/appends.hpp"
#include "tests/actors/core/writers_world.hpp"

namespace evershard::actors {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

ErrorCode refused(const WritersWorld& world, std::uint64_t client) {
  const auto& answer = world.answer(client);
  return answer && !*answer ? answer->error().code : ErrorCode{};
}

Append with_id(const std::string& aggregate, const EventId& id) {
  auto append = one(aggregate).request(EventId::random());
  append.events[0].id = id;
  return append;
}

TEST(ShardWritersNames, AnEventsIdIsOneEventsOverTheShardsOfSeveralNodes) {
  WritersWorld world({.shards = 2, .nodes = 2});
  const auto id = EventId::random();
  const auto first = world.send(with_id(aggregate_on(0, 2), id));
  const auto second = world.send(with_id(aggregate_on(1, 2), id));

  world.rest();

  EXPECT_EQ(world.model.last(), GlobalPosition{1});
  EXPECT_EQ(position(world.answer(first)), 1u);
  EXPECT_EQ(refused(world, second), ErrorCode::duplicate_event);
}

// The same request, its events made anew, for an aggregate elsewhere: its events lead to other ids, it to the same.
TEST(ShardWritersNames, ARequestIsOneRequestOverTheShardsOfSeveralNodes) {
  WritersWorld world({.shards = 2, .nodes = 2});
  const auto request = EventId::random();
  auto append = one(aggregate_on(0, 2)).request(request);
  append.events[0].id = EventId::random();
  world.send(append);
  world.write(0);
  ASSERT_THAT(world.reports, SizeIs(1));
  const auto& reported = world.reports[0].report.report.appends.at(0);

  ASSERT_THAT(reported.conditions, SizeIs(1));
  const auto key = sharding::TermHasher(0).id(storage::request_key(request, append.events[0].id));
  EXPECT_EQ(reported.terms.at(0).back(), key);
  EXPECT_THAT(reported.conditions[0].query.items.back().all, ElementsAre(key));
  world.rest();
}

// Nobody who gives no ids pays for those who do.
TEST(ShardWritersNames, WhatHasNoIdsOfItsOwnIsNotJudged) {
  WritersWorld world({});
  const auto client = world.send(one(aggregate_on(0, 2)), false);
  world.write(0);

  ASSERT_THAT(world.reports, SizeIs(1));
  EXPECT_FALSE(world.reports[0].report.report.appends[0].tentative);
  world.rest();
  EXPECT_EQ(position(world.answer(client)), 1u);
}

TEST(ShardWritersNames, AppendsToOneAggregateDoNotWaitForEachOthersVerdict) {
  WritersWorld world({});
  const std::string order = aggregate_on(0, 2);
  std::vector<std::uint64_t> clients;
  for (int i = 0; i != 5; ++i) clients.push_back(world.send(one(order)));
  clients.push_back(world.send(one(order).expect(order, Version::exactly(5)), false));
  world.write(0);

  ASSERT_THAT(world.reports, SizeIs(1));
  const auto& appends = world.reports[0].report.report.appends;
  ASSERT_THAT(appends, SizeIs(6));
  EXPECT_THAT(appends[0].builds_on, IsEmpty());
  for (std::size_t i = 1; i != 6; ++i) EXPECT_THAT(appends[i].builds_on, ElementsAre(ShardOffset{i}));
  world.exchange();
  world.make_cut();
  world.apply(0);
  for (std::size_t i = 0; i != 6; ++i) EXPECT_EQ(position(world.answer(clients[i])), i + 1);
  EXPECT_EQ(world.log.size(), 2u) << "one cut for all of them";
}

TEST(ShardWritersNames, WhatBuildsOnARefusedOneIsRefusedWithItAndTriedAgain) {
  WritersWorld world({.shards = 2, .nodes = 2});
  const std::string order = aggregate_on(0, 2);
  const auto id = EventId::random();
  world.send(with_id(aggregate_on(1, 2), id));
  world.write(1);
  world.deliver_report();
  world.make_cut();  // node 0 does not apply it before it has written
  const auto second = world.send(with_id(order, id));
  const auto third = world.send(one(order).expect(order, Version::none()), false);
  const auto fourth = world.send(one(order));

  world.rest();

  EXPECT_EQ(refused(world, second), ErrorCode::duplicate_event);
  EXPECT_EQ(position(world.answer(third)), 2u) << "what it expects was judged when that had its verdict";
  EXPECT_EQ(position(world.answer(fourth)), 3u);
  EXPECT_EQ(world.model.version(*AggregateId::parse(order), world.model.last()), SeqNr{2});
}

// Else whoever writes to several shards would never find those free that are written to all the time.
TEST(ShardWritersNames, APartIsBuiltOnWhatIsUndecidedThere) {
  WritersWorld world({.shards = 2, .nodes = 2});
  const std::string a = aggregate_on(0, 2), b = aggregate_on(1, 2);
  const auto first = world.send(one(b));
  world.write(1);
  const auto over_both = world.send(one(a).event(b, "Placed", "").expect(b, Version::exactly(1)));
  world.exchange();

  EXPECT_EQ(world.seen["part busy"], 0);
  EXPECT_EQ(world.seen["part written"], 1);
  world.make_cut();
  world.rest();
  EXPECT_EQ(position(world.answer(first)), 1u);
  EXPECT_EQ(position(world.answer(over_both)), 2u);
}

TEST(ShardWritersNames, NothingIsBuiltOnWhereTheCoordinatorDoesNotKnowOfIt) {
  WritersWorld world({});
  world.builds = false;
  world.begin_session(0);
  const std::string order = aggregate_on(0, 2);
  const auto first = world.send(one(order)), second = world.send(one(order));
  world.write(0);

  ASSERT_THAT(world.reports, SizeIs(1));
  EXPECT_THAT(world.reports[0].report.report.appends, SizeIs(1));
  world.rest();
  EXPECT_EQ(position(world.answer(first)), 1u);
  EXPECT_EQ(position(world.answer(second)), 2u);
}

// What was built before is to be refused by a coordinator that would place it.
TEST(ShardWritersNames, WhatIsBuiltIsRefusedByACoordinatorThatDoesNotKnowOfIt) {
  WritersWorld world({});
  const std::string order = aggregate_on(0, 2);
  world.lose_session(0);
  const auto first = world.send(one(order)), second = world.send(one(order));
  world.write(0);
  world.builds = false;
  world.begin_session(0);

  ASSERT_THAT(world.reports, SizeIs(1));
  const auto& appends = world.reports[0].report.report.appends;
  ASSERT_THAT(appends, SizeIs(2));
  EXPECT_THAT(appends[1].builds_on, IsEmpty());
  EXPECT_TRUE(appends[1].conditions.at(0).query.everything);
  world.rest();
  EXPECT_EQ(position(world.answer(first)), 1u);
  EXPECT_EQ(position(world.answer(second)), 2u);
}

// A disk does not say what builds on what: a version that does not join on to what is ordered does.
TEST(ShardWritersNames, WhatBuiltOnARefusedOneIsRefusedAfterARestartToo) {
  WritersWorld world({.shards = 2, .nodes = 2});
  const std::string order = aggregate_on(0, 2);
  const auto id = EventId::random();
  world.send(with_id(aggregate_on(1, 2), id));
  world.write(1);
  world.deliver_report();
  world.make_cut();
  world.send(with_id(order, id));
  world.write(0);
  world.send(one(order), false);  // nothing of its own is judged
  world.write(0);
  ASSERT_THAT(world.reports, SizeIs(2));
  world.deliver_report();  // of the second alone: the third is durable, and not reported
  world.reports.clear();
  world.make_cut();
  while (world.apply(0)) {
  }
  world.crash(0, world.nodes[0].writers->last_cut());
  world.replace_coordinator();

  world.rest();

  EXPECT_EQ(world.model.last(), GlobalPosition{1});
  EXPECT_EQ(world.seen["refused with its base"], 1);
}

}  // namespace
}  // namespace evershard::actors
