// Snapshots: when they are taken, and that they never stand in the way.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/entity/one_shard.hpp"

namespace evershard::actors {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::uint64_t> versions_of(const SmallJournal& journal) {
  std::vector<std::uint64_t> versions;
  for (const auto& snapshot : journal.snapshots) versions.push_back(snapshot.version.value);
  return versions;
}

TEST(EntitySnapshot, IsTakenEveryFewEventsWithTheAppendThatReachesTheNumber) {
  OneShard shard;
  shard.kind->retained.snapshot_every = 3;

  for (int i = 0; i < 4; ++i) shard.get("twice a:1");

  EXPECT_THAT(versions_of(shard.journal), ElementsAre(4, 8)) << "never in the middle of a command";
  EXPECT_EQ(shard.journal.snapshots[1].payload, "8/8");
}

TEST(EntitySnapshot, IsCountedOverAppendsUnderWay) {
  OneShard shard;
  shard.kind->retained.snapshot_every = 3;
  shard.get("noop");
  for (int i = 0; i < 7; ++i) shard.ask("add a:1");

  shard.run();

  EXPECT_THAT(versions_of(shard.journal), ElementsAre(3, 6));
}

TEST(EntitySnapshot, IsTakenWhenTheHandlerAsksForIt) {
  OneShard shard;
  shard.kind->retained.keep = 2;
  shard.get("add a:1");
  shard.get("snap b:1");

  EXPECT_THAT(versions_of(shard.journal), ElementsAre(2));
  EXPECT_EQ(shard.journal.appends[1].snapshots[0].keep, 2u);
  EXPECT_EQ(shard.journal.appends[1].snapshots[0].schema_revision, 1u);
}

TEST(EntitySnapshot, IsTakenAfterALongReplayWithTheNextEvents) {
  OneShard shard;
  for (int i = 0; i < 251; ++i) shard.journal.outside(one, "added", "1");
  shard.get("get");
  EXPECT_THAT(shard.journal.snapshots, IsEmpty());
  shard.get("add a:1");
  shard.get("add a:1");
  EXPECT_THAT(versions_of(shard.journal), ElementsAre(252));

  const AggregateId other{"counter", "2"};
  for (int i = 0; i < 250; ++i) shard.journal.outside(other, "added", "1");
  shard.get("add a:1", {.aggregate = other});
  EXPECT_THAT(versions_of(shard.journal), ElementsAre(252)) << "more than 250";
}

TEST(EntitySnapshot, IsTakenOnDemandOnceWhatItSawIsDurable) {
  OneShard shard;
  shard.get("noop");
  shard.ask("add a:5");
  const auto ticket = shard.ask("", {.kind = AskKind::snapshot});
  shard.ask("add b:5");
  EXPECT_THAT(shard.snapshots, IsEmpty());

  shard.run();

  EXPECT_EQ(shard.answer(ticket), AnyAnswer::replied("", SeqNr{1}, GlobalPosition{0}));
  EXPECT_THAT(versions_of(shard.journal), ElementsAre(1));
  EXPECT_EQ(shard.journal.snapshots[0].payload, "5/1");
}

TEST(EntitySnapshot, SaysWhyItCannotBeTakenOnDemand) {
  OneShard shard({}, {.snapshot_bytes_max = 100});
  EXPECT_EQ(shard.get("", {.kind = AskKind::snapshot}).error.code, ErrorCode::not_found);
  shard.get("add a:5");
  shard.journal.put_fault = Error(ErrorCode::io, "a fault");
  EXPECT_EQ(shard.get("", {.kind = AskKind::snapshot}).error.code, ErrorCode::io);
  shard.kind->padding = 100;
  EXPECT_EQ(shard.get("", {.kind = AskKind::snapshot}).error.code, ErrorCode::too_large);
  EXPECT_EQ(shard.get("get").reply, "5/1");
}

TEST(EntitySnapshot, NeverFailsTheAppendThatCausedIt) {
  const std::vector<std::function<void(CounterKind&)>> faults = {
      [](CounterKind& kind) { kind.encodes = false; },
      [](CounterKind& kind) { kind.padding = 200; },                            // over snapshot_bytes_max
      [](CounterKind& kind) { kind.padding = 120; },                            // over append_bytes_max, with the event
      [](CounterKind& kind) { kind.retained.ttl = std::chrono::seconds(-1); },  // refused by the store
  };
  for (std::size_t i = 0; i < faults.size(); ++i) {
    OneShard shard({}, {.snapshot_bytes_max = 150, .append_bytes_max = 160});
    faults[i](*shard.kind);

    EXPECT_EQ(shard.get("snap a:1").reply, "1/1") << i;

    EXPECT_THAT(shard.journal.appends[0].snapshots, IsEmpty()) << i;
    EXPECT_EQ(shard.counters().snapshots_dropped, 1u) << i;
  }
}

TEST(EntitySnapshot, IsNotTriedAgainWithEveryCommandWhereItIsTooLarge) {
  OneShard shard({}, {.snapshot_bytes_max = 100});
  shard.kind->retained.snapshot_every = 5;
  shard.kind->padding = 200;

  for (int i = 0; i < 10; ++i) shard.get("add a:1");

  EXPECT_EQ(shard.counters().snapshots_dropped, 2u);
}

// What an aggregate has in memory may be erased in the store.
TEST(EntityErasure, WhatIsDecidedOverWhatIsErasedIsDecidedAgain) {
  OneShard shard;
  EXPECT_EQ(shard.get("add a:1").reply, "1/1");
  shard.journal.erased = 1;

  const auto first = shard.ask("add a:2"), second = shard.ask("add a:3");
  shard.run();

  EXPECT_EQ(shard.answer(first).reply, "3/2");
  EXPECT_EQ(shard.answer(second).reply, "6/3");
  EXPECT_EQ(shard.table.counters().loads, 2u);
}

TEST(EntityErasure, ASnapshotIsOfAStateThatIsLoadedAnew) {
  OneShard shard;
  shard.get("add a:1");
  const auto ticket = shard.ask("", {.kind = AskKind::snapshot});
  shard.journal.erased = 1;
  shard.run();

  EXPECT_EQ(shard.answer(ticket).kind, AnswerKind::replied);
  EXPECT_THAT(versions_of(shard.journal), ElementsAre(1));
  EXPECT_EQ(shard.table.counters().loads, 2u);
  EXPECT_EQ(shard.get("add a:1").reply, "2/2");
}

TEST(EntityErasure, StatesOfSomebodyLeaveMemory) {
  OneShard shard;
  const AggregateId of_nobody{"counter", "2"};
  shard.get("add a:1");
  shard.get("add a:1", {.aggregate = of_nobody});
  shard.journal.events.front().subject = "ada";
  shard.table.passivate(one, shard.now, shard.actions);
  shard.absorb();
  shard.get("get");
  ASSERT_EQ(shard.table.live(), 2u);
  const auto loads = shard.table.counters().loads;

  shard.table.passivate_of_subjects(shard.now, shard.actions);
  shard.absorb();

  EXPECT_EQ(shard.table.live(), 1u);
  EXPECT_EQ(shard.get("get", {.aggregate = of_nobody}).reply, "1/1");
  EXPECT_EQ(shard.table.counters().loads, loads);
  EXPECT_EQ(shard.get("get").reply, "1/1");
  EXPECT_EQ(shard.table.counters().loads, loads + 1);
}

TEST(EntityErasure, WhatIsJustBeingLoadedIsReadOnceMore) {
  OneShard shard;
  shard.get("add a:1");
  shard.table.passivate(one, shard.now, shard.actions);
  shard.absorb();
  const auto ticket = shard.ask("get");
  shard.permit();
  ASSERT_EQ(shard.loads.size(), 1u);
  shard.table.passivate_of_subjects(shard.now, shard.actions);
  shard.absorb();
  shard.load();
  EXPECT_FALSE(shard.answered(ticket)) << "it was read before";
  shard.run();
  EXPECT_EQ(shard.answer(ticket).reply, "1/1");
}

}  // namespace
}  // namespace evershard::actors
