// Time-outs, callers that go away, shutdown: everybody is told once, nobody waits for nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/entity/one_shard.hpp"

namespace evershard::actors {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(EntityTime, DropsACommandThatWasNotBegunInTime) {
  OneShard shard;
  const auto ticket = shard.ask("add a:1");
  shard.pass(9'999ms);
  EXPECT_FALSE(shard.answered(ticket));
  shard.pass(2ms);

  EXPECT_EQ(shard.code(ticket), ErrorCode::unavailable) << "10 s by default, and nothing was done";
  shard.run();
  EXPECT_THAT(shard.journal.events, IsEmpty());
  EXPECT_EQ(shard.counters().dropped, 1u);
}

TEST(EntityTime, AnswersTimeoutToACommandThatWasSentAndKeepsItsEvents) {
  OneShard shard;
  shard.get("noop");
  const auto ticket = shard.ask("add a:1", {.timeout = 1s}), query = shard.ask("get", {.timeout = 10s});
  shard.pass(2s);
  EXPECT_EQ(shard.code(ticket), ErrorCode::timeout);
  EXPECT_FALSE(shard.answered(query));

  shard.write();

  EXPECT_EQ(shard.answer(query).reply, "1/1") << "its result still moves the state";
  EXPECT_EQ(shard.get("add b:1").reply, "2/2");
  EXPECT_EQ(shard.counters().loads, 1u);
}

TEST(EntityTime, DoesNotDecideAgainWhatWasAnsweredTimeout) {
  OneShard shard;
  shard.get("noop");
  const auto ticket = shard.ask("add a:1", {.timeout = 1s});
  shard.pass(2s);
  EXPECT_EQ(shard.code(ticket), ErrorCode::timeout);
  shard.journal.outside(one, "added", "x:1");

  shard.run();

  EXPECT_THAT(shard.journal.payloads(one), ElementsAre("x:1"));
}

TEST(EntityTime, CountsAnAppendAsLostWhenTheJournalNeverAnswers) {
  OneShard shard({.journal_timeout = 5s});
  shard.get("add a:1");
  const auto ticket = shard.ask("add b:1", {.timeout = 1h});
  auto lost = std::move(shard.sends.front());
  shard.sends.clear();

  shard.pass(6s);
  EXPECT_EQ(shard.code(ticket), ErrorCode::timeout);
  shard.answer_append(lost.op, shard.journal.write(lost.append, lost.chain));
  EXPECT_EQ(shard.get("get").reply, "2/2") << "and looks at what is there";
}

TEST(EntityTime, ForgetsCallersThatWentAway) {
  OneShard shard;
  shard.get("noop");
  const auto sent = shard.ask("add a:1");
  const auto query = shard.ask("get");
  EXPECT_TRUE(shard.table.cancel(one, sent, shard.now, shard.actions));
  EXPECT_TRUE(shard.table.cancel(one, query, shard.now, shard.actions));
  EXPECT_FALSE(shard.table.cancel(one, query, shard.now, shard.actions));
  shard.absorb();

  shard.run();

  EXPECT_EQ(shard.code(sent), ErrorCode::cancelled);
  EXPECT_EQ(shard.code(query), ErrorCode::cancelled);
  EXPECT_EQ(shard.get("get").reply, "1/1");
}

TEST(EntityTime, GoesOnBehindACommandWhoseCallerWentAwayWhileItsModelWasRead) {
  OneShard shard;
  shard.get("noop");
  const auto reading = shard.ask("book a:5"), behind = shard.ask("add b:1");
  shard.table.cancel(one, reading, shard.now, shard.actions);
  shard.absorb();
  EXPECT_EQ(shard.sends.size(), 1u);

  shard.run();

  EXPECT_EQ(shard.answer(behind).reply, "1/1");
  EXPECT_EQ(shard.counters().late, 1u);
}

TEST(EntityTime, AnswersAFullStashWhenItIsStopped) {
  OneShard shard({.in_flight_max = 2});
  shard.get("noop");
  const auto first = shard.ask("add a:1"), second = shard.ask("add a:2"), query = shard.ask("get");
  std::vector<AskTicket> waiting;
  for (int i = 0; i < 50; ++i) waiting.push_back(shard.ask("add b:1"));
  const auto elsewhere = shard.ask("get", {.aggregate = {"counter", "2"}});

  shard.stop();
  for (const auto ticket : waiting) EXPECT_EQ(shard.code(ticket), ErrorCode::unavailable);
  EXPECT_EQ(shard.code(elsewhere), ErrorCode::unavailable);
  EXPECT_EQ(shard.code(shard.ask("get")), ErrorCode::unavailable);
  EXPECT_FALSE(shard.table.stopped());
  shard.run();

  EXPECT_TRUE(shard.table.stopped());
  EXPECT_EQ(shard.answer(first).reply, "1/1");
  EXPECT_EQ(shard.answer(second).reply, "3/2");
  EXPECT_EQ(shard.code(query), ErrorCode::unavailable) << "it was not begun: two were under way";
}

TEST(EntityTime, AnswersTimeoutWhenItIsStoppedWithoutWaiting) {
  OneShard shard;
  shard.get("noop");
  const auto sent = shard.ask("add a:1"), query = shard.ask("get");

  shard.table.abandon(shard.now, shard.actions);
  shard.absorb();

  EXPECT_EQ(shard.code(sent), ErrorCode::timeout);
  EXPECT_EQ(shard.code(query), ErrorCode::unavailable);
  EXPECT_TRUE(shard.table.stopped());
  shard.write();
  EXPECT_EQ(shard.counters().late, 1u);
}

TEST(EntityTime, StopsWhileItIsReloading) {
  OneShard shard;
  shard.get("noop");
  const auto first = shard.ask("add a:1"), second = shard.ask("add b:1");
  shard.journal.outside(one, "added", "x:1");
  shard.write();

  shard.stop();
  EXPECT_EQ(shard.code(first), ErrorCode::unavailable);
  shard.run();

  EXPECT_EQ(shard.code(second), ErrorCode::unavailable);
  EXPECT_TRUE(shard.table.stopped());
}

}  // namespace
}  // namespace evershard::actors
