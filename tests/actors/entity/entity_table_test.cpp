// A shard's entities: found, loaded by permits, given up; none of their commands lost.

#include "evershard/actors/entity/entity_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <malloc.h>

#include "tests/actors/entity/one_shard.hpp"

namespace evershard::actors {
namespace {

AggregateId counter(int number) { return {"counter", std::to_string(number)}; }

TEST(EntityTable, HostsAKindOnce) {
  OneShard shard;

  EXPECT_EQ(shard.table.host({shard.kind}).error().code, ErrorCode::invalid_argument);
}

TEST(EntityTable, ForgetsWhatIsIdleForLong) {
  OneShard shard;
  shard.get("add a:1");
  shard.get("add a:1", {.aggregate = counter(2)});
  EXPECT_EQ(shard.table.live(), 2u);

  shard.pass(50s);
  shard.get("get", {.aggregate = counter(2)});
  shard.pass(11s);
  EXPECT_EQ(shard.table.find(one), nullptr);
  EXPECT_NE(shard.table.find(counter(2)), nullptr);
  shard.pass(100s);

  EXPECT_EQ(shard.table.known(), 0u);
  EXPECT_EQ(shard.table.wake_at(), never);
  EXPECT_EQ(shard.counters().passivated, 2u);
  EXPECT_EQ(shard.get("get").reply, "1/1");
}

TEST(EntityTable, NeverForgetsWhatIsBusy) {
  OneShard shard({}, {}, {.live_max = 1});
  shard.get("noop");
  const auto ticket = shard.ask("add a:1", {.timeout = 1h});
  const auto other = shard.ask("get", {.aggregate = counter(2)});
  shard.run_reads();
  EXPECT_TRUE(shard.answered(other));
  EXPECT_EQ(shard.table.find(counter(2)), nullptr) << "the idle one";
  shard.pass(20s);

  EXPECT_EQ(shard.table.live(), 1u);
  shard.write();
  EXPECT_EQ(shard.answer(ticket).reply, "1/1");
  EXPECT_EQ(shard.counters().loads, 2u);
}

TEST(EntityTable, KeepsWhatIsUsedAgainWhileManyAreUsedOnce) {
  OneShard shard({}, {}, {.live_max = 10});
  for (int i = 0; i < 3; ++i) {
    shard.get("get", {.aggregate = counter(1)});
    shard.get("get", {.aggregate = counter(2)});
  }

  for (int i = 100; i < 200; ++i) shard.get("get", {.aggregate = counter(i)});

  EXPECT_EQ(shard.table.live(), 10u);
  EXPECT_NE(shard.table.find(counter(1)), nullptr);
  EXPECT_NE(shard.table.find(counter(2)), nullptr);
  EXPECT_EQ(shard.counters().evicted, 92u);
}

TEST(EntityTable, KeepsCommandsThatComeWhileAnEntityIsOnItsWayOut) {
  OneShard shard;
  shard.get("add a:1");
  const auto before = shard.ask("add b:1");
  shard.passivate();
  const auto after = shard.ask("add c:1"), query = shard.ask("get");
  EXPECT_EQ(shard.sends.size(), 1u) << "the next life's commands wait";

  shard.run();

  EXPECT_EQ(shard.answer(before).reply, "2/2");
  EXPECT_EQ(shard.answer(after).reply, "3/3");
  EXPECT_EQ(shard.answer(query).reply, "3/3");
  EXPECT_EQ(shard.counters().loads, 2u);
  EXPECT_EQ(shard.counters().passivated, 1u);
}

TEST(EntityTable, GivesUpAtOnceWhatHasNothingToDo) {
  OneShard shard;
  shard.get("add a:1");

  shard.passivate();

  EXPECT_EQ(shard.table.known(), 0u);
  EXPECT_EQ(shard.get("get").reply, "1/1");
}

TEST(EntityTable, KeepsItsWayOutThroughAConflict) {
  OneShard shard;
  shard.get("noop");
  const auto before = shard.ask("add b:1");
  shard.passivate();
  const auto after = shard.ask("add c:1");
  shard.journal.outside(one, "added", "x:1");

  shard.run();

  EXPECT_EQ(shard.answer(before).reply, "2/2");
  EXPECT_EQ(shard.answer(after).reply, "3/3");
  EXPECT_EQ(shard.counters().passivated, 1u);
  EXPECT_EQ(shard.counters().loads, 3u);
}

TEST(EntityTable, BeginsTheNextLifeWhenTheLastCommandBeforeItNeedsNoWrite) {
  OneShard shard;
  shard.get("book a:1");
  const auto before = shard.ask("book b:1");
  shard.passivate();
  const auto after = shard.ask("get");

  shard.run();

  EXPECT_EQ(shard.answer(before).rejection, "full: 1");
  EXPECT_EQ(shard.answer(after).reply, "0/1");
}

TEST(EntityTable, IsStoppedAlsoWhenTheLastWriteWasLost) {
  OneShard shard;
  shard.get("noop");
  shard.ask("add a:1");
  shard.stop();

  shard.write_and_lose();

  EXPECT_TRUE(shard.table.stopped());
}

// A million known, a hundred thousand live, within 500 MB: a known one costs nothing, a live one well under 2 KB.
TEST(EntityTable, HoldsALiveAggregateInLessThanOneKilobyte) {
  constexpr int count = 20'000;
  OneShard shard({}, {}, {.live_max = count});
  shard.get("noop");
  const auto before = mallinfo2();
  if (before.uordblks == 0) GTEST_SKIP() << "another allocator";
  for (int i = 0; i < count - 1; ++i) {
    shard.get("get", {.aggregate = {"counter", "some-longer-name-" + std::to_string(i)}});
    shard.answers.clear();
  }
  ASSERT_EQ(shard.table.live(), static_cast<std::size_t>(count));

  const auto after = mallinfo2();

  const std::size_t bytes = (after.uordblks + after.hblkhd - before.uordblks - before.hblkhd) / count;
  RecordProperty("bytes_each", static_cast<int>(bytes));
  EXPECT_LT(bytes, 1'000u);
}

TEST(EntityTable, PassesOverResultsForAnEntityThatIsGone) {
  OneShard shard;
  shard.get("noop");
  shard.ask("get");
  const EntityOp gone{{0, 0}, 1};
  shard.passivate();
  shard.get("noop", {.aggregate = counter(2)});  // in the same slot

  shard.answer_append(gone, refuse(ErrorCode::io, "late"));

  EXPECT_EQ(shard.counters().late, 1u);
  EXPECT_EQ(shard.get("get", {.aggregate = counter(2)}).reply, "0/0");
}

TEST(EntityTable, WantsOnePermitForEachThatLoads) {
  OneShard shard;
  for (int i = 0; i < 5; ++i) shard.ask("add a:1", {.aggregate = counter(i)});
  shard.ask("add a:1", {.aggregate = counter(0)});
  EXPECT_EQ(shard.permits, 5u);
  shard.permit();
  shard.permit();
  EXPECT_EQ(shard.loads.size(), 2u);
  EXPECT_EQ(shard.loads[0].aggregate, counter(0)) << "in order";

  shard.run();

  EXPECT_EQ(shard.permits_returned, 5u);
  EXPECT_EQ(shard.counters().replied, 6u);
}

TEST(EntityTable, EndsTheAggregatesThatLiveElsewhere) {
  OneShard shard;
  shard.get("add a:5");
  shard.get("add a:1", {.aggregate = counter(2)});
  const auto sent = shard.ask("add a:1");
  const auto stays = shard.ask("add a:1", {.aggregate = counter(2)});
  const auto loads = shard.ask("get", {.aggregate = counter(3)});

  const auto end = [&] {
    shard.table.end([](const AggregateId& id) { return id == one || id == counter(3); }, shard.now, shard.actions);
    shard.absorb();
  };
  end();
  EXPECT_EQ(shard.code(loads), ErrorCode::unavailable);
  EXPECT_FALSE(shard.answered(sent)) << "it is under way";
  EXPECT_EQ(shard.code(shard.ask("get")), ErrorCode::unavailable) << "until that has come back";
  shard.refuse_write(ErrorCode::wrong_shard);
  EXPECT_EQ(shard.code(sent), ErrorCode::wrong_shard);
  shard.run();

  EXPECT_EQ(shard.answer(stays).reply, "2/2") << "the others go on";
  EXPECT_EQ(shard.table.find(one), nullptr);
  const auto before = shard.counters().loads;
  EXPECT_EQ(shard.get("get").reply, "5/1") << "should they come back, they are loaded";
  EXPECT_EQ(shard.counters().loads, before + 1);
  end();
  EXPECT_EQ(shard.table.find(one), nullptr) << "an idle one at once";
}

TEST(EntityTable, CountsEveryAskAndEveryAnswer) {
  OneShard shard({.asks_max = 4});
  for (int i = 0; i < 6; ++i) shard.ask("add a:1", {.id = i < 2 ? "same" : ""});
  shard.run();
  shard.get("take a:100");
  shard.get("throw");
  shard.get("get", {.aggregate = {"none", "1"}});

  const auto& counters = shard.counters();
  EXPECT_EQ(counters.asked, 9u);
  EXPECT_EQ(counters.replied, 4u);
  EXPECT_EQ(counters.duplicates, 1u);
  EXPECT_EQ(counters.rejected, 1u);
  EXPECT_EQ(counters.failed, 4u);
  EXPECT_EQ(counters.overloaded, 2u);
  EXPECT_EQ(shard.answers.size(), 9u);
}

}  // namespace
}  // namespace evershard::actors
