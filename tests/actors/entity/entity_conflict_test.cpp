// Somebody else appends to the aggregate, or before a decision model: reload and decide again, or say so; never fork.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/entity/one_shard.hpp"

namespace evershard::actors {
namespace {

using ::testing::ElementsAre;

TEST(EntityConflict, ReloadsAndDecidesAgainInOrder) {
  OneShard shard;
  shard.get("add a:5");
  const auto first = shard.ask("take b:5"), query = shard.ask("get"), second = shard.ask("add c:1");
  shard.journal.outside(one, "taken", "x:3");

  shard.run();

  EXPECT_EQ(shard.answer(first), AnyAnswer::rejected("only 2/2", SeqNr{2})) << "decided again, on what is there";
  EXPECT_EQ(shard.answer(query).reply, "2/2");
  EXPECT_EQ(shard.answer(second).reply, "3/3");
  EXPECT_THAT(shard.journal.payloads(one), ElementsAre("a:5", "x:3", "c:1"));
  EXPECT_EQ(shard.counters().conflicts, 1u);
}

// The version a later append expects can hold by chance: somebody else's event stands where ours was to stand.
TEST(EntityConflict, NeverForksWhenTheVersionHoldsByChance) {
  OneShard shard;
  shard.get("add a:5");
  const auto first = shard.ask("take b:5"), second = shard.ask("add c:100");
  shard.journal.outside(one, "taken", "x:5");
  ASSERT_EQ(shard.sends[1].append.expectations[0].version, ExpectedVersion::exactly(2));
  ASSERT_EQ(shard.journal.version(one), SeqNr{2});

  shard.run();

  EXPECT_EQ(shard.answer(first).kind, AnswerKind::rejected);
  EXPECT_EQ(shard.answer(second).reply, "100/3") << "not 105 - 5 over a history that never was";
}

TEST(EntityConflict, WaitsForAllThatIsUnderWayBeforeItReloads) {
  OneShard shard;
  shard.get("add a:5");
  const auto first = shard.ask("add b:1"), second = shard.ask("add c:1");
  auto a = shard.sends[0], b = shard.sends[1];
  shard.sends.clear();

  // The second was looked at first: prepared again, the first comes behind it.
  shard.answer_append(b.op, shard.journal.write(b.append, b.chain));
  EXPECT_EQ(shard.permits, 0u) << "the first may still be written";
  shard.answer_append(a.op, shard.journal.write(a.append, a.chain));
  shard.run();

  EXPECT_EQ(shard.answer(first).reply, "6/2");
  EXPECT_EQ(shard.answer(second).reply, "7/3");
}

TEST(EntityConflict, SaysSoWhenOthersAreAlwaysFaster) {
  OneShard shard({.conflict_retries = 3});
  shard.get("add a:5");
  const auto ticket = shard.ask("add b:1", {.timeout = 1h});

  for (int i = 0; i < 4; ++i) {
    ASSERT_FALSE(shard.answered(ticket));
    shard.journal.outside(one, "added", "x:1");
    shard.write();
    shard.run_reads();
    shard.pass(1s);
    shard.run_reads();
  }

  EXPECT_EQ(shard.code(ticket), ErrorCode::version_conflict);
  EXPECT_EQ(shard.get("add c:1").reply, "10/6");
}

TEST(EntityConflict, ChargesAConflictToTheFirstOnly) {
  OneShard shard({.conflict_retries = 1});
  shard.get("noop");
  const auto first = shard.ask("add a:1"), second = shard.ask("add b:1"), third = shard.ask("add c:1");

  for (int i = 0; i < 3; ++i) {
    shard.journal.outside(one, "added", "x:1");
    while (!shard.sends.empty()) shard.write();
    shard.run_reads();
  }
  shard.run();

  EXPECT_EQ(shard.code(first), ErrorCode::version_conflict);
  EXPECT_EQ(shard.answer(second).reply, "4/4");
  EXPECT_EQ(shard.answer(third).reply, "5/5");
}

TEST(EntityConflict, ReadsADecisionModelOnlyWhenItsOwnWritesAreDurable) {
  OneShard shard;
  shard.get("book a:2");
  const auto own = shard.ask("book b:2");
  ASSERT_EQ(shard.reads.size(), 1u);
  shard.read();
  const auto ticket = shard.ask("book c:2"), behind = shard.ask("get");
  EXPECT_TRUE(shard.reads.empty());

  shard.write();
  EXPECT_EQ(shard.answer(own).kind, AnswerKind::replied);
  ASSERT_EQ(shard.reads.size(), 1u);
  EXPECT_EQ(shard.reads[0].at_least, GlobalPosition{2});
  EXPECT_FALSE(shard.answered(behind)) << "in order";
  shard.run();

  EXPECT_EQ(shard.answer(ticket).rejection, "full: 2");
  EXPECT_EQ(shard.answer(behind).reply, "0/2");
}

TEST(EntityConflict, DecidesAgainWhenItsDecisionModelWasOutdated) {
  OneShard shard;
  const auto ticket = shard.ask("book a:2");
  shard.run_reads();
  ASSERT_EQ(shard.sends.size(), 1u);
  ASSERT_EQ(shard.sends[0].append.conditions.size(), 1u);
  EXPECT_EQ(shard.sends[0].append.conditions[0].after, GlobalPosition{0});
  shard.journal.outside({"counter", "2"}, "booked", "", {"seat"});

  shard.pass_and_run(1s);

  EXPECT_EQ(shard.answer(ticket).kind, AnswerKind::replied);
  EXPECT_EQ(shard.journal.appends.back().conditions[0].after, GlobalPosition{1});
  EXPECT_EQ(shard.counters().condition_retries, 1u);
}

TEST(EntityConflict, GivesUpAfterFourRetriesOfADecisionModel) {
  OneShard shard;
  const auto ticket = shard.ask("book a:100");
  const SteadyTime begun = shard.now;

  int tries = 0;
  for (; !shard.answered(ticket) && tries < 20; ++tries) {
    shard.run_reads();
    while (shard.sends.empty()) {
      ASSERT_FALSE(shard.answered(ticket));
      ASSERT_LE(shard.table.wake_at(), shard.now + 500ms);
      shard.pass(shard.table.wake_at() - shard.now > 1ms ? 10ms : 1ms);
      shard.run_reads();
    }
    shard.journal.outside({"counter", "2"}, "booked", "", {"seat"});
    shard.write();
  }

  EXPECT_EQ(tries, 5);
  EXPECT_EQ(shard.code(ticket), ErrorCode::condition_failed);
  EXPECT_LT(shard.now - begun, 710ms) << "10, 40, 160 and 500 ms at most";
  shard.run();
  EXPECT_EQ(shard.get("add a:1").reply, "1/1");
}

TEST(EntityConflict, FoldsAllPagesOfADecisionModelUpToOnePosition) {
  OneShard shard;
  for (int i = 0; i < 8; ++i) shard.journal.outside({"counter", "2"}, "booked", "", {"seat"});

  EXPECT_EQ(shard.get("book a:8").rejection, "full: 8");
  EXPECT_EQ(shard.get("book a:9").kind, AnswerKind::replied);
  ASSERT_EQ(shard.journal.appends.back().conditions.size(), 1u);
  EXPECT_EQ(shard.journal.appends.back().conditions[0].after, GlobalPosition{8});
}

TEST(EntityConflict, AnswersWhenADecisionModelCannotBeRead) {
  OneShard shard;
  shard.journal.query_fault = Error(ErrorCode::io, "a fault");

  const auto answer = shard.get("book a:8");

  EXPECT_EQ(answer.error.code, ErrorCode::unavailable) << "nothing was written: not io, not timeout";
  EXPECT_EQ(shard.get("add a:1").reply, "1/1");
}

TEST(EntityConflict, AnswersTimeoutWhereTheOutcomeIsUnknownAndUnavailableElsewhere) {
  for (const auto code : {ErrorCode::timeout, ErrorCode::io, ErrorCode::unavailable}) {
    OneShard shard({.in_flight_max = 2});
    shard.get("add a:5");
    const auto lost = shard.ask("add b:1"), sent = shard.ask("add c:1"), query = shard.ask("get"),
               waiting = shard.ask("add d:1");

    shard.write_and_lose(code);
    EXPECT_EQ(shard.code(lost), ErrorCode::timeout);
    EXPECT_FALSE(shard.answered(sent)) << "its own result is still to come";
    shard.write();

    EXPECT_EQ(shard.answer(sent).reply, "7/3") << "it was written, and so was the lost one";
    EXPECT_EQ(shard.code(query), ErrorCode::unavailable);
    EXPECT_EQ(shard.code(waiting), ErrorCode::unavailable);
    EXPECT_EQ(shard.counters().outcomes_unknown, 1u);
  }
}

TEST(EntityConflict, ReloadsAfterAPauseAndNeverGoesOnOnAGuess) {
  OneShard shard;
  shard.get("add a:5");
  shard.ask("add b:1");
  shard.write_and_lose();
  const auto ticket = shard.ask("add c:1");
  EXPECT_EQ(shard.permits, 0u) << "not at once";

  shard.pass_and_run(1s);

  EXPECT_EQ(shard.answer(ticket).reply, "7/3");
  EXPECT_EQ(shard.counters().loads, 2u);
}

TEST(EntityConflict, StopsWhenTheShardLivesElsewhere) {
  OneShard shard;
  shard.get("noop");
  const auto first = shard.ask("add a:5"), second = shard.ask("add b:5");

  shard.refuse_write(ErrorCode::fenced);
  shard.refuse_write(ErrorCode::wrong_shard);

  EXPECT_EQ(shard.code(first), ErrorCode::timeout) << "it was written, perhaps: the new writer may have it";
  EXPECT_EQ(shard.code(second), ErrorCode::wrong_shard) << "it was not";
  EXPECT_EQ(shard.table.live(), 0u);
}

}  // namespace
}  // namespace evershard::actors
