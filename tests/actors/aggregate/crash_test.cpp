// The process is killed at any point: what was answered is there, what is there is there once, and the same command
// twice is one.

#include "tests/actors/aggregate/kit_looks.hpp"

namespace evershard {
namespace {

TEST(Crashes, TellNobodyAnything) {
  KitWithAccounts kit;
  kit.hold_appends();
  auto pending = kit.account().ask_future(Deposit{1});
  const auto asking =
      kit.account().ask_async(Deposit{1}, [](const auto&) { FAIL() << "told by a process that is gone"; });
  kit.run();

  kit.crash();
  asking.cancel();
  kit.advance(60s);

  EXPECT_EQ(shown(pending), "-");
  EXPECT_EQ(shown(kit.account().ask(Look{})), "unavailable");
  EXPECT_FALSE(kit.account().state());
  EXPECT_FALSE(kit.account().snapshot());
  EXPECT_FALSE(kit.host<SmallBank>());
  kit.restart();
  kit.run();
  EXPECT_EQ(shown(pending), "-");
  EXPECT_EQ(shown(kit.account().ask(Look{})), "0");
}

TEST(Crashes, BeforeTheAppendIsDecidedLeaveNothing) {
  KitWithAccounts kit;
  kit.hold_appends();
  auto pending = kit.account().ask_future(Deposit{5}, {.command_id = "a"});
  kit.run();
  ASSERT_EQ(kit.appends_undecided(), 1u);

  kit.crash();
  kit.restart();

  EXPECT_EQ(shown(kit.account().ask(Look{})), "0");
  EXPECT_EQ(shown(kit.account().ask(Deposit{5}, {.command_id = "a"})), "5");
  EXPECT_THAT(kit.events(), SizeIs(1));
}

TEST(Crashes, AfterTheAppendIsWrittenLeaveAllOfIt) {
  KitWithAccounts kit;
  kit.hold_answers();
  auto pending = kit.account().ask_future(DepositTwice{5}, {.command_id = "a"});
  kit.run();
  ASSERT_EQ(kit.appends_unanswered(), 1u);

  kit.crash();
  kit.restart();

  EXPECT_EQ(shown(pending), "-");
  const auto again = kit.account().ask(DepositTwice{5}, {.command_id = "a"});
  EXPECT_EQ(shown(again), "10 again");
  EXPECT_EQ(again.version(), SeqNr{2});
  EXPECT_EQ(again.position(), GlobalPosition{2});
  EXPECT_THAT(kit.events(), SizeIs(2));
}

TEST(Crashes, LeaveNeitherHoldsNorFaults) {
  KitWithAccounts kit;
  kit.hold_appends();
  kit.fail_next_append(Fault::refused, ErrorCode::too_large);
  kit.fail_next(JournalCall::stream);

  kit.restart();

  EXPECT_EQ(shown(kit.account().ask(Deposit{1})), "1");
}

// After every single thing that the process does: a script of commands with ids, killed there, and sent again by who
// got no answer.
class CrashAt : public ::testing::TestWithParam<bool> {};

TEST_P(CrashAt, EveryPointLosesNothingAndDoublesNothing) {
  bool finished = false;
  std::size_t point = 0;
  for (; !finished && !HasFailure(); ++point) {
    SCOPED_TRACE("killed after " + std::to_string(point) + " steps");
    KitWithAccounts kit({.seed = 100 + point, .any_order = GetParam()});
    struct Sent {
      std::string account, id;
      std::int64_t amount;
      std::optional<std::future<Answer<Balance>>> answer;
      std::string told;
    };
    std::vector<Sent> script;
    for (int i = 0; i < 12; ++i)
      script.push_back({std::to_string(i % 3), "c" + std::to_string(i), i % 4 == 3 ? -2 : i + 1, {}, "-"});
    const auto send = [&](Sent& one_of_them) {
      auto account = kit.account(one_of_them.account);
      const AskOptions options{.command_id = one_of_them.id};
      one_of_them.answer = one_of_them.amount < 0 ? account.ask_future(Withdraw{-one_of_them.amount}, options)
                           : one_of_them.amount % 5 == 0
                               ? account.ask_future(DepositAndSnap{one_of_them.amount}, options)
                               : account.ask_future(Deposit{one_of_them.amount}, options);
    };
    const auto hear = [&] {
      for (auto& one_of_them : script) {
        if (one_of_them.told == "-" && one_of_them.answer && ready(*one_of_them.answer))
          one_of_them.told = shown(one_of_them.answer->get());
      }
    };

    for (auto& one_of_them : script) send(one_of_them);
    finished = kit.steps(point) < point;
    hear();
    kit.crash();
    kit.restart();
    std::map<std::string, std::string> told_before;
    for (auto& one_of_them : script) {
      if (one_of_them.told != "-") told_before[one_of_them.id] = one_of_them.told;
      one_of_them.told = "-";
      send(one_of_them);  // all of them: also what was answered
    }
    kit.advance(20s);
    hear();

    std::map<std::string, std::int64_t> balances;
    for (const auto& one_of_them : script) {
      ASSERT_NE(one_of_them.told, "-");
      const auto before = told_before.find(one_of_them.id);
      if (before != told_before.end() && !before->second.starts_with("no")) {
        EXPECT_EQ(one_of_them.told, before->second + " again") << "what was answered is there, and answered alike";
      }
      if (!one_of_them.told.starts_with("no")) balances[one_of_them.account] += one_of_them.amount;
    }
    std::size_t events = 0;
    for (const auto& [account, balance] : balances) {
      const auto stored = kit.events_of({"account", account});
      events += stored.size();
      EXPECT_EQ(replayed(stored), balance) << "every command that was carried out, once";
      EXPECT_EQ(kit.account(account).ask(Look{})->n, balance);
    }
    EXPECT_EQ(kit.events().size(), events);
    EXPECT_GE(events, 9u);
  }
  EXPECT_GT(point, 20u) << "a crash at so few points tells little";
}

INSTANTIATE_TEST_SUITE_P(InOrder, CrashAt, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(InAnyOrder, CrashAt, ::testing::Values(true));

// -- the same command twice

TEST(TheSameCommandTwice, IsOneWhileTheFirstIsUnderWay) {
  KitWithAccounts kit;
  kit.hold_appends();
  auto first = kit.account().ask_future(Deposit{5}, {.command_id = "a"});
  auto second = kit.account().ask_future(Deposit{5}, {.command_id = "a"});
  kit.run();
  kit.release_appends();
  kit.advance(1s);

  EXPECT_EQ(shown(first), "5");
  EXPECT_EQ(shown(second), "5 again");
  EXPECT_THAT(kit.events(), SizeIs(1));
}

TEST(TheSameCommandTwice, IsOneAfterAnything) {
  KitWithAccounts kit({.live_limit = 4});
  const auto ask = [&] { return shown(kit.account().ask(Deposit{5}, {.command_id = "a"})); };
  EXPECT_EQ(ask(), "5");
  must(kit.account().ask(Deposit{1}));

  EXPECT_EQ(ask(), "5 again") << "at once, with the reply of then";
  kit.account().passivate();
  EXPECT_EQ(ask(), "5 again") << "after passivation";
  for (int i = 0; i < 40; ++i) must(kit.account("other" + std::to_string(i)).ask(Deposit{1}));
  EXPECT_GT(kit.figures().counters.evicted, 0u);
  EXPECT_EQ(ask(), "5 again") << "after eviction";
  kit.advance(120s);
  EXPECT_EQ(kit.figures().live, 0u);
  EXPECT_EQ(ask(), "5 again") << "after being idle";
  must(kit.account().ask(DepositAndSnap{1}));
  kit.crash();
  kit.restart();
  EXPECT_EQ(ask(), "5 again") << "after a crash, loaded from a snapshot";
  kit.stop();
  kit.restart();
  EXPECT_EQ(ask(), "5 again") << "after an orderly end";
  EXPECT_EQ(kit.account().state()->state.balance, 7);
}

TEST(TheSameCommandTwice, IsAnotherOneForAnotherAggregate) {
  KitWithAccounts kit;

  EXPECT_EQ(shown(kit.account("1").ask(Deposit{5}, {.command_id = "a"})), "5");
  EXPECT_EQ(shown(kit.account("2").ask(Deposit{5}, {.command_id = "a"})), "5");
}

// Nothing was written: deciding it again is harmless.
TEST(TheSameCommandTwice, IsDecidedAgainWhereItWroteNothing) {
  KitWithAccounts kit;

  EXPECT_EQ(shown(kit.account().ask(Withdraw{5}, {.command_id = "a"})), "no: only 0");
  EXPECT_EQ(shown(kit.account().ask(Touch{}, {.command_id = "b"})), "0");
  must(kit.account().ask(Deposit{5}));
  EXPECT_EQ(shown(kit.account().ask(Withdraw{5}, {.command_id = "a"})), "0");
  EXPECT_EQ(shown(kit.account().ask(Touch{}, {.command_id = "b"})), "0");
}

// The id, not the content, is what makes it the same; also where it would be decided otherwise now.
TEST(TheSameCommandTwice, GivesTheStoredReplyWhateverItWouldSayNow) {
  KitWithAccounts kit;
  must(kit.account().ask(Deposit{5}));
  EXPECT_EQ(shown(kit.account().ask(Withdraw{5}, {.command_id = "a"})), "0");

  EXPECT_EQ(shown(kit.account().ask(Withdraw{5}, {.command_id = "a"})), "0 again");
  EXPECT_EQ(shown(kit.account().ask(Break{1}, {.command_id = "a"})), "0 again");
  EXPECT_EQ(shown(kit.account().ask(Look{}, {.command_id = "a"})), "0") << "a query cannot have been stored";
}

// An answer that got lost is the usual reason to send it again: at once, while the aggregate is still catching its
// breath.
TEST(TheSameCommandTwice, IsOneWhenTheFirstAnswerWasLost) {
  KitWithAccounts kit;
  for (int i = 0; i < 20; ++i) {
    const std::string id = "c" + std::to_string(i);
    kit.fail_next_append(i % 2 == 0 ? Fault::lost_written : Fault::lost_not_written, ErrorCode::timeout);
    EXPECT_EQ(shown(kit.account().ask(Deposit{1}, {.command_id = id})), "timeout");
    EXPECT_TRUE(kit.account().ask(Deposit{1}, {.command_id = id, .timeout = 60s}));
    EXPECT_THAT(kit.events(), SizeIs(i + 1));
  }
}

}  // namespace
}  // namespace evershard
