// Loading: what waits meanwhile, what fails, what is skipped.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/entity/one_shard.hpp"

namespace evershard::actors {
namespace {

using ::testing::HasSubstr;

TEST(EntityLoad, KeepsCommandsUntilItIsLoaded) {
  OneShard shard;
  for (int i = 0; i < 7; ++i) shard.journal.outside(one, "added", "1");
  const auto first = shard.ask("add a:1"), second = shard.ask("get");
  EXPECT_TRUE(shard.loads.empty()) << "a permit first";
  EXPECT_EQ(shard.permits, 1u);
  shard.permit();
  EXPECT_FALSE(shard.answered(second));

  shard.run();

  EXPECT_EQ(shard.answer(first).reply, "8/8");
  EXPECT_EQ(shard.answer(second).reply, "8/8");
  EXPECT_EQ(shard.permits_returned, 1u);
  EXPECT_EQ(shard.counters().replayed, 7u);
  EXPECT_EQ(shard.counters().stashed, 2u);
}

TEST(EntityLoad, RefusesAnEventOfUnknownTypeAndAnswersEverybody) {
  OneShard shard;
  shard.journal.outside(one, "added", "1");
  shard.journal.outside(one, "renamed", "1");
  const auto first = shard.ask("add a:1"), second = shard.ask("get");

  shard.run();

  for (const auto ticket : {first, second}) {
    EXPECT_EQ(shard.code(ticket), ErrorCode::corruption);
    EXPECT_THAT(shard.answer(ticket).error.what,
                HasSubstr("event 2 of \"counter-1\" cannot be applied: unknown event type"));
  }
  EXPECT_EQ(shard.table.live(), 0u);
  EXPECT_EQ(shard.permits_returned, 1u);
  EXPECT_EQ(shard.journal.events.size(), 2u);
}

TEST(EntityLoad, AnswersASickAggregateAtOnceForAWhile) {
  OneShard shard;
  shard.journal.outside(one, "renamed", "1");
  shard.get("get");
  shard.pass(std::chrono::milliseconds(0));

  const auto ticket = shard.ask("get");
  EXPECT_EQ(shard.permits, 0u);
  EXPECT_EQ(shard.code(ticket), ErrorCode::corruption);
  shard.pass(11s);
  EXPECT_EQ(shard.table.known(), 0u) << "and forgets it";
}

TEST(EntityLoad, AnswersUnavailableWhenTheJournalCannotBeReadAndTriesAgain) {
  OneShard shard;
  shard.journal.stream_fault = Error(ErrorCode::io, "a fault");
  EXPECT_EQ(shard.get("add a:1").error.code, ErrorCode::unavailable) << "nothing was written: not io";

  shard.journal.stream_fault.reset();
  const auto ticket = shard.ask("add a:1");
  shard.pass_and_run(1s);

  EXPECT_EQ(shard.answer(ticket).reply, "1/1");
}

TEST(EntityLoad, PausesLongerEachTimeItFails) {
  OneShard shard;
  shard.journal.stream_fault = Error(ErrorCode::unavailable, "a fault");
  std::uint64_t early = 0;
  for (int i = 0; i < 200; ++i) {
    shard.ask("get", {.timeout = 1h});
    shard.pass_and_run(100ms);
    if (i == 20) early = shard.counters().loads_failed;
  }

  EXPECT_GT(early, 2u);
  EXPECT_LT(shard.counters().loads_failed - early, 60u) << "180 chances";
}

TEST(EntityLoad, UsesASnapshotAndReplaysStrictlyBehindIt) {
  OneShard before;
  before.get("add a:5");
  before.get("snap b:5");
  before.get("add c:5");
  OneShard shard;
  shard.journal = before.journal;

  EXPECT_EQ(shard.get("get").reply, "15/3");
  EXPECT_EQ(shard.counters().replayed, 1u);
  EXPECT_EQ(shard.counters().snapshots_used, 1u);
}

TEST(EntityLoad, SkipsASnapshotItCannotUse) {
  OneShard before;
  before.get("add a:5");
  before.get("snap b:5");
  const std::vector<std::function<void(OneShard&)>> damages = {
      [](OneShard& shard) { shard.kind->revision = 2; },
      [](OneShard& shard) { shard.journal.snapshots[0].payload = "#"; },
      [](OneShard& shard) { shard.journal.snapshot_fault = Error(ErrorCode::corruption, "checksum"); },
      [](OneShard& shard) { shard.journal.snapshots[0].version = SeqNr{3}; },
      [](OneShard& shard) { shard.journal.snapshots[0].position = GlobalPosition{1}; },
      [](OneShard& shard) { shard.journal.snapshots[0].version = SeqNr{0}; },
  };
  for (std::size_t i = 0; i < damages.size(); ++i) {
    OneShard shard;
    shard.journal = before.journal;
    damages[i](shard);

    EXPECT_EQ(shard.get("get").reply, "10/2") << i;
    EXPECT_EQ(shard.counters().replayed, 2u) << i;
    EXPECT_EQ(shard.counters().snapshots_skipped, 1u) << i;
  }
}

TEST(EntityLoad, TriesNothingOnATruncatedStreamWithoutASnapshot) {
  OneShard shard;
  shard.get("add a:5");
  shard.passivate();
  shard.journal.events[0].state = EventState::removed;
  shard.journal.events[0].payload.clear();

  EXPECT_EQ(shard.get("get").error.code, ErrorCode::not_found);
}

TEST(EntityLoad, GivesUpOnALoadThatNeverAnswers) {
  OneShard shard({.journal_timeout = 5s});
  const auto ticket = shard.ask("get", {.timeout = 1h});
  shard.permit();
  auto lost = std::move(shard.loads.front());
  shard.loads.clear();

  shard.pass(6s);
  EXPECT_EQ(shard.code(ticket), ErrorCode::unavailable);
  EXPECT_EQ(shard.permits_returned, 1u);
  shard.table.loaded(lost.op, replay(*lost.kind, shard.journal, one), shard.now, shard.actions);
  EXPECT_EQ(shard.table.live(), 0u);
  EXPECT_EQ(shard.counters().late, 1u);
}

TEST(EntityLoad, ReadsAgainWhatMayHaveGoneWhileItRead) {
  OneShard shard;
  shard.get("add a:5");
  shard.passivate();
  const auto ticket = shard.ask("get");
  shard.permit();
  auto before = std::move(shard.loads.front());
  shard.loads.clear();
  auto as_it_was = replay(*before.kind, shard.journal, one);
  shard.journal.outside(one, "added", "2");

  shard.passivate();
  shard.table.loaded(before.op, std::move(as_it_was), shard.now, shard.actions);
  shard.absorb();
  shard.run();

  EXPECT_EQ(shard.answer(ticket).reply, "7/2");
  EXPECT_EQ(shard.permits_returned, 3u);
  EXPECT_EQ(shard.counters().late, 1u);
}

TEST(EntityLoad, WantsNothingMoreWhenNobodyWaits) {
  OneShard shard;
  const auto ticket = shard.ask("get", {.timeout = 1s});
  shard.pass(2s);
  EXPECT_EQ(shard.code(ticket), ErrorCode::unavailable);

  shard.permit();

  EXPECT_TRUE(shard.loads.empty());
  EXPECT_EQ(shard.permits_returned, 1u);
  EXPECT_EQ(shard.table.known(), 0u);
}

}  // namespace
}  // namespace evershard::actors
