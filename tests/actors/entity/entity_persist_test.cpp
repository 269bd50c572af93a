// Commands over provisional states: what is sent, what waits until it is durable, what touches nothing.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/entity/one_shard.hpp"

namespace evershard::actors {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(EntityPersist, AnswersAfterTheEventsAreDurable) {
  OneShard shard;
  const auto ticket = shard.ask("add a:5");
  shard.run_reads();

  ASSERT_EQ(shard.sends.size(), 1u);
  EXPECT_FALSE(shard.answered(ticket));
  shard.write();

  EXPECT_EQ(shard.answer(ticket), AnyAnswer::replied("5/1", SeqNr{1}, GlobalPosition{1}));
  EXPECT_THAT(shard.journal.payloads(one), ElementsAre("a:5"));
}

TEST(EntityPersist, WritesAllEventsOfACommandInOneAppend) {
  OneShard shard;

  const auto answer = shard.get("twice a:5");

  EXPECT_EQ(answer, AnyAnswer::replied("10/2", SeqNr{2}, GlobalPosition{2}));
  ASSERT_EQ(shard.journal.appends.size(), 1u);
  EXPECT_EQ(shard.journal.appends[0].expectations[0].version, ExpectedVersion::none());
}

TEST(EntityPersist, DecidesTheNextCommandBeforeTheOneBeforeIsWritten) {
  OneShard shard;
  shard.get("noop");
  const auto first = shard.ask("add a:5");
  const auto second = shard.ask("take b:3");

  ASSERT_EQ(shard.sends.size(), 2u);
  EXPECT_EQ(shard.sends[1].append.expectations[0].version, ExpectedVersion::exactly(1));
  EXPECT_FALSE(shard.sends[0].chain.follows);
  EXPECT_TRUE(shard.sends[1].chain.follows);
  shard.run();

  EXPECT_EQ(shard.answer(first).reply, "5/1");
  EXPECT_EQ(shard.answer(second).reply, "2/2");
}

TEST(EntityPersist, HoldsBackRejectionsQueriesAndErrorsUntilWhatTheySawIsDurable) {
  OneShard shard;
  shard.get("noop");
  const auto written = shard.ask("add a:5");
  const auto query = shard.ask("get");
  const auto rejected = shard.ask("take b:9");
  const auto nothing = shard.ask("noop");
  const auto failed = shard.ask("throw");
  const auto state = shard.ask("", {.kind = AskKind::state});
  for (const auto ticket : {written, query, rejected, nothing, failed, state})
    EXPECT_FALSE(shard.answered(ticket)) << ticket.value;

  shard.write();

  EXPECT_EQ(shard.answer(query), AnyAnswer::replied("5/1", SeqNr{1}, GlobalPosition{0}));
  EXPECT_EQ(shard.answer(rejected), AnyAnswer::rejected("only 5/1", SeqNr{1}));
  EXPECT_EQ(shard.answer(nothing).reply, "5/1");
  EXPECT_EQ(shard.code(failed), ErrorCode::invalid_argument);
  EXPECT_EQ(shard.answer(state), AnyAnswer::replied("5/1", SeqNr{1}, GlobalPosition{1}));
}

TEST(EntityPersist, AnswersInOrderHoweverTheResultsArrive) {
  OneShard shard;
  shard.get("noop");
  const auto first = shard.ask("add a:5");
  const auto query = shard.ask("get");
  const auto second = shard.ask("add b:5");
  auto a = shard.sends[0], b = shard.sends[1];
  auto written_a = shard.journal.write(a.append, a.chain), written_b = shard.journal.write(b.append, b.chain);

  shard.answer_append(b.op, written_b);
  EXPECT_FALSE(shard.answered(second));
  EXPECT_FALSE(shard.answered(query));
  shard.answer_append(a.op, written_a);

  EXPECT_EQ(shard.answer(first).reply, "5/1");
  EXPECT_EQ(shard.answer(query).reply, "5/1");
  EXPECT_EQ(shard.answer(second).reply, "10/2");
}

TEST(EntityPersist, LeavesTheStateAloneWhenAHandlerThrows) {
  OneShard shard;
  shard.get("add a:5");

  EXPECT_EQ(shard.get("throw").error.code, ErrorCode::invalid_argument);

  EXPECT_EQ(shard.get("get").reply, "5/1");
  EXPECT_EQ(shard.counters().loads, 1u) << "nothing was thrown away for it";
}

TEST(EntityPersist, RecoversTheStateWhenAnEventCannotBeApplied) {
  OneShard shard;
  shard.get("add a:5");
  const auto written = shard.ask("add b:5");
  const auto poisoned = shard.ask("poison");
  const auto behind = shard.ask("add c:5");
  ASSERT_EQ(shard.sends.size(), 1u) << "nothing is decided on a half applied state";

  shard.run();

  EXPECT_EQ(shard.answer(written).reply, "10/2");
  EXPECT_EQ(shard.code(poisoned), ErrorCode::invalid_argument);
  EXPECT_EQ(shard.answer(behind).reply, "15/3");
  EXPECT_THAT(shard.journal.payloads(one), ElementsAre("a:5", "b:5", "c:5"));
}

TEST(EntityPersist, RefusesAReplyThatIsTooLargeBeforeAnythingIsWritten) {
  OneShard shard({}, {.reply_bytes_max = 100});

  EXPECT_EQ(shard.get("big 101").error.code, ErrorCode::too_large);

  EXPECT_THAT(shard.journal.events, IsEmpty());
  EXPECT_EQ(shard.get("get").reply, "0/0");
  EXPECT_EQ(shard.get("big 100").reply.size(), 100u);
}

TEST(EntityPersist, RefusesUnknownCommandsAndTypesWithoutLoading) {
  OneShard shard;

  EXPECT_EQ(shard.code(shard.ask("unknown")), ErrorCode::invalid_argument);
  EXPECT_EQ(shard.code(shard.ask("get", {.aggregate = {"order", "1"}})), ErrorCode::invalid_argument);
  EXPECT_EQ(shard.code(shard.ask("get", {.aggregate = {"counter", ""}})), ErrorCode::invalid_argument);
  EXPECT_EQ(shard.code(shard.ask("add a:1", {.id = std::string(256, 'x')})), ErrorCode::too_large);

  EXPECT_EQ(shard.permits, 0u);
  EXPECT_EQ(shard.table.known(), 0u);
}

TEST(EntityPersist, BoundsWhatWaitsInCountAndBytes) {
  OneShard shard({.asks_max = 3, .asks_bytes_max = 30});
  const auto first = shard.ask("add a:1"), second = shard.ask("add a:2"), third = shard.ask("add a:3");

  EXPECT_EQ(shard.code(shard.ask("add a:4")), ErrorCode::overloaded);
  shard.run();
  for (const auto ticket : {first, second, third}) EXPECT_EQ(shard.answer(ticket).kind, AnswerKind::replied);

  const auto long_one = shard.ask("add aaaaaaaaaaaaaaaaaaa:1");
  EXPECT_EQ(shard.code(shard.ask("add bbbbb:1")), ErrorCode::overloaded);
  EXPECT_EQ(shard.code(shard.ask("add " + std::string(40, 'a') + ":1")), ErrorCode::too_large);
  shard.run();
  EXPECT_EQ(shard.answer(long_one).kind, AnswerKind::replied);
  EXPECT_EQ(shard.counters().overloaded, 2u);
}

TEST(EntityPersist, BoundsTheAppendsUnderWay) {
  OneShard shard({.in_flight_max = 2});
  shard.get("noop");
  for (int i = 0; i < 5; ++i) shard.ask("add a:1");

  EXPECT_EQ(shard.sends.size(), 2u);
  shard.write();
  EXPECT_EQ(shard.sends.size(), 2u);
  shard.run();

  EXPECT_EQ(shard.get("get").reply, "5/5");
}

TEST(EntityPersist, AnswersAHandlersConditionThatFailsAndGoesOn) {
  OneShard shard;
  shard.journal.outside({"counter", "2"}, "added", "1", {"name"});
  shard.get("add a:1");
  const auto refused = shard.ask("unique name"), behind = shard.ask("add b:1");

  shard.run();

  EXPECT_EQ(shard.code(refused), ErrorCode::condition_failed);
  EXPECT_EQ(shard.answer(behind).reply, "2/2");
  EXPECT_EQ(shard.get("unique other").kind, AnswerKind::replied);
}

// The store refuses it for good: it must not be tried for ever, and not sink what stands behind it.
TEST(EntityPersist, AnswersWhatTheStoreRefusesForGoodAndGoesOn) {
  for (const auto code : {ErrorCode::invalid_argument, ErrorCode::too_large, ErrorCode::overloaded,
                          ErrorCode::corruption, ErrorCode::duplicate_event}) {
    OneShard shard;
    shard.get("noop");
    const auto refused = shard.ask("add a:1"), behind = shard.ask("add b:2");

    shard.refuse_write(code);
    shard.pass_and_run(1s);

    EXPECT_EQ(shard.code(refused), code);
    EXPECT_EQ(shard.answer(behind).reply, "2/1") << name_of(code);
  }
}

}  // namespace
}  // namespace evershard::actors
