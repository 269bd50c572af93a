// What is hosted, asked and refused, before anything goes wrong.

#include "tests/actors/aggregate/kit_looks.hpp"

namespace evershard {
namespace {

struct Other {
  static constexpr std::string_view type = "other";
  using State = Account;
  using Commands = Types<Look>;
  using Events = Types<Deposited>;
  static Balance on(const State& account, const Look&) { return {account.balance}; }
  static void apply(State& account, const Deposited& e) { account.balance += e.n; }
};

TEST(Hosting, AnswersInTheUsersTypes) {
  KitWithAccounts kit;

  const auto deposited = kit.account().ask(Deposit{100});
  const auto refused = kit.account().ask(Withdraw{300});
  const auto withdrawn = kit.account().ask(Withdraw{30});

  EXPECT_EQ(shown(deposited), "100");
  EXPECT_EQ(deposited.version(), SeqNr{1});
  EXPECT_EQ(deposited.position(), GlobalPosition{1});
  EXPECT_EQ(shown(refused), "no: only 100");
  EXPECT_EQ(shown(withdrawn), "70");
  EXPECT_EQ(shown(kit.account().ask(Look{})), "70");
  EXPECT_THAT(shown(kit.events_of(one)), ElementsAre("deposited 100", "withdrawn 30"));
}

TEST(Hosting, DoesNothingBeforeItIsTold) {
  KitWithAccounts kit;

  auto pending = kit.account().ask_future(Deposit{1});

  EXPECT_EQ(shown(pending), "-");
  EXPECT_THAT(kit.events(), IsEmpty());
  EXPECT_TRUE(kit.run());
  EXPECT_EQ(shown(pending), "1");
  EXPECT_FALSE(kit.run());
}

TEST(Hosting, ReadsStatesInEveryWay) {
  KitWithAccounts kit;
  must(kit.account().ask(Deposit{5}));
  must(kit.account("2").ask(Deposit{7}));
  must(kit.account().ask(Deposit{6}));

  const auto strict = kit.account().state();
  const auto eventual = kit.account().state(StateRead::eventual);
  const auto before = kit.account().state_at(GlobalPosition{2});
  const auto absent = kit.account("nobody").state();

  ASSERT_TRUE(strict && eventual && before && absent);
  EXPECT_EQ(strict->state.balance, 11);
  EXPECT_EQ(strict->version, SeqNr{2});
  EXPECT_EQ(strict->position, GlobalPosition{3});
  EXPECT_EQ(eventual->state.balance, 11);
  EXPECT_EQ(before->state.balance, 5);
  EXPECT_EQ(before->position, GlobalPosition{1});
  EXPECT_EQ(absent->version, SeqNr{0});
}

// A strict read waits for what was asked before it; an eventual one shows what is stored.
TEST(Hosting, ShowsNothingThatIsNotDurable) {
  KitWithAccounts kit;
  must(kit.account().ask(Deposit{5}));
  kit.hold_appends();
  auto pending = kit.account().ask_future(Deposit{6});
  auto looked = kit.account().ask_future(Look{});
  auto refused = kit.account().ask_future(Withdraw{100});
  kit.run();

  const auto eventual = kit.account().state(StateRead::eventual);
  const auto strict = kit.account().state(StateRead::strict, 100ms);

  EXPECT_EQ(shown(pending) + shown(looked) + shown(refused), "---");
  EXPECT_EQ(eventual->state.balance, 5);
  EXPECT_FALSE(strict);
  kit.release_appends();
  kit.run();
  EXPECT_EQ(shown(pending), "11");
  EXPECT_EQ(shown(looked), "11");
  EXPECT_EQ(shown(refused), "no: only 11");
}

TEST(Hosting, RefusesAKindTwice) {
  KitWithAccounts kit;

  const auto twice = kit.host<SmallBank>();

  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(twice.error().what, HasSubstr("\"account\""));
  EXPECT_EQ(shown(kit.account().ask(Deposit{1})), "1");
}

TEST(Hosting, KeepsKindsApart) {
  KitWithAccounts kit;
  ASSERT_TRUE(kit.host<Other>());

  must(kit.account().ask(Deposit{5}));

  EXPECT_EQ(shown(kit.get<Other>("1").ask(Look{})), "0");
}

TEST(Hosting, RefusesAKindThatNobodyHosts) {
  KitWithAccounts kit;
  auto other = kit.get<Other>("1");

  const auto asked = other.ask(Look{});

  EXPECT_EQ(shown(asked), "invalid_argument");
  EXPECT_THAT(asked.error().what, HasSubstr("\"other\""));
  for (const auto& error : {other.state().error(), other.state(StateRead::eventual).error(),
                            other.state_at(GlobalPosition{1}).error(), other.snapshot().error()}) {
    EXPECT_EQ(error.code, ErrorCode::invalid_argument);
    EXPECT_EQ(error.what, asked.error().what);
  }
  other.passivate();
  EXPECT_TRUE(kit.run());
}

TEST(Hosting, RefusesIdsThatCannotBe) {
  KitWithAccounts kit;

  for (const auto& value : {std::string(), std::string("a\0b", 3), std::string("\xff"), std::string(513, 'x')}) {
    auto account = kit.account(value);
    const auto asked = account.ask(Deposit{1});
    auto later = account.ask_future(Deposit{1});
    ASSERT_TRUE(asked.failed()) << value;
    EXPECT_TRUE(asked.error().code == ErrorCode::invalid_argument || asked.error().code == ErrorCode::too_large)
        << asked.error().what;
    EXPECT_TRUE(ready(later));
    EXPECT_FALSE(account.state());
    EXPECT_FALSE(account.state_at(GlobalPosition{1}));
    EXPECT_FALSE(account.snapshot());
    account.passivate();
  }
  kit.run();
  EXPECT_THAT(kit.events(), IsEmpty());
}

TEST(Hosting, RefusesOptionsThatCannotWork) {
  ActorKit kit;

  EXPECT_FALSE(kit.host<SmallBank>({.stash_limit = 0}));
  EXPECT_FALSE(kit.host<SmallBank>({.stash_bytes = 0}));
  EXPECT_FALSE(kit.host<SmallBank>({.in_flight_limit = 0}));
  EXPECT_FALSE(kit.host<SmallBank>({.command_timeout = 0ms}));
  EXPECT_FALSE(kit.host<SmallBank>({.retry_delay_min = 2s, .retry_delay_max = 1s}));
  EXPECT_FALSE(kit.host<SmallBank>({.retry_delay_min = -1ms}));
  EXPECT_TRUE(kit.host<SmallBank>({.stash_limit = 1}));
}

TEST(Hosting, WaitsForEverWhereItIsTold) {
  KitWithAccounts kit({}, {.command_timeout = std::chrono::milliseconds::max()});

  EXPECT_EQ(shown(kit.account().ask(Deposit{1})), "1");
  EXPECT_EQ(shown(kit.account().ask(Deposit{1}, {.timeout = std::chrono::milliseconds::max()})), "2");
  auto pending = kit.account().ask_future(Deposit{1}, {.timeout = std::chrono::milliseconds::max()});
  kit.run();
  EXPECT_EQ(shown(pending), "3");
  EXPECT_TRUE(kit.account().state(StateRead::strict, std::chrono::milliseconds::max()));
}

TEST(Hosting, RefusesCommandsThatAreNone) {
  KitWithAccounts kit;
  AggregateDoor& door = kit;

  const auto unknown = door.ask_and_wait(one, "steal", "1", {});
  const auto damaged = door.ask_and_wait(one, "deposit", "much", {});
  const auto long_id = kit.account().ask(Deposit{1}, {.command_id = std::string(256, 'x')});

  EXPECT_EQ(unknown.error.code, ErrorCode::invalid_argument);
  EXPECT_THAT(unknown.error.what, HasSubstr("steal"));
  EXPECT_EQ(damaged.error.code, ErrorCode::invalid_argument);
  EXPECT_EQ(shown(long_id), "too_large");
  EXPECT_THAT(kit.events(), IsEmpty());
}

TEST(Hosting, BoundsWhatWaitsForAnAggregate) {
  KitWithAccounts kit({}, {.stash_limit = 3});
  kit.hold_appends();
  std::vector<std::future<Answer<Balance>>> pending;

  for (int i = 0; i < 5; ++i) pending.push_back(kit.account().ask_future(Deposit{1}));
  kit.run();

  EXPECT_EQ(shown(pending[3]), "overloaded");
  EXPECT_EQ(shown(pending[4]), "overloaded");
  EXPECT_EQ(shown(kit.account("2").ask(Look{})), "0") << "another aggregate is not concerned";
  kit.release_appends();
  kit.run();
  EXPECT_EQ(shown(pending[0]) + shown(pending[1]) + shown(pending[2]), "123");
  EXPECT_EQ(kit.figures().counters.overloaded, 2u);
}

TEST(Hosting, CountsEveryAsk) {
  KitWithAccounts kit;
  must(kit.account().ask(Deposit{1}, {.command_id = "a"}));
  must(kit.account().ask(Deposit{1}, {.command_id = "a"}));
  EXPECT_TRUE(kit.account().ask(Withdraw{5}).rejected());
  EXPECT_TRUE(kit.account().ask(Break{1}).failed());

  const auto counters = kit.figures().counters;

  EXPECT_EQ(counters.asked, 4u);
  EXPECT_EQ(counters.replied, 2u);
  EXPECT_EQ(counters.duplicates, 1u);
  EXPECT_EQ(counters.rejected, 1u);
  EXPECT_EQ(counters.failed, 1u);
  EXPECT_EQ(kit.figures().live, 1u);
}

// What is decided rests on others' events: held by a condition, tried again when they changed.
TEST(Hosting, DecidesOnEventsOfOthers) {
  KitWithAccounts kit;

  EXPECT_EQ(shown(kit.account("1").ask(Book{2})), "0");
  EXPECT_EQ(shown(kit.account("2").ask(Book{2})), "0");
  EXPECT_EQ(shown(kit.account("3").ask(Book{2})), "no: full: 2");
  EXPECT_EQ(shown(kit.account("1").ask(Claim{7})), "0");
  const auto taken = kit.account("2").ask(Claim{7});
  EXPECT_EQ(shown(taken), "condition_failed");
}

TEST(Hosting, DecidesAgainWhatOthersOvertook) {
  KitWithAccounts kit;
  kit.hold_appends();
  auto first = kit.account("1").ask_future(Book{1});
  auto second = kit.account("2").ask_future(Book{1});
  kit.run();

  kit.release_appends();
  kit.advance(2s);

  EXPECT_EQ(shown(first), "0");
  EXPECT_EQ(shown(second), "no: full: 1");
  EXPECT_EQ(kit.figures().counters.condition_retries, 1u);
  EXPECT_THAT(kit.events(), SizeIs(1));
}

// A blocking ask lets as much time pass as its retries need.
TEST(Hosting, LetsTimePassForWhoWaits) {
  KitWithAccounts kit;
  kit.fail_next_append(Fault::refused, ErrorCode::version_conflict);
  kit.fail_next_append(Fault::refused, ErrorCode::version_conflict);
  kit.fail_next_append(Fault::refused, ErrorCode::version_conflict);
  kit.fail_next_append(Fault::refused, ErrorCode::version_conflict);

  EXPECT_EQ(shown(kit.account().ask(Deposit{1})), "1");
  EXPECT_EQ(kit.figures().counters.conflicts, 4u);
}

}  // namespace
}  // namespace evershard
