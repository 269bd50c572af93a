// What is decided on top of what, what an answer waits for, and what is prepared again.

#include "evershard/actors/core/group_commit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/core/one_thread.hpp"

namespace evershard::actors {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(GroupCommit, PlacesEventsOfSeveralShardsTogetherInTheOrderGiven) {
  OneThread run;
  Append append;
  for (int i = 0; i < 12; ++i) append.event("order-" + std::to_string(i % 5), "Placed", std::to_string(i));

  auto answer = run.append(std::move(append));

  EXPECT_EQ(answer.first_position, GlobalPosition{1});
  EXPECT_EQ(answer.last_position, GlobalPosition{12});
  EXPECT_THAT(answer.versions,
              ElementsAre(AggregateVersion{{"order", "0"}, SeqNr{3}}, AggregateVersion{{"order", "1"}, SeqNr{3}},
                          AggregateVersion{{"order", "2"}, SeqNr{2}}, AggregateVersion{{"order", "3"}, SeqNr{2}},
                          AggregateVersion{{"order", "4"}, SeqNr{2}}));
  for (std::uint64_t i = 0; i < 12; ++i) {
    auto event = storage::Reader(run.store).event_at(run.store.view(), GlobalPosition{i + 1});
    EXPECT_EQ((*event)->payload, std::to_string(i));
  }
}

// Trap: batch index wraps at 65,536.
TEST(GroupCommit, PlacesMoreEventsInOneBatchThanSixteenBitsCount) {
  GroupCommit::Options options;
  options.batch_events_max = 100'000;
  OneThread run(options);

  for (int a = 0; a < 7; ++a) {
    Append append;
    for (int i = 0; i < 10'000; ++i) append.event("order-1", "Placed", "");
    run.send(std::move(append));
  }
  auto answers = run.commit();

  ASSERT_THAT(answers, SizeIs(7));
  EXPECT_EQ(answers.back().last_position, GlobalPosition{70'000});
  EXPECT_EQ(answers.back().versions[0].version, SeqNr{70'000});
  auto event = storage::Reader(run.store).event_at(run.store.view(), GlobalPosition{65'537});
  EXPECT_EQ((*event)->seq_nr, SeqNr{65'537});
}

TEST(GroupCommit, ChecksVersionsOnTopOfWhatIsDecidedAndNotWritten) {
  OneThread run;
  auto& late = run.prepare(one("order-1").expect("order-1", Version::none()));
  run.send(one("order-1").expect("order-1", Version::none()));
  run.send(one("order-1").expect("order-1", Version::exactly(1)));

  run.take(late);
  EXPECT_THAT(run.actions.refused, IsEmpty()) << "it rests on what is not written yet";
  run.commit();

  ASSERT_THAT(run.actions.refused, SizeIs(1));
  EXPECT_EQ(run.actions.refused[0].second.code, ErrorCode::version_conflict);
  EXPECT_EQ(run.actions.refused[0].second.details->actual, SeqNr{2});
}

TEST(GroupCommit, ChecksTheVersionOfAnAggregateTheAppendDoesNotWriteTo) {
  OneThread run;
  run.append(one("account-1"));

  run.send(one("order-1").expect("account-1", Version::exactly(2)));
  ASSERT_THAT(run.actions.refused, SizeIs(1));
  EXPECT_EQ(run.actions.refused[0].second.details->aggregate, (AggregateId{"account", "1"}));
  auto answer = run.append(one("order-1").expect("account-1", Version::exactly(1)));

  EXPECT_EQ(answer.versions, (std::vector<AggregateVersion>{{{"order", "1"}, SeqNr{1}}}));
}

// Traps: missing aggregate reported as a lock error; any failure reported as a duplicate.
TEST(GroupCommit, SaysThatAnAggregateIsMissing) {
  OneThread run;

  run.send(one("order-1").expect("order-1", Version::exists()));

  ASSERT_THAT(run.actions.refused, SizeIs(1));
  EXPECT_EQ(run.actions.refused[0].second.code, ErrorCode::version_conflict);
  EXPECT_EQ(run.actions.refused[0].second.what, "stream \"order-1\" does not exist, the append expects exists");
}

TEST(GroupCommit, TellsStreamsUnderOneHashApart) {
  OneThread run({}, 1);
  for (int i = 0; i < 6; ++i)
    run.send(one("order-" + std::to_string(i)).expect("order-" + std::to_string(i), Version::none()));
  run.send(one("order-3").expect("order-3", Version::exactly(1)));

  auto answers = run.commit();

  ASSERT_THAT(answers, SizeIs(7));
  EXPECT_EQ(answers.back().versions[0].version, SeqNr{2});
  EXPECT_THAT(run.actions.refused, IsEmpty());
}

TEST(GroupCommit, JudgesAConditionAgainstWhatIsDecidedAndNotWritten) {
  OneThread run;
  auto& late = run.prepare(one("order-2").fail_if(Query{}.tags({"seat:1"})));
  run.send(one("order-1", "Booked", {"seat:1"}));

  run.take(late);
  run.commit();

  ASSERT_THAT(run.actions.again, ElementsAre(&late));
  EXPECT_TRUE(late.confirm);
  EXPECT_FALSE(run.preparer.look_up(late.prepared, true).value());
  run.take(late);
  ASSERT_THAT(run.actions.refused, SizeIs(1));
  EXPECT_EQ(run.actions.refused[0].second.code, ErrorCode::condition_failed);
  EXPECT_EQ(run.actions.refused[0].second.details->position, GlobalPosition{1});
  EXPECT_EQ(run.actions.refused[0].second.details->condition, 0u);
}

TEST(GroupCommit, AdmitsAfterAll) {
  OneThread run({}, 1);  // every term is the same: each event seems to match
  run.append(one("order-1", "Placed", {"a"}));
  auto& wronged = run.send(one("order-2", "Placed", {"b"}).fail_if(Query{}.tags({"seat:1"})));

  ASSERT_THAT(run.actions.again, ElementsAre(&wronged));
  EXPECT_FALSE(run.preparer.look_up(wronged.prepared, wronged.confirm).value());
  run.take(wronged);

  EXPECT_THAT(run.commit(), SizeIs(1));
}

TEST(GroupCommit, GivesUpOnWhatCollidesForEver) {
  GroupCommit::Options options;
  options.tries_max = 3;
  OneThread run(options, 1);
  auto& wronged = run.prepare(one("order-2").fail_if(Query{}.tags({"seat:1"})));

  for (int round = 0; run.actions.refused.empty(); ++round) {
    ASSERT_LT(round, 10);
    run.append(one("order-1"));
    run.take(wronged);
    if (run.actions.again.empty()) continue;
    run.actions.again.clear();
    run.append(one("order-1"));
  }

  EXPECT_EQ(run.actions.refused[0].second.code, ErrorCode::overloaded);
}

// Trap: an empty query as a condition never fails.
TEST(GroupCommit, RefusesAnEmptyQueryAndTakesOneThatMatchesEverything) {
  OneThread run;

  EXPECT_EQ(run.look_up(one("order-1").fail_if(Query{})).error().code, ErrorCode::invalid_query);
  EXPECT_EQ(run.append(one("order-1").fail_if(Query::all())).first_position, GlobalPosition{1});
  auto& second = run.send(one("order-1").fail_if(Query::all()));

  ASSERT_THAT(run.actions.again, ElementsAre(&second));
  EXPECT_FALSE(run.preparer.look_up(second.prepared, true).value());
  run.take(second);
  ASSERT_THAT(run.actions.refused, SizeIs(1));
  EXPECT_EQ(run.actions.refused[0].second.code, ErrorCode::condition_failed);
}

TEST(GroupCommit, TakesAConditionThatLooksBeyondTheHead) {
  OneThread run;

  EXPECT_EQ(run.append(one("order-1").fail_if(Query::all(), GlobalPosition{1'000})).first_position, GlobalPosition{1});
}

// Trap: a retried conditional append refused by its own event.
TEST(GroupCommit, AnswersARetriedConditionalAppendAsTheFirstTime) {
  OneThread run;
  const auto request = EventId::random();
  const auto append = [&] {
    return one("order-1", "Placed", {"seat:1"})
        .expect("order-1", Version::none())
        .fail_if(Query{}.tags({"seat:1"}))
        .request(request);
  };
  auto& crossing = run.prepare(append());
  auto first = run.append(append());

  run.take(crossing);
  ASSERT_THAT(run.actions.again, ElementsAre(&crossing));
  auto again = run.preparer.look_up(crossing.prepared, false).value();
  auto later = run.look_up(append()).value();

  first.duplicate = true;
  EXPECT_EQ(again, first);
  EXPECT_EQ(later, first);
  EXPECT_THAT(run.actions.refused, IsEmpty());
}

TEST(GroupCommit, JoinsAnAttemptThatWasPlacedWhileTheRefusalOfAnotherWaited) {
  OneThread run;
  const auto request = EventId::random();
  const auto append = [&] { return one("order-1").expect("order-1", Version::exactly(2)).request(request); };
  auto& early = run.prepare(append());
  auto& late = run.prepare(append());
  run.send(one("order-1"));
  run.take(early);  // at version 1: refused, once that can be read
  run.send(one("order-1"));
  run.take(late);  // at version 2: placed

  run.commit();

  EXPECT_THAT(run.actions.refused, IsEmpty());
  ASSERT_THAT(run.actions.again, ElementsAre(&early));
  auto answer = run.preparer.look_up(early.prepared, false).value();
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->first_position, GlobalPosition{3});
}

TEST(GroupCommit, SendsBackWhatWasPreparedBeforeItsMemoryBegins) {
  GroupCommit::Options options;
  options.state.recent_entries_max = 2;
  OneThread run(options);
  auto& old = run.prepare(one("order-9").expect("order-9", Version::none()));

  for (int i = 0; i < 8; ++i) run.append(one("order-" + std::to_string(i)));
  run.append(one("order-9"));
  for (int i = 0; i < 8; ++i) run.append(one("order-" + std::to_string(i)));
  run.take(old);

  ASSERT_THAT(run.actions.again, ElementsAre(&old));
  EXPECT_FALSE(run.preparer.look_up(old.prepared, old.confirm).value());
  run.take(old);
  ASSERT_THAT(run.actions.refused, SizeIs(1));
  EXPECT_EQ(run.actions.refused[0].second.code, ErrorCode::version_conflict);
}

TEST(GroupCommit, RunsAConditionThatReachesBelowTheWindowAsAQuery) {
  GroupCommit::Options options;
  options.state.ordering.window_events_max = 4;
  OneThread run(options);
  run.append(one("order-1", "Booked", {"seat:1"}));
  auto& held = run.prepare(one("order-3").fail_if(Query{}.tags({"seat:1"})));
  for (int i = 0; i < 10; ++i) run.append(one("order-2"));

  run.take(held);
  ASSERT_THAT(run.actions.again, ElementsAre(&held))
      << "prepared while the window reached back, decided when it no longer does";
  auto& asked = run.prepare(one("order-3").fail_if(Query{}.tags({"seat:1"})));
  EXPECT_TRUE(run.prepare(one("order-3").fail_if(Query{}.tags({"seat:2"}))).prepared.terms[0].from ==
              GlobalPosition{11});

  ASSERT_TRUE(asked.prepared.refusal);
  EXPECT_EQ(asked.prepared.refusal->rests_on, GlobalPosition{1});
}

TEST(GroupCommit, TakesACommandOnce) {
  OneThread run;
  const auto append = [&] {
    auto made = one("order-1");
    made.command = CommandRecord{{"order", "1"}, "txn-1", "done"};
    return made;
  };
  auto& rival = run.prepare(append());
  run.append(append());

  run.take(rival);
  ASSERT_THAT(run.actions.again, ElementsAre(&rival));
  auto refused = run.preparer.look_up(rival.prepared, false);

  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::duplicate_event);
  EXPECT_EQ(refused.error().details->position, GlobalPosition{1});
}

TEST(GroupCommit, RefusesOtherContentUnderKnownIdsAndSomeKnownIdsAmongOthers) {
  OneThread run;
  const auto id = EventId::random();
  const auto event = [](const EventId& event_id, std::string payload) {
    Event e;
    e.id = event_id;
    e.aggregate = AggregateId{"order", "1"};
    e.type = "Placed";
    e.payload = std::move(payload);
    return e;
  };
  run.append(Append{}.event(event(id, "a")));

  auto other = run.look_up(Append{}.event(event(id, "b")));
  auto some = run.look_up(Append{}.event(event(EventId::random(), "a")).event(event(id, "a")));
  auto same = run.look_up(Append{}.event(event(id, "a")));

  EXPECT_EQ(other.error().code, ErrorCode::duplicate_event);
  EXPECT_EQ(some.error().code, ErrorCode::duplicate_event);
  EXPECT_EQ(some.error().details->position, GlobalPosition{1});
  EXPECT_TRUE(same.value()->duplicate);
}

TEST(GroupCommit, RefusesASnapshotOfAnotherVersionThanTheAppendLeaves) {
  OneThread run;
  const auto with_snapshot = [](std::uint64_t version) {
    Snapshot snapshot;
    snapshot.aggregate = {"order", "1"};
    snapshot.version = SeqNr{version};
    return one("order-1").event("order-1", "Paid", "").snapshot(std::move(snapshot));
  };

  EXPECT_EQ(run.look_up(with_snapshot(1)).error().code, ErrorCode::invalid_argument);
  run.send(with_snapshot(3));
  ASSERT_THAT(run.actions.refused, SizeIs(1));
  EXPECT_EQ(run.actions.refused[0].second.details->expected, Version::exactly(1));
  EXPECT_EQ(run.append(with_snapshot(2)).last_position, GlobalPosition{2});
}

TEST(GroupCommit, AnswersEverythingWhenTheStoreFails) {
  OneThread run;
  const auto request = EventId::random();
  auto& joins = run.prepare(one("order-1").request(request));
  auto& placed = run.send(one("order-1").request(request));
  auto& refused = run.send(one("order-1").expect("order-1", Version::none()));
  run.take(joins);

  run.group.fail({ErrorCode::io, "the disk said no"}, run.actions);
  auto& later = run.send(one("order-2"));

  std::map<Ticket*, ErrorCode> codes;
  for (const auto& [ticket, error] : run.actions.refused) EXPECT_TRUE(codes.emplace(ticket, error.code).second);
  EXPECT_EQ(
      codes,
      (std::map<Ticket*, ErrorCode>{
          {&joins, ErrorCode::timeout}, {&placed, ErrorCode::io}, {&refused, ErrorCode::io}, {&later, ErrorCode::io}}));
  EXPECT_TRUE(run.group.idle());
}

TEST(GroupCommit, ClosesABatchThatHasEnough) {
  GroupCommit::Options options;
  options.batch_events_max = 3;
  OneThread run(options);

  for (int i = 0; i < 2; ++i) run.send(one("order-1"));
  EXPECT_FALSE(run.group.full());
  run.send(one("order-1"));

  EXPECT_TRUE(run.group.full());
}

}  // namespace
}  // namespace evershard::actors
