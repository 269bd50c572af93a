// What goes wrong while the process lives: the journal, handlers, other writers, callers that go away.

#include "tests/actors/aggregate/kit_looks.hpp"

namespace evershard {
namespace {

// -- the journal, in the middle of a command

struct Lost {
  Fault fault;
  ErrorCode code;
  std::size_t written;
};
class Faults : public ::testing::TestWithParam<Lost> {};

// Nobody who waits can tell what was written: he is told so, and nothing is built on a guess.
TEST_P(Faults, AnswersThatTheOutcomeIsUnknownAndGoesOnWithWhatIsThere) {
  KitWithAccounts kit;
  must(kit.account().ask(Deposit{100}));
  kit.fail_next_append(GetParam().fault, GetParam().code);

  auto lost = kit.account().ask_future(Deposit{7}, {.command_id = "seven"});
  auto behind = kit.account().ask_future(Look{});
  kit.advance(40s);  // longer than the journal may take

  EXPECT_EQ(shown(lost), "timeout");
  const auto looked = shown(behind);
  EXPECT_TRUE(looked == "unavailable" || looked == "timeout") << looked;
  EXPECT_THAT(kit.events(), SizeIs(1 + GetParam().written));
  EXPECT_EQ(shown(kit.account().ask(Look{})), GetParam().written == 0 ? "100" : "107");
  EXPECT_EQ(shown(kit.account().ask(Deposit{7}, {.command_id = "seven"})),
            GetParam().written == 0 ? "107" : "107 again");
  EXPECT_THAT(kit.events(), SizeIs(2));
  EXPECT_EQ(kit.figures().counters.outcomes_unknown, 1u);
}

INSTANTIATE_TEST_SUITE_P(OfAppends, Faults,
                         ::testing::Values(Lost{Fault::lost_written, ErrorCode::timeout, 1},
                                           Lost{Fault::lost_written, ErrorCode::io, 1},
                                           Lost{Fault::lost_not_written, ErrorCode::timeout, 0},
                                           Lost{Fault::lost_not_written, ErrorCode::io, 0},
                                           Lost{Fault::lost_not_written, ErrorCode::unavailable, 0},
                                           Lost{Fault::unanswered_written, ErrorCode::timeout, 1},
                                           Lost{Fault::unanswered_not_written, ErrorCode::timeout, 0}));

TEST(JournalFaults, LoseNothingOfWhatIsPipelinedBehindThem) {
  KitWithAccounts kit;
  must(kit.account().ask(Deposit{100}));
  kit.hold_appends();
  std::vector<std::future<Answer<Balance>>> pending;
  for (int i = 0; i < 4; ++i)
    pending.push_back(kit.account().ask_future(Deposit{1}, {.command_id = "c" + std::to_string(i)}));
  kit.run();
  EXPECT_EQ(kit.appends_undecided(), 4u);

  kit.fail_next_append(Fault::lost_not_written, ErrorCode::timeout);
  kit.release_appends();
  kit.advance(5s);

  // The first was not written, so none behind it was: each expects the version that the one before it leaves.
  for (auto& one_of_them : pending) EXPECT_TRUE(ready(one_of_them));
  EXPECT_EQ(kit.account().state(StateRead::eventual)->state.balance, replayed(kit.events_of(one)));
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(kit.account().ask(Deposit{1}, {.command_id = "c" + std::to_string(i)}));
  EXPECT_EQ(shown(kit.account().ask(Look{})), "104");
}

TEST(JournalFaults, ThatAreRefusalsAreAnsweredAsTheyAre) {
  KitWithAccounts kit;
  must(kit.account().ask(Deposit{100}));

  kit.fail_next_append(Fault::refused, ErrorCode::overloaded);
  EXPECT_EQ(shown(kit.account().ask(Deposit{1})), "overloaded");
  kit.fail_next_append(Fault::refused, ErrorCode::too_large);
  EXPECT_EQ(shown(kit.account().ask(Deposit{1})), "too_large");

  EXPECT_EQ(shown(kit.account().ask(Deposit{1})), "101");
  EXPECT_THAT(kit.events(), SizeIs(2));
  EXPECT_EQ(kit.figures().counters.outcomes_unknown, 0u);
}

TEST(JournalFaults, OfALoadLeaveTheAggregateWhole) {
  for (const auto call : {JournalCall::snapshot, JournalCall::stream}) {
    KitWithAccounts kit;
    ASSERT_TRUE(kit.append_from_outside(from_outside("1", "deposited", "5")));
    kit.fail_next(call, ErrorCode::io);

    const auto failed = kit.account().ask(Deposit{1});
    const auto later = kit.account().ask(Deposit{1});

    EXPECT_EQ(shown(failed), "unavailable") << "nothing was done, and trying again is harmless";
    EXPECT_EQ(shown(later), "6");
    EXPECT_EQ(kit.figures().counters.loads_failed, 1u);
  }
}

TEST(JournalFaults, OfALookUpNeverLetACommandRunTwice) {
  KitWithAccounts kit;
  must(kit.account().ask(Deposit{1}, {.command_id = "a"}));
  kit.fail_next(JournalCall::command, ErrorCode::io);

  const auto unknown = kit.account().ask(Deposit{1}, {.command_id = "a"});

  EXPECT_TRUE(unknown.failed());
  EXPECT_EQ(shown(kit.account().ask(Deposit{1}, {.command_id = "a"})), "1 again");
  EXPECT_THAT(kit.events(), SizeIs(1));
}

TEST(JournalFaults, OfADecisionModelDecideNothing) {
  KitWithAccounts kit;
  kit.fail_next(JournalCall::query, ErrorCode::io);

  EXPECT_EQ(shown(kit.account().ask(Book{1})), "unavailable");
  EXPECT_EQ(shown(kit.account().ask(Book{1})), "0");
}

TEST(JournalFaults, OfASnapshotAloneAreItsCallers) {
  KitWithAccounts kit;
  must(kit.account().ask(Deposit{1}));
  kit.fail_next(JournalCall::put_snapshot, ErrorCode::io);

  EXPECT_FALSE(kit.account().snapshot());
  EXPECT_THAT(kit.snapshots_of(one), IsEmpty());
  EXPECT_TRUE(kit.account().snapshot());
  EXPECT_THAT(kit.snapshots_of(one), SizeIs(2)) << "the latest, and a copy";
}

// A late answer to what was given up long ago.
TEST(JournalFaults, ThatEndLateChangeNothing) {
  KitWithAccounts kit;
  kit.hold_answers();
  auto pending = kit.account().ask_future(Deposit{5}, {.command_id = "a"});
  kit.advance(60s);
  EXPECT_EQ(shown(pending), "timeout");
  kit.release_answers();
  kit.run();

  EXPECT_EQ(shown(kit.account().ask(Deposit{5}, {.command_id = "a"})), "5 again");
  EXPECT_EQ(shown(kit.account().ask(Look{})), "5");
}

// -- users' code

TEST(BrokenHandlers, AreAnsweredAndForgotten) {
  KitWithAccounts kit;
  must(kit.account().ask(Deposit{5}));

  for (const std::int64_t where : {1, 2, 3}) {
    auto broken = kit.account().ask_future(Break{where});
    auto behind = kit.account().ask_future(Look{});
    kit.advance(1s);
    const auto answer = broken.get();
    EXPECT_EQ(shown(answer), "invalid_argument") << where;
    EXPECT_THAT(answer.error().what, HasSubstr("broke"));
    EXPECT_EQ(shown(behind), "5");
  }

  EXPECT_THAT(shown(kit.events()), ElementsAre("deposited 5"));
}

TEST(BrokenHandlers, TakeNothingWithThemOfWhatIsUnderWay) {
  KitWithAccounts kit;
  kit.hold_appends();
  auto before = kit.account().ask_future(Deposit{5});
  auto broken = kit.account().ask_future(Break{2});
  auto behind = kit.account().ask_future(Deposit{6});
  kit.run();

  kit.release_appends();
  kit.advance(2s);

  EXPECT_EQ(shown(before), "5");
  EXPECT_EQ(shown(broken), "invalid_argument");
  EXPECT_EQ(shown(behind), "11");
}

TEST(BrokenHandlers, ThatReplyTooMuchWriteNothing) {
  KitWithAccounts kit;

  const auto fits = kit.account().ask(Tell{64 << 10});
  const auto too_large = kit.account().ask(Tell{(64 << 10) + 1});

  EXPECT_EQ(shown(fits), "told");
  EXPECT_EQ(fits->text.size(), std::size_t{64} << 10);
  EXPECT_EQ(shown(too_large), "too_large");
  EXPECT_THAT(kit.events(), SizeIs(1));
}

TEST(BrokenHandlers, CannotReplayWhatTheyDoNotKnow) {
  KitWithAccounts kit;
  ASSERT_TRUE(kit.append_from_outside(from_outside("1", "deposited", "5")));
  ASSERT_TRUE(kit.append_from_outside(from_outside("1", "robbed", "5")));
  ASSERT_TRUE(kit.append_from_outside(from_outside("2", "deposited", "much")));

  const auto unknown = kit.account("1").ask(Deposit{1});
  const auto damaged = kit.account("2").ask(Deposit{1});

  EXPECT_EQ(shown(unknown), "corruption");
  EXPECT_THAT(unknown.error().what, HasSubstr("robbed"));
  EXPECT_EQ(shown(damaged), "corruption");
  EXPECT_EQ(kit.account("1").state(StateRead::eventual).error().code, ErrorCode::corruption);
  EXPECT_EQ(kit.account("1").state_at(GlobalPosition{1})->state.balance, 5) << "before the unknown one";
  EXPECT_THAT(kit.events(), SizeIs(3)) << "nothing was skipped, nothing was written over it";
}

// -- other writers

TEST(OutsideAppends, MakeItReadAgainAndDecideAgain) {
  KitWithAccounts kit;
  must(kit.account().ask(Deposit{10}));
  ASSERT_TRUE(kit.append_from_outside(from_outside("1", "withdrawn", "8")));

  const auto refused = kit.account().ask(Withdraw{5});
  const auto done = kit.account().ask(Withdraw{2});

  EXPECT_EQ(shown(done), "0");
  EXPECT_EQ(shown(refused), "no: only 2") << "decided over what is stored";
  EXPECT_EQ(replayed(kit.events_of(one)), 0);
}

// Never a fork: what was decided over a state that is not going to be is decided again, in order.
TEST(OutsideAppends, BetweenPipelinedOnesNeverForkIt) {
  KitWithAccounts kit;
  must(kit.account().ask(Deposit{10}));
  kit.hold_appends();
  auto first = kit.account().ask_future(Withdraw{4});
  auto second = kit.account().ask_future(Withdraw{4});
  auto third = kit.account().ask_future(Deposit{1});
  kit.run();
  EXPECT_EQ(kit.appends_undecided(), 3u);

  ASSERT_TRUE(kit.append_from_outside(from_outside("1", "withdrawn", "5")));
  kit.release_appends();
  kit.advance(1s);

  EXPECT_EQ(shown(first), "1");
  EXPECT_EQ(shown(second), "no: only 1");
  EXPECT_EQ(shown(third), "2");
  EXPECT_THAT(shown(kit.events_of(one)), ElementsAre("deposited 10", "withdrawn 5", "withdrawn 4", "deposited 1"));
}

// The version that the second of two pipelined appends expects holds by chance: the outsider's event took the first
// one's place.
TEST(OutsideAppends, InThePlaceOfAnEarlierOneBreakTheChain) {
  KitWithAccounts kit;
  must(kit.account().ask(Deposit{10}));
  kit.hold_appends();
  auto first = kit.account().ask_future(Withdraw{4});
  auto second = kit.account().ask_future(Withdraw{3});
  kit.run();

  ASSERT_TRUE(kit.append_from_outside(from_outside("1", "withdrawn", "9")));
  kit.fail_next_append(Fault::refused, ErrorCode::version_conflict);
  kit.release_appends();
  kit.advance(1s);

  EXPECT_EQ(shown(first), "no: only 1");
  EXPECT_EQ(shown(second), "no: only 1");
  EXPECT_EQ(replayed(kit.events_of(one)), 1);
}

// Who backs off loads afterwards: over a state that is older than the pause he would lose every time.
TEST(OutsideAppends, InAStreamDoNotStarveIt) {
  KitWithAccounts kit;
  must(kit.account().ask(Deposit{1}));
  for (int i = 0; i < 3; ++i) kit.fail_next_append(Fault::refused, ErrorCode::version_conflict);
  auto pending = kit.account().ask_future(Deposit{1000});

  for (int i = 0; i < 400 && !ready(pending); ++i) {
    kit.advance(2ms);
    ASSERT_TRUE(kit.append_from_outside(from_outside("1", "deposited", "1")));
  }

  EXPECT_GT(kit.events().size(), 3u);
  EXPECT_EQ(shown(pending), std::to_string(1000 + static_cast<int>(kit.events().size()) - 2));
}

TEST(OutsideAppends, WithoutEndAreSaidSo) {
  KitWithAccounts kit({}, {.conflict_retries = 2});
  for (int i = 0; i < 9; ++i) kit.fail_next_append(Fault::refused, ErrorCode::version_conflict);

  EXPECT_EQ(shown(kit.account().ask(Deposit{1})), "version_conflict");
  EXPECT_THAT(kit.events(), IsEmpty());
}

// -- callers

TEST(CallersThatGoAway, AreToldSoOnceAndLeaveNothingBehind) {
  KitWithAccounts kit;
  kit.hold_appends();
  std::vector<std::string> told;
  const auto tell = [&](Answer<Balance> answer) { told.push_back(shown(answer)); };
  const auto sent = kit.account().ask_async(Deposit{1}, tell);
  kit.run();
  const auto stashed = kit.account("2").ask_async(Deposit{1}, tell);

  sent.cancel();
  stashed.cancel();  // before the actor has seen it
  kit.run();
  sent.cancel();
  kit.release_appends();
  kit.run();
  stashed.cancel();
  kit.run();

  EXPECT_THAT(told, ElementsAre("cancelled", "cancelled"));
  EXPECT_EQ(kit.figures().counters.cancelled, 2u);
  EXPECT_THAT(shown(kit.events_of(one)), ElementsAre("deposited 1"))
      << "it was on its way: its outcome still moves the state";
  EXPECT_EQ(shown(kit.account().ask(Look{})), "1");
  EXPECT_EQ(shown(kit.account("2").ask(Look{})), "0");
}

TEST(CallersThatGoAway, AreNotMissedByOthers) {
  KitWithAccounts kit;
  { auto dropped = kit.account().ask_future(Deposit{1}); }
  auto kept = kit.account().ask_future(Deposit{1});

  kit.run();

  EXPECT_EQ(shown(kept), "2");
}

TEST(CallersThatGoAway, InTheMiddleOfAModelOrALookUpHoldNobodyUp) {
  KitWithAccounts kit;
  must(kit.account().ask(Deposit{1}, {.command_id = "a"}));
  const auto booking = kit.account().ask_async(Book{1}, [](const auto&) {});
  const auto again = kit.account().ask_async(Deposit{1}, [](const auto&) {}, {.command_id = "a"});
  auto behind = kit.account().ask_future(Look{});
  kit.steps(1);

  booking.cancel();
  kit.steps(1);
  again.cancel();
  kit.run();

  EXPECT_EQ(shown(behind), "1");
}

TEST(CallersThatGoAway, MayAskAgainFromWithinAnAnswer) {
  KitWithAccounts kit;
  std::vector<std::string> told;
  kit.account().ask_async(Deposit{1}, [&](const Answer<Balance>& first) {
    told.push_back(shown(first));
    kit.account().ask_async(Deposit{2}, [&](const Answer<Balance>& second) { told.push_back(shown(second)); });
  });

  kit.run();

  EXPECT_THAT(told, ElementsAre("1", "3"));
}

// -- time

TEST(Deadlines, AreKeptWhateverTheJournalDoes) {
  KitWithAccounts kit;
  kit.hold_appends();
  auto short_one = kit.account().ask_future(Deposit{1}, {.timeout = 100ms});
  auto query = kit.account().ask_future(Look{}, {.timeout = 200ms});
  auto long_one = kit.account().ask_future(Deposit{1}, {.timeout = 20s});

  kit.advance(99ms);
  EXPECT_FALSE(ready(short_one));
  kit.advance(300ms);
  EXPECT_EQ(shown(short_one), "timeout") << "it was sent";
  EXPECT_EQ(shown(query), "unavailable") << "it wrote nothing";
  EXPECT_FALSE(ready(long_one));
  kit.release_appends();
  kit.run();

  EXPECT_EQ(shown(long_one), "2");
}

TEST(Deadlines, OfBlockingAsksAreKeptToo) {
  KitWithAccounts kit;
  kit.hold_appends();

  EXPECT_EQ(shown(kit.account().ask(Deposit{1}, {.timeout = 300ms})), "timeout");
  EXPECT_EQ(shown(kit.account().ask(Deposit{1})), "timeout");
  EXPECT_FALSE(kit.account().snapshot(1s));
}

}  // namespace
}  // namespace evershard
