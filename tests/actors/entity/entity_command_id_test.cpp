// The same command again: one effect, and always the reply that was stored with it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/entity/one_shard.hpp"

namespace evershard::actors {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(EntityCommandId, GivesTheStoredReplyWhileTheAggregateIsLive) {
  OneShard shard;
  const auto first = shard.get("add a:5", {.id = "txn-1"});
  shard.get("add b:5");

  const auto again = shard.get("add a:5", {.id = "txn-1"});

  EXPECT_EQ(first, AnyAnswer::replied("5/1", SeqNr{1}, GlobalPosition{1}));
  EXPECT_EQ(again, AnyAnswer::replied("5/1", SeqNr{1}, GlobalPosition{1}, true));
  EXPECT_THAT(shard.journal.payloads(one), ElementsAre("a:5", "b:5"));
  EXPECT_EQ(shard.counters().loads, 1u) << "known by its id: nothing had to be thrown away";
}

TEST(EntityCommandId, GivesTheStoredReplyAfterARestart) {
  OneShard before;
  before.get("add a:5", {.id = "txn-1"});
  OneShard shard;
  shard.journal = before.journal;

  const auto ticket = shard.ask("add a:5", {.id = "txn-1"}), behind = shard.ask("add b:1");
  shard.run();

  EXPECT_EQ(shard.answer(ticket), AnyAnswer::replied("5/1", SeqNr{1}, GlobalPosition{1}, true));
  EXPECT_EQ(shard.answer(behind).reply, "6/2");
  EXPECT_THAT(shard.journal.payloads(one), ElementsAre("a:5", "b:1"));
}

TEST(EntityCommandId, LooksUpNothingForANewCommandThatPersists) {
  OneShard shard;

  shard.get("add a:5", {.id = "txn-1"});
  shard.get("add a:5", {.id = "txn-2"});

  EXPECT_EQ(shard.counters().look_ups, 0u);
}

// Decided again it would be rejected: the money is spent, by itself.
TEST(EntityCommandId, GivesTheStoredReplyWhereItWouldBeRejectedNow) {
  OneShard before;
  before.get("add a:5");
  before.get("take b:5", {.id = "txn-1"});
  for (const std::string_view text : {"take b:5", "throw", "noop"}) {
    OneShard shard;
    shard.journal = before.journal;

    const auto again = shard.get(text, {.id = "txn-1"});

    EXPECT_EQ(again, AnyAnswer::replied("0/2", SeqNr{2}, GlobalPosition{2}, true)) << text;
  }
}

TEST(EntityCommandId, RecordsNoRejection) {
  OneShard shard;
  EXPECT_EQ(shard.get("take b:5", {.id = "txn-1"}).kind, AnswerKind::rejected);
  shard.get("add a:5");

  EXPECT_EQ(shard.get("take b:5", {.id = "txn-1"}).reply, "0/2");
}

TEST(EntityCommandId, HasOneEffectWhenBothAreUnderWay) {
  OneShard shard;
  shard.get("noop");
  const auto first = shard.ask("add a:5", {.id = "txn-1"}), second = shard.ask("add a:5", {.id = "txn-1"}),
             behind = shard.ask("add b:1");
  EXPECT_EQ(shard.sends.size(), 2u);

  shard.run();

  EXPECT_EQ(shard.answer(first), AnyAnswer::replied("5/1", SeqNr{1}, GlobalPosition{1}));
  EXPECT_EQ(shard.answer(second), AnyAnswer::replied("5/1", SeqNr{1}, GlobalPosition{1}, true));
  EXPECT_EQ(shard.answer(behind).reply, "6/2");
  EXPECT_EQ(shard.counters().loads, 1u);
}

TEST(EntityCommandId, DecidesTheSecondWhenTheFirstWasNotWritten) {
  OneShard shard;
  shard.get("noop");
  const auto first = shard.ask("add a:5", {.id = "txn-1"}), second = shard.ask("add a:5", {.id = "txn-1"});

  shard.refuse_write(ErrorCode::overloaded);
  shard.pass_and_run(1s);

  EXPECT_EQ(shard.code(first), ErrorCode::overloaded);
  EXPECT_EQ(shard.answer(second).reply, "5/1");
  EXPECT_THAT(shard.journal.payloads(one), ElementsAre("a:5"));
}

TEST(EntityCommandId, FindsOutAfterALostAnswer) {
  OneShard shard;
  shard.get("noop");
  const auto lost = shard.ask("add a:5", {.id = "txn-1"});
  shard.write_and_lose();
  EXPECT_EQ(shard.code(lost), ErrorCode::timeout);

  const auto again = shard.ask("add a:5", {.id = "txn-1"});
  shard.pass_and_run(1s);

  EXPECT_EQ(shard.answer(again), AnyAnswer::replied("5/1", SeqNr{1}, GlobalPosition{1}, true));
  EXPECT_THAT(shard.journal.payloads(one), ElementsAre("a:5"));
}

TEST(EntityCommandId, LooksUpFirstForAWhileAfterADuplicate) {
  OneShard before;
  for (int i = 0; i < 10; ++i) before.get("add a:1", {.id = "txn-" + std::to_string(i)});
  OneShard shard({.in_flight_max = 1});
  shard.journal = before.journal;

  for (int i = 0; i < 10; ++i) shard.ask("add a:1", {.id = "txn-" + std::to_string(i)});
  shard.run();

  EXPECT_EQ(shard.counters().duplicates, 10u);
  EXPECT_LE(shard.counters().loads, 2u) << "one reload for the first, none for those behind it";
  EXPECT_EQ(shard.journal.events.size(), 10u);
}

TEST(EntityCommandId, IgnoresTheIdOfAQuery) {
  OneShard shard;
  shard.get("add a:5", {.id = "txn-1"});

  EXPECT_EQ(shard.get("get", {.id = "txn-1"}), AnyAnswer::replied("5/1", SeqNr{1}, GlobalPosition{0}));
  EXPECT_EQ(shard.counters().look_ups, 0u);
}

TEST(EntityCommandId, SaysWhenItCannotBeLookedUp) {
  OneShard shard;
  shard.journal.command_fault = Error(ErrorCode::io, "a fault");

  EXPECT_EQ(shard.get("take b:5", {.id = "txn-1"}).error.code, ErrorCode::unavailable);
  shard.journal.command_fault.reset();
  shard.get("add a:5", {.id = "txn-2"});
  shard.journal.command_fault = Error(ErrorCode::io, "a fault");
  EXPECT_EQ(shard.get("add a:5", {.id = "txn-2"}).error.code, ErrorCode::unavailable);
}

TEST(EntityCommandId, HoldsBackARejectionButNotWhatStandsBehindItWhileItIsLookedUp) {
  OneShard shard;
  shard.get("noop");
  const auto rejected = shard.ask("take b:5", {.id = "txn-1"}), behind = shard.ask("get");

  EXPECT_FALSE(shard.answered(rejected));
  EXPECT_TRUE(shard.answered(behind));
  shard.look_up();

  EXPECT_EQ(shard.answer(rejected).kind, AnswerKind::rejected);
  EXPECT_THAT(shard.journal.events, IsEmpty());
}

TEST(EntityCommandId, PassesOverALookUpForADecisionThatWasDiscarded) {
  OneShard shard;
  shard.get("add a:5");
  shard.ask("take b:5");
  const auto rejected = shard.ask("take c:5", {.id = "txn-1"});
  ASSERT_EQ(shard.look_ups.size(), 1u);
  shard.journal.outside(one, "added", "x:5");
  shard.write();

  shard.look_up();
  EXPECT_EQ(shard.counters().late, 1u);
  shard.run();

  EXPECT_EQ(shard.answer(rejected).reply, "0/4") << "decided again, on what is there";
}

TEST(RecentCommands, KnowsAtLeastTheLatest) {
  RecentCommands recent(100);
  for (std::uint64_t i = 1; i <= 1'000; ++i) {
    recent.add(i * 0x10001);
    for (std::uint64_t back = i > 100 ? i - 99 : 1; back <= i; back += 33)
      EXPECT_TRUE(recent.contains(back * 0x10001)) << i << " " << back;
  }
  EXPECT_FALSE(recent.contains(0x10001)) << "and forgets";
  EXPECT_NE(RecentCommands::hash(1, "txn"), RecentCommands::hash(2, "txn"));
}

}  // namespace
}  // namespace evershard::actors
