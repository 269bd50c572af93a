// Commands that ask an outside service before they are decided.

#include "tests/actors/aggregate/kit_looks.hpp"

#include <deque>
#include <evershard/test_kit.hpp>
#include <map>
#include <set>
#include <stdexcept>

#include "evershard/actors/entity/jitter.hpp"
#include "evershard/actors/model/preparations.hpp"
#include "evershard/protocol/prepared.hpp"

namespace evershard {
namespace {

/// Withdrawals are asked for first: Touch is the question, Balance the answer: how much may be taken.
struct Careful {
  static constexpr std::string_view type = "account";
  using State = Account;
  using Commands = Types<Deposit, Withdraw, Claim, Look, Tell>;
  using Events = Types<Deposited, Withdrawn>;
  using Prepares = Types<Asks<Touch, Balance>>;

  static Balance balance(const State& account) { return {account.balance}; }

  static Effect<Balance> on(const State&, const Deposit& c) { return persist(Deposited{c.n}).reply(&balance); }
  static Balance on(const State& account, const Look&) { return balance(account); }
  static Effect<> on(const State&, const Tell& c) { return schedule("take", 60s, Withdraw{c.n}); }

  static Touch prepare(const State& account, const Withdraw&) { return {account.balance}; }
  static Effect<Balance> on(const State& account, const Withdraw& c, const Balance& most) {
    if (c.n > most.n) return reject("at most " + std::to_string(most.n));
    if (c.n > account.balance) return reject("only " + std::to_string(account.balance));
    return persist(Withdrawn{c.n}).reply(&balance);
  }
  /// 0 asks nothing.
  static std::optional<Touch> prepare(const State&, const Claim& c) {
    return c.n == 0 ? std::nullopt : std::optional(Touch{c.n});
  }
  static Effect<Balance> on(const State&, const Claim& c, const std::optional<Balance>& bonus) {
    return persist(Deposited{c.n + (bonus ? bonus->n : 1'000)}).reply(&balance);
  }

  static void apply(State& account, const Deposited& e) { account.balance += e.n; }
  static void apply(State& account, const Withdrawn& e) { account.balance -= e.n; }
};

struct AskedOutside {
  std::int64_t n;
  PrepareAttempt attempt;
  std::function<void(Result<Balance>)> done;
};

/// The outside is a list of questions that the test answers.
struct CarefulKit : ActorKit {
  explicit CarefulKit(ActorKitOptions options = {}, std::uint32_t at_a_time = 64) : ActorKit(options) {
    const auto hosted = host<Careful>(
        {.prepare = Preparations{}.on<Touch, Balance>(
             [this](const Touch& question, const PrepareAttempt& attempt, std::function<void(Result<Balance>)> done) {
               if (throws) throw std::runtime_error("no connection");
               questions.push_back({question.n, attempt, std::move(done)});
             },
             {.at_a_time = at_a_time})});
    EXPECT_TRUE(hosted) << hosted.error().what;
  }
  AggregateRef<Careful> account(std::string_view value = "1") { return get<Careful>(value); }
  void answer(Result<Balance> with) {
    ASSERT_FALSE(questions.empty());
    auto question = std::move(questions.front());
    questions.pop_front();
    question.done(std::move(with));
    run();
  }
  std::deque<AskedOutside> questions;
  bool throws = false;
};

TEST(Prepare, DecidesOnTheAnswerAndRecordsIt) {
  CarefulKit kit;
  must(kit.account().ask(Deposit{100}));

  auto taken = kit.account().ask_future(Withdraw{30});
  kit.run();
  ASSERT_THAT(kit.questions, SizeIs(1));
  EXPECT_EQ(kit.questions.front().n, 100);
  EXPECT_EQ(kit.questions.front().attempt.aggregate, one);
  EXPECT_EQ(shown(taken), "-");
  kit.answer(Balance{50});

  EXPECT_EQ(shown(taken), "70");
  const auto events = kit.events_of(one);
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_EQ(events[1].type, command_prepared_type);
  EXPECT_EQ(events[2].type, "withdrawn");
  const auto recorded = decode_command_prepared(events[1].payload);
  ASSERT_TRUE(recorded);
  EXPECT_EQ(*recorded, (CommandPrepared{"withdraw", "touch", "100", "balance", "50"}));
  EXPECT_EQ(kit.account().state()->state.balance, 70);
  EXPECT_EQ(kit.account().state(StateRead::eventual)->version, SeqNr{3});
}

TEST(Prepare, RejectsOnTheAnswerAndWritesNothing) {
  CarefulKit kit;
  must(kit.account().ask(Deposit{100}));
  auto taken = kit.account().ask_future(Withdraw{30});
  kit.run();
  kit.answer(Balance{20});
  EXPECT_EQ(shown(taken), "no: at most 20");
  EXPECT_THAT(kit.events_of(one), SizeIs(1));
}

TEST(Prepare, MayAskNothing) {
  CarefulKit kit;
  EXPECT_EQ(shown(kit.account().ask(Claim{0})), "1000");
  EXPECT_THAT(kit.questions, IsEmpty());
  EXPECT_THAT(kit.events_of(one), SizeIs(1));
  auto claimed = kit.account().ask_future(Claim{5});
  kit.run();
  kit.answer(Balance{2});
  EXPECT_EQ(shown(claimed), "1007");
}

// The outside takes its time; what was asked behind the command does not wait, and is in the state that decides.
TEST(Prepare, OthersAreDecidedMeanwhile) {
  CarefulKit kit;
  must(kit.account().ask(Deposit{10}));
  auto taken = kit.account().ask_future(Withdraw{30});
  kit.run();
  EXPECT_EQ(shown(kit.account().ask(Deposit{40})), "50");
  EXPECT_EQ(shown(kit.account().ask(Look{})), "50");
  kit.answer(Balance{30});
  EXPECT_EQ(shown(taken), "20");
}

TEST(Prepare, AsksWhenWhatItSawIsDurable) {
  CarefulKit kit;
  must(kit.account().ask(Deposit{1}));
  kit.hold_appends();
  auto deposited = kit.account().ask_future(Deposit{9});
  auto taken = kit.account().ask_future(Withdraw{10});
  kit.run();
  EXPECT_THAT(kit.questions, IsEmpty());
  kit.release_appends();
  kit.run();
  ASSERT_THAT(kit.questions, SizeIs(1));
  EXPECT_EQ(kit.questions.front().n, 10);
  kit.answer(Balance{10});
  EXPECT_EQ(shown(taken), "0");
  EXPECT_EQ(shown(deposited), "10");
}

TEST(Prepare, ARepeatedCommandDoesNotAskAgain) {
  CarefulKit kit;
  must(kit.account().ask(Deposit{100}));
  auto taken = kit.account().ask_future(Withdraw{30}, {.command_id = "w"});
  kit.run();
  kit.answer(Balance{50});
  EXPECT_EQ(shown(taken), "70");
  EXPECT_EQ(shown(kit.account().ask(Withdraw{30}, {.command_id = "w"})), "70 again");
  kit.restart();
  EXPECT_EQ(shown(kit.account().ask(Withdraw{30}, {.command_id = "w"})), "70 again");
  EXPECT_THAT(kit.questions, IsEmpty());
}

// What it would be told by itself is of a state that the first one made.
TEST(Prepare, ACommandSentAgainWaitsForTheFirstOfItsId) {
  CarefulKit kit;
  must(kit.account().ask(Deposit{100}));
  auto first = kit.account().ask_future(Withdraw{80}, {.command_id = "w"});
  auto second = kit.account().ask_future(Withdraw{80}, {.command_id = "w"});
  kit.run();
  auto third = kit.account().ask_future(Withdraw{80}, {.command_id = "w"});
  auto other = kit.account().ask_future(Withdraw{10}, {.command_id = "x"});
  kit.run();
  ASSERT_THAT(kit.questions, SizeIs(2)) << "one of each id";
  EXPECT_EQ(shown(kit.account().ask(Deposit{1})), "101") << "others do not wait";
  kit.answer(Balance{90});
  EXPECT_EQ(shown(first), "21");
  EXPECT_EQ(shown(second), "21 again");
  EXPECT_EQ(shown(third), "21 again");
  kit.answer(Balance{10});
  EXPECT_EQ(shown(other), "11");
  EXPECT_THAT(kit.questions, IsEmpty());
}

TEST(Prepare, ACommandSentAgainIsDecidedWhereTheFirstOneWrote) {
  CarefulKit kit;
  must(kit.account().ask(Deposit{100}));
  auto first = kit.account().ask_future(Withdraw{80}, {.command_id = "w"});
  auto second = kit.account().ask_future(Withdraw{80}, {.command_id = "w"});
  auto third = kit.account().ask_future(Withdraw{80}, {.command_id = "w"});
  kit.run();
  kit.answer(refuse(ErrorCode::unavailable, "closed"));
  EXPECT_EQ(shown(first), "unavailable");
  ASSERT_THAT(kit.questions, SizeIs(1)) << "the second one asks, the third one waits for it";
  kit.answer(Balance{70});
  EXPECT_EQ(shown(second), "no: at most 70");
  ASSERT_THAT(kit.questions, SizeIs(1));
  kit.answer(Balance{80});
  EXPECT_EQ(shown(third), "20");
}

// It returns to a place in front of what was decided meanwhile, and saw that.
TEST(Prepare, IsAnsweredWhenWhatItSawIsDurable) {
  for (const bool refused : {false, true}) {
    CarefulKit kit;
    must(kit.account().ask(Deposit{10}));
    auto taken = kit.account().ask_future(Withdraw{60});
    kit.run();
    ASSERT_THAT(kit.questions, SizeIs(1));
    if (refused) kit.fail_next_append(Fault::refused, ErrorCode::too_large);
    kit.hold_appends();
    auto deposited = kit.account().ask_future(Deposit{40});
    kit.run();
    kit.answer(Balance{100});
    EXPECT_EQ(shown(taken), "-");
    kit.release_appends();
    kit.run();
    EXPECT_EQ(shown(taken), refused ? "no: only 10" : "no: only 50");
    EXPECT_EQ(shown(deposited) == "50", !refused);
  }
}

TEST(Prepare, ItsKeyIsTheCommands) {
  CarefulKit kit;
  must(kit.account().ask(Deposit{100}));
  auto lost = kit.account().ask_future(Withdraw{30}, {.command_id = "w"});
  kit.run();
  const auto key = kit.questions.at(0).attempt.key;
  kit.crash();
  kit.questions.clear();
  kit.restart();
  auto again = kit.account().ask_future(Withdraw{30}, {.command_id = "w"});
  auto other = kit.account().ask_future(Withdraw{30}, {.command_id = "v"});
  auto elsewhere = kit.account("2").ask_future(Withdraw{30}, {.command_id = "w"});
  auto nameless = kit.account().ask_future(Withdraw{30});
  auto nameless_too = kit.account().ask_future(Withdraw{30});
  kit.run();
  ASSERT_THAT(kit.questions, SizeIs(5));
  std::set<std::string> keys;
  for (const auto& question : kit.questions) keys.insert(question.attempt.key);
  EXPECT_THAT(keys, SizeIs(5));
  EXPECT_EQ(keys.count(key), 1u);
}

TEST(Prepare, AFailureIsTheCommands) {
  CarefulKit kit;
  must(kit.account().ask(Deposit{100}));
  auto down = kit.account().ask_future(Withdraw{30});
  kit.run();
  kit.answer(refuse(ErrorCode::timeout, "the bureau says nothing"));
  const auto answer = down.get();
  ASSERT_TRUE(answer.failed());
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);  // nothing was written: no outcome is open
  EXPECT_THAT(answer.error().what, HasSubstr("the bureau says nothing"));
  kit.throws = true;
  const auto thrown = kit.account().ask(Withdraw{30});
  ASSERT_TRUE(thrown.failed());
  EXPECT_THAT(thrown.error().what, HasSubstr("no connection"));
  kit.throws = false;
  EXPECT_THAT(kit.events_of(one), SizeIs(1));
  EXPECT_EQ(shown(kit.account().ask(Deposit{1})), "101");
}

TEST(Prepare, ASecondAnswerIsPassedOver) {
  CarefulKit kit;
  must(kit.account().ask(Deposit{100}));
  auto taken = kit.account().ask_future(Withdraw{30});
  kit.run();
  const auto done = kit.questions.at(0).done;
  kit.answer(Balance{50});
  done(Balance{1});
  kit.run();
  EXPECT_EQ(shown(taken), "70");
  EXPECT_EQ(kit.account().state()->version, SeqNr{3});
}

TEST(Prepare, AskedSoManyAtATime) {
  CarefulKit kit({}, 2);
  std::vector<std::future<Answer<Balance>>> claims;
  for (int i = 1; i <= 5; ++i) claims.push_back(kit.account(std::to_string(i)).ask_future(Claim{i}));
  kit.run();
  EXPECT_THAT(kit.questions, SizeIs(2));
  kit.answer(Balance{0});
  EXPECT_THAT(kit.questions, SizeIs(2));
  while (!kit.questions.empty()) kit.answer(Balance{0});
  for (int i = 1; i <= 5; ++i) EXPECT_EQ(shown(claims[static_cast<std::size_t>(i - 1)]), std::to_string(i));
}

// Who says nothing holds up his command until its time is over, and nobody else behind that.
TEST(Prepare, NoAnswerEndsWithTheCommandsTime) {
  CarefulKit kit({}, 1);
  auto silent = kit.account("1").ask_future(Claim{1}, {.timeout = 2s});
  auto behind = kit.account("2").ask_future(Claim{2}, {.timeout = 10s});
  auto late = kit.account("3").ask_future(Claim{3}, {.timeout = 1s});
  kit.run();
  kit.advance(3s);
  EXPECT_EQ(shown(silent), "unavailable");
  EXPECT_EQ(shown(late), "unavailable");
  ASSERT_THAT(kit.questions, SizeIs(2));
  EXPECT_EQ(kit.questions.back().n, 2);  // the third was never asked
  kit.questions.pop_front();
  kit.answer(Balance{0});
  EXPECT_EQ(shown(behind), "2");
}

TEST(Prepare, IsDecidedAgainOnTheSameAnswer) {
  CarefulKit kit;
  must(kit.account().ask(Deposit{100}));
  auto taken = kit.account().ask_future(Withdraw{30});
  kit.run();
  kit.hold_appends();
  kit.answer(Balance{50});
  ASSERT_TRUE(kit.append_from_outside(from_outside("1", "deposited", "5")));
  kit.release_appends();
  kit.advance(5s);
  EXPECT_EQ(shown(taken), "75");
  EXPECT_THAT(kit.questions, IsEmpty());
}

TEST(Prepare, EndsWithItsHost) {
  CarefulKit kit;
  auto pending = kit.account().ask_future(Claim{1});
  kit.run();
  kit.stop();
  EXPECT_EQ(shown(pending), "unavailable");
  kit.questions.front().done(Balance{1});  // nobody is there
}

TEST(Prepare, StaysInMemoryUntilItIsAnswered) {
  CarefulKit kit;
  auto pending = kit.account().ask_future(Claim{1});
  kit.run();
  kit.account().passivate();
  kit.run();
  kit.answer(Balance{1});
  EXPECT_EQ(shown(pending), "2");
  kit.run();
  EXPECT_EQ(kit.figures().live, 0u);
}

TEST(Prepare, NeedsAHandlerForEachQuestion) {
  ActorKit kit;
  const auto none = kit.host<Careful>();
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(none.error().what, HasSubstr("\"touch\""));
  const auto nothing = [](const Touch&, const PrepareAttempt&, std::function<void(Result<Balance>)>) {};
  EXPECT_FALSE(kit.host<Careful>({.prepare = Preparations{}.on<Touch, Balance>(nothing, {.at_a_time = 0})}));
  EXPECT_TRUE(kit.host<Careful>({.prepare = Preparations{}.on<Touch, Balance>(nothing)}));
}

TEST(Prepare, AHostingThatIsRefusedLeavesTheHandlers) {
  CarefulKit kit;
  const auto nothing = [](const Touch&, const PrepareAttempt&, std::function<void(Result<Balance>)>) {};
  EXPECT_FALSE(kit.host<Careful>({.prepare = Preparations{}.on<Touch, Balance>(nothing)}));
  auto claimed = kit.account().ask_future(Claim{1});
  kit.run();
  kit.answer(Balance{1});
  EXPECT_EQ(shown(claimed), "2");
}

// Whatever happens in between: each command takes effect once, with an answer to its own question before its event.
TEST(Prepare, TakesEffectOnceWhateverHappens) {
  std::uint64_t asked = 0, crashes = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    actors::Jitter random(seed);
    const auto draw = [&](std::uint64_t below) { return random.next() % below; };
    CarefulKit kit({.seed = seed, .any_order = true, .shards = 2, .live_limit = 2}, 3);
    struct Sent {
      std::string account;
      std::int64_t n;
      std::optional<std::future<Answer<Balance>>> answer;
      bool told = false;
    };
    std::vector<Sent> commands;
    for (int i = 0; i < 20; ++i)
      commands.push_back({std::to_string(draw(3)), static_cast<std::int64_t>(i + 1), {}, false});
    const auto send = [&](std::size_t i) {
      auto& command = commands[i];
      if (command.told || command.answer) return;
      command.answer =
          kit.account(command.account).ask_future(Claim{command.n}, {.command_id = "c" + std::to_string(i)});
    };
    const auto hear = [&] {
      for (auto& command : commands) {
        if (!command.answer || !ready(*command.answer)) continue;
        command.told = command.told || command.answer->get().replied();
        command.answer.reset();
      }
    };
    const auto reply = [&](bool well) {
      if (kit.questions.empty()) return;
      const auto at = static_cast<std::ptrdiff_t>(draw(kit.questions.size()));
      auto question = std::move(kit.questions[static_cast<std::size_t>(at)]);
      kit.questions.erase(kit.questions.begin() + at);
      ++asked;
      if (well)
        question.done(Balance{question.n});
      else
        question.done(refuse(ErrorCode::unavailable, "not now"));
    };
    for (int i = 0; i < 300; ++i) {
      switch (draw(10)) {
        case 0:
        case 1:
          send(draw(commands.size()));
          break;
        case 2:
          reply(draw(4) != 0);
          break;
        case 3:
          kit.fail_next_append(static_cast<Fault>(1 + draw(4)), draw(2) == 0 ? ErrorCode::timeout : ErrorCode::io);
          break;
        case 4:
          if (draw(10) != 0) break;
          ++crashes;
          kit.crash();
          for (auto& command : commands) command.answer.reset();
          kit.restart();
          break;
        case 5:
          kit.account(std::to_string(draw(3))).passivate();
          break;
        case 6:
          kit.advance(std::chrono::milliseconds(draw(3'000)));
          break;
        default:
          kit.steps(1 + draw(5));
      }
      hear();
    }
    for (int round = 0; round < 100; ++round) {
      for (std::size_t i = 0; i < commands.size(); ++i) send(i);
      kit.run();
      for (std::size_t n = kit.questions.size(); n > 0; --n) reply(true);
      kit.advance(20s);
      hear();
    }
    std::map<std::string, std::int64_t> written;
    std::string before;
    for (const auto& event : kit.events()) {
      if (event.type == "deposited") {
        const auto recorded = decode_command_prepared(before);
        ASSERT_TRUE(recorded) << seed;
        EXPECT_EQ(recorded->question, recorded->answer) << seed;
        EXPECT_EQ(event.payload, std::to_string(2 * std::stoll(recorded->answer))) << seed;
        ++written[recorded->answer];
      }
      before = event.type == command_prepared_type ? event.payload : "\xff";
    }
    EXPECT_THAT(written, SizeIs(commands.size())) << seed;
    for (const auto& [n, times] : written) EXPECT_EQ(times, 1) << seed << ' ' << n;
    for (const auto& command : commands) EXPECT_TRUE(command.told) << seed;
  }
  EXPECT_GT(asked, 1'000u);
  EXPECT_GT(crashes, 100u);
}

// A timer's command is prepared as any other.
TEST(Prepare, OfACommandOfATimerToo) {
  TestKit<Careful> kit;
  kit.given(Deposited{100}).when(Tell{30}).scheduled("take", 60s, Withdraw{30});
  kit.when_due<Withdraw>("take", Balance{50}).asked(Touch{100}).then(Withdrawn{30}).state(Account{70, 0});
}

TEST(Prepare, InTheTestKit) {
  TestKit<Careful> kit;
  kit.given(Deposited{100}).when(Withdraw{30}, Balance{30}).asked(Touch{100}).then(Withdrawn{30}).replied(Balance{70});
  kit.when(Withdraw{40}, Balance{30}).rejected("at most 30").then();
  kit.when(Claim{0}).then(Deposited{1'000});
  kit.when(Claim{1}, Balance{4}).asked(Touch{1}).then(Deposited{5});

  std::string failure;
  TestKit<Careful> wrong("test", [&](const std::string& what) { failure = what; });
  wrong.when(Claim{1});
  EXPECT_THAT(failure, HasSubstr("no answer is given"));
  wrong.when(Claim{0}, Balance{4});
  EXPECT_THAT(failure, HasSubstr("the command asks nothing"));
  wrong.when(Claim{1}, Balance{4}).asked(Touch{2});
  EXPECT_THAT(failure, HasSubstr("another question"));
}

}  // namespace
}  // namespace evershard
