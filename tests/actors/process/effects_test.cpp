// What goes outside: at least once, with the same key; its answer is the instance's once.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <evershard/process_kit.hpp>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "tests/actors/process/transfers.hpp"

namespace evershard::bank {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Mail = Debited;     // whatever is said
using Mailed = Credited;  // its answer: in `transfer`

/// Mails each request, and keeps what comes of it.
struct Mailer {
  static constexpr std::string_view type = "mailer";
  using State = TransferState;
  using Reacts = Types<Requested>;
  using Effects = Types<Performs<Mail, Mailed>>;
  using Events = Types<Finished, bank::Refused>;

  static std::string key(const Requested& event) { return event.from; }
  static Reaction<Mailer> on(const State&, const Requested& event) { return react().perform(event.as<DebitedName>()); }
  static Reaction<Mailer> on_performed(const State&, const Mail& mail, const Mailed& answer) {
    return react().record(Finished{mail.transfer, answer.transfer, "-", 0});
  }
  static Reaction<Mailer> on_not_performed(const State&, const Mail& mail, const std::string& reason) {
    return react().record(bank::Refused{mail.transfer, reason.substr(0, reason.find(' ')), "-", 0});
  }
  static void apply(State& state, const Finished& event) {
    state.stage = event.from;
    ++state.amount;
  }
  static void apply(State& state, const bank::Refused& event) {
    state.stage = event.from;
    ++state.reminded;
  }
};

/// Hears of nothing.
struct Poster {
  static constexpr std::string_view type = "poster";
  using State = TransferState;
  using Reacts = Types<Requested>;
  using Effects = Types<Performs<Mail>>;
  using Events = Types<>;
  static std::string key(const Requested& event) { return event.from; }
  static Reaction<Poster> on(const State&, const Requested& event) { return react().perform(event.as<DebitedName>()); }
};

using Answer = std::function<void(Result<Mailed>)>;

/// A post office of the test's own.
struct Office {
  struct Attempt {
    Mail mail;
    EffectAttempt attempt;
    Answer done;
    bool answered = false;
  };
  std::vector<Attempt> attempts;
  int fails = 0;        ///< so many attempts
  bool silent = false;  ///< answers nothing by itself

  /// What was begun and is not answered, in order.
  [[nodiscard]] std::set<std::string> under_way() const {
    std::set<std::string> mails;
    for (const auto& of : attempts)
      if (!of.answered) mails.insert(of.mail.transfer);
    return mails;
  }
  Attempt& of(const std::string& mail) {
    return *std::ranges::find_if(attempts, [&](const auto& of) { return !of.answered && of.mail.transfer == mail; });
  }
  void answer(const std::string& mail) { done(of(mail), Mailed{"receipt-" + mail}); }
  void fail(const std::string& mail) { done(of(mail), refuse(ErrorCode::unavailable, "closed for lunch")); }
  static void done(Attempt& attempt, Result<Mailed> answer) {
    attempt.answered = true;
    const auto tell = attempt.done;  // others may begin from within
    tell(std::move(answer));
  }

  template <class Target = NoTarget>
  [[nodiscard]] Effects effects(EffectOptions options = {}, Target target = {}) {
    return Effects{}.on<Mail, Mailed>(
        [this](const Mail& mail, const EffectAttempt& attempt, Answer done) {
          attempts.push_back({mail, attempt, done, !silent});
          if (silent) return;
          if (fails > 0) {
            --fails;
            return done(refuse(ErrorCode::unavailable, "closed for lunch"));
          }
          done(Mailed{"receipt-" + mail.transfer});
        },
        options, std::move(target));
  }
};

void request(ProcessKit& kit, std::string transfer, std::string from) {
  ASSERT_TRUE(kit.get<Desk>("1").ask(Request{std::move(transfer), std::move(from), "-", 1}));
}
TransferState state(ProcessKit& kit, std::string_view instance) {
  return kit.get<ProcessAggregate<Mailer>>(instance).state()->state.state;
}

TEST(Effects, ArePerformedAndTheirAnswersComeBack) {
  Office office;
  ProcessKit kit;
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<Mailer>(office.effects()));
  request(kit, "t1", "ann");
  kit.settle();
  ASSERT_EQ(office.attempts.size(), 1u);
  EXPECT_EQ(office.attempts[0].mail.transfer, "t1");
  EXPECT_EQ(office.attempts[0].attempt.key.size(), EventId::random().text().size() + 2)
      << "an event's id, and a number";
  EXPECT_EQ(state(kit, "ann").stage, "receipt-t1");
  EXPECT_EQ(kit.process_status().at(0).performed, 1u);
  EXPECT_EQ(kit.process_status().at(0).waiting, 0u);
  kit.crash();
  kit.settle();
  EXPECT_EQ(office.attempts.size(), 1u) << "its instance knows what became of it";
}

TEST(Effects, OfTwoStoresHaveTwoKeys) {
  std::set<std::string> keys;
  for (const std::uint64_t seed : {1, 2}) {  // two tenants, or one store restored to an earlier position
    Office office;
    ProcessKit kit(seed);
    ASSERT_TRUE(kit.host<Desk>());
    ASSERT_TRUE(kit.run<Mailer>(office.effects()));
    request(kit, "t1", "ann");
    kit.settle();
    ASSERT_EQ(office.attempts.size(), 1u);
    keys.insert(office.attempts[0].attempt.key);
  }
  EXPECT_EQ(keys.size(), 2u) << "a payment service would take the second one for a repetition";
}

TEST(Effects, AreTriedAgainWithTheSameKey) {
  Office office;
  office.fails = 2;
  ProcessKit kit;
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<Mailer>(office.effects({.retry_first = 1s, .retry_most = 1min})));
  request(kit, "t1", "ann");
  kit.settle();
  EXPECT_EQ(office.attempts.size(), 1u);
  EXPECT_THAT(kit.process_status().at(0).trouble, HasSubstr("closed for lunch"));
  kit.pass(1min);
  ASSERT_EQ(office.attempts.size(), 3u);
  for (std::uint32_t n = 0; n != 3; ++n) {
    EXPECT_EQ(office.attempts[n].attempt.key, office.attempts[0].attempt.key);
    EXPECT_EQ(office.attempts[n].attempt.attempt, n + 1);
  }
  EXPECT_EQ(state(kit, "ann").stage, "receipt-t1");
  EXPECT_TRUE(kit.process_status().at(0).trouble.empty());
}

TEST(Effects, AreGivenUpAndTheInstanceIsToldWhy) {
  Office office;
  office.fails = 1'000;
  ProcessKit kit;
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<Mailer>(office.effects({.attempts_max = 3, .retry_first = 1s, .retry_most = 2s})));
  request(kit, "t1", "ann");
  kit.pass(1min);
  EXPECT_EQ(office.attempts.size(), 3u);
  EXPECT_EQ(state(kit, "ann").stage, "closed");
  EXPECT_EQ(state(kit, "ann").reminded, 1);
  EXPECT_EQ(kit.process_status().at(0).given_up, 1u);
  office.fails = 0;
  kit.crash();
  kit.pass(1min);
  EXPECT_EQ(office.attempts.size(), 3u) << "what was given up is";
}

TEST(Effects, AreSoManyAtATime) {
  Office office;
  office.silent = true;
  ProcessKit kit;
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<Mailer>(office.effects({.at_a_time = 2, .timeout = std::chrono::hours(1)})));
  for (int n = 0; n != 6; ++n) request(kit, "t" + std::to_string(n), "p" + std::to_string(n));
  kit.settle();
  EXPECT_EQ(office.attempts.size(), 2u);
  for (std::size_t n = 0; n != 6; ++n) {
    ASSERT_GT(office.attempts.size(), n);
    EXPECT_LE(office.attempts.size(), n + 2);
    const auto done = office.attempts[n].done;
    const auto transfer = office.attempts[n].mail.transfer;
    done(Mailed{"receipt-" + transfer});
    done(Mailed{"another"});  // once more is passed over
    kit.settle();
  }
  EXPECT_EQ(office.attempts.size(), 6u);
  for (int n = 0; n != 6; ++n) EXPECT_EQ(state(kit, "p" + std::to_string(n)).stage, "receipt-t" + std::to_string(n));
}

const auto to_whom = [](const Mail& mail) { return mail.transfer.substr(0, mail.transfer.find('/')); };

/// One after the other: between instances there is no order.
void mail(ProcessKit& kit, std::string transfer, std::string from) {
  request(kit, std::move(transfer), std::move(from));
  kit.settle();
}

TEST(Effects, AreSoManyAtATimeForATarget) {
  Office office;
  office.silent = true;
  ProcessKit kit;
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<Mailer>(
      office.effects({.at_a_time = 4, .at_a_time_per_target = 2, .timeout = std::chrono::hours(1)}, to_whom)));
  for (int n = 0; n != 5; ++n) mail(kit, "slow/" + std::to_string(n), "s" + std::to_string(n));
  for (int n = 0; n != 5; ++n) mail(kit, "quick/" + std::to_string(n), "q" + std::to_string(n));
  for (int n = 0; n != 2; ++n) mail(kit, "other/" + std::to_string(n), "o" + std::to_string(n));
  kit.settle();
  EXPECT_THAT(office.under_way(), ElementsAre("quick/0", "quick/1", "slow/0", "slow/1"));

  office.answer("quick/0");
  office.answer("quick/1");
  kit.settle();
  EXPECT_THAT(office.under_way(), ElementsAre("quick/2", "quick/3", "slow/0", "slow/1"));
  for (const auto* mail : {"quick/2", "quick/3", "quick/4", "other/0", "other/1"}) {
    office.answer(mail);
    kit.settle();
  }
  EXPECT_THAT(office.under_way(), ElementsAre("slow/0", "slow/1")) << "all others are done beside them";

  office.answer("slow/1");
  kit.settle();
  EXPECT_THAT(office.under_way(), ElementsAre("slow/0", "slow/2")) << "first come, first served";
}

TEST(Effects, StayWithinTheirBoundsWhateverBecomesOfThem) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 dice(seed);
    Office office;
    office.silent = true;
    ProcessKit kit;
    ASSERT_TRUE(kit.host<Desk>());
    ASSERT_TRUE(kit.run<Mailer>(office.effects({.at_a_time = 5,
                                                .at_a_time_per_target = 2,
                                                .attempts_max = 1'000,
                                                .retry_first = 1s,
                                                .retry_most = 10s,
                                                .timeout = std::chrono::hours(100)},
                                               to_whom)));
    constexpr int all = 30;
    for (int n = 0; n != all; ++n)
      request(kit, std::to_string(dice() % 4) + "/" + std::to_string(n), "p" + std::to_string(n));
    for (int step = 0; kit.settle(), kit.process_status().at(0).waiting != 0; ++step) {
      ASSERT_LT(step, 2'000);
      const auto under_way = office.under_way();
      std::map<std::string, int> of_target;
      for (const auto& mail : under_way) ++of_target[to_whom(Mail{mail})];
      ASSERT_LE(under_way.size(), 5u);
      for (const auto& [target, count] : of_target) ASSERT_LE(count, 2) << target;
      const auto die = dice() % 20;
      if (die == 0) {
        kit.crash();
        for (auto& attempt : office.attempts) attempt.answered = true;
      } else if (die < 5 || under_way.empty()) {
        kit.pass(2s);
      } else {
        const auto& any = *std::next(under_way.begin(), static_cast<std::ptrdiff_t>(dice() % under_way.size()));
        die < 12 ? office.answer(any) : office.fail(any);
      }
    }
    for (int n = 0; n != all; ++n) EXPECT_EQ(state(kit, "p" + std::to_string(n)).amount, 1) << n;
  }
}

TEST(Effects, WithAnEmptyTargetAreBoundedByTheirKindOnly) {
  Office office;
  office.silent = true;
  ProcessKit kit;
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<Mailer>(
      office.effects({.at_a_time = 3, .at_a_time_per_target = 1}, [](const Mail&) { return std::string(); })));
  for (int n = 0; n != 5; ++n) mail(kit, "t" + std::to_string(n), "p" + std::to_string(n));
  kit.settle();
  EXPECT_EQ(office.under_way().size(), 3u);
}

TEST(Effects, WhoseTargetFailsHoldUpNobodyWhileTheyWaitToBeTriedAgain) {
  Office office;
  office.silent = true;
  ProcessKit kit;
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(
      kit.run<Mailer>(office.effects({.at_a_time = 1, .at_a_time_per_target = 1, .retry_first = 10s}, to_whom)));
  mail(kit, "down/0", "a");
  mail(kit, "down/1", "b");
  mail(kit, "well/0", "c");
  kit.settle();
  office.fail("down/0");
  kit.settle();
  EXPECT_THAT(office.under_way(), ElementsAre("down/1"));
  office.fail("down/1");
  kit.settle();
  EXPECT_THAT(office.under_way(), ElementsAre("well/0"));
  office.answer("well/0");
  office.silent = false;
  kit.pass(1min);
  for (const auto* who : {"a", "b", "c"}) EXPECT_EQ(state(kit, who).amount, 1) << who;
}

TEST(Effects, WhoseTargetThrowsAreFailedAttempts) {
  Office office;
  ProcessKit kit;
  int asked = 0;
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<Mailer>(
      office.effects({.at_a_time_per_target = 1, .attempts_max = 3}, [&](const Mail& mail) -> std::string {
        if (mail.transfer == "never" || ++asked == 1) throw std::runtime_error("no address");
        return "somebody";
      })));
  mail(kit, "t1", "ann");
  mail(kit, "never", "bob");
  kit.settle();
  EXPECT_TRUE(office.attempts.empty());
  EXPECT_THAT(kit.process_status().at(0).trouble, HasSubstr("no address"));
  kit.pass(1min);
  ASSERT_EQ(office.attempts.size(), 1u);
  EXPECT_EQ(office.attempts[0].attempt.attempt, 2u);
  EXPECT_EQ(state(kit, "ann").stage, "receipt-t1");
  EXPECT_EQ(state(kit, "bob").reminded, 1) << "given up";
  EXPECT_EQ(kit.process_status().at(0).given_up, 1u);
}

TEST(Effects, HaveABoundPerTargetWhereTheyHaveATarget) {
  ProcessKit kit;
  Office office;
  const auto neither = kit.run<Mailer>(office.effects({.at_a_time_per_target = 2}));
  ASSERT_FALSE(neither);
  EXPECT_EQ(neither.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(neither.error().what, HasSubstr("at_a_time_per_target"));
  EXPECT_FALSE(kit.run<Mailer>(office.effects({}, to_whom)));
}

TEST(Effects, AnAnswerOfInvalidArgumentIsFinal) {
  Office office;
  office.silent = true;
  ProcessKit kit;
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<Mailer>(office.effects()));
  request(kit, "t1", "ann");
  kit.settle();
  office.fail("t1");
  kit.pass(2s);
  ASSERT_EQ(office.attempts.size(), 2u);
  office.attempts[1].done(refuse(ErrorCode::invalid_argument, "nowhere: no such street"));
  kit.pass(std::chrono::hours(1));
  EXPECT_EQ(office.attempts.size(), 2u) << "it is not tried again";
  EXPECT_EQ(state(kit, "ann").stage, "nowhere:");
  EXPECT_EQ(kit.process_status().at(0).given_up, 1u);
  EXPECT_EQ(kit.process_status().at(0).waiting, 0u);
}

TEST(Effects, ThatSayNothingInTimeAreTriedAgain) {
  Office office;
  office.silent = true;
  ProcessKit kit;
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<Mailer>(office.effects({.retry_first = 1s, .timeout = 30s})));
  request(kit, "t1", "ann");
  kit.settle();
  kit.pass(20s);
  EXPECT_EQ(office.attempts.size(), 1u);
  office.silent = false;
  kit.pass(1min);
  ASSERT_EQ(office.attempts.size(), 2u);
  office.attempts[0].done(Mailed{"too late"});
  kit.settle();
  EXPECT_EQ(state(kit, "ann").stage, "receipt-t1");
  EXPECT_EQ(state(kit, "ann").amount, 1);
}

TEST(Effects, ThatThrowAreFailedAttempts) {
  ProcessKit kit;
  int attempts = 0;
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<Mailer>(Effects{}.on<Mail, Mailed>([&](const Mail&, const EffectAttempt&, const Answer& done) {
    if (++attempts == 1) throw std::runtime_error("no stamps");
    done(Mailed{"receipt"});
  })));
  request(kit, "t1", "ann");
  kit.settle();
  EXPECT_THAT(kit.process_status().at(0).trouble, HasSubstr("no stamps"));
  kit.pass(1min);
  EXPECT_EQ(state(kit, "ann").stage, "receipt");
}

TEST(Effects, WithoutAHandlerAreRefusedAtTheBeginning) {
  ProcessKit kit;
  const auto runs = kit.run<Mailer>();
  ASSERT_FALSE(runs);
  EXPECT_EQ(runs.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(runs.error().what, HasSubstr("no handler"));
}

// With the same key each time; what comes of it is the instance's once; and nothing is performed once it has that.
TEST(Effects, ArePerformedWhereverTheProgramCrashes) {
  Office office;
  for_every_crash(
      [&](ProcessKit& kit) {
        office = {};
        office.fails = 1;
        ASSERT_TRUE(kit.host<Desk>());
        ASSERT_TRUE(kit.run<Mailer>(office.effects()));
        request(kit, "t1", "ann");
        request(kit, "t2", "ann");
      },
      [&](ProcessKit& kit) {
        std::map<std::string, std::set<std::string>> keys;
        for (const auto& of : office.attempts) keys[of.mail.transfer].insert(of.attempt.key);
        ASSERT_EQ(keys.size(), 2u);
        for (const auto& [mail, used] : keys) EXPECT_EQ(used.size(), 1u) << mail;
        EXPECT_EQ(state(kit, "ann").amount, 2);
        const auto before = office.attempts.size();
        kit.crash();
        kit.settle();
        EXPECT_EQ(office.attempts.size(), before);
      });
}

// An effect that nobody hears of is performed again behind a crash, as long as it is not known how far all was.
TEST(Effects, ThatNobodyHearsOfArePerformedAtLeastOnce) {
  int performed = 0;
  for_every_crash(
      [&](ProcessKit& kit) {
        performed = 0;
        ASSERT_TRUE(kit.host<Desk>());
        ASSERT_TRUE(kit.run<Poster>(
            Effects{}.on<Mail>([&](const Mail&, const EffectAttempt&, const std::function<void(Result<Done>)>& done) {
              ++performed;
              done(Done{});
            })));
        request(kit, "t1", "ann");
      },
      [&](ProcessKit& kit) {
        EXPECT_GE(performed, 1);
        EXPECT_LE(performed, 2);
        EXPECT_EQ(kit.process_status().at(0).waiting, 0u);
      });
}

/// Mails each request twice, and hears of nothing.
struct TwoPosters {
  static constexpr std::string_view type = "poster";
  using State = TransferState;
  using Reacts = Types<Requested>;
  using Effects = Types<Performs<Mail>>;
  using Events = Types<>;
  static std::string key(const Requested& event) { return event.from; }
  static Reaction<TwoPosters> on(const State&, const Requested& event) {
    auto second = event.as<DebitedName>();
    second.transfer += "/second";
    return react().perform(event.as<DebitedName>()).perform(second);
  }
};

// One that is stuck holds up how far the process is, and nothing else: what is done behind it is kept too.
TEST(Effects, ThatNobodyHearsOfAreNotPerformedAgainBehindOneThatIsStuck) {
  std::map<std::string, int> performed;
  std::set<std::string> stuck{"t0", "t2/second"};
  ProcessKit kit;
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<TwoPosters>(Effects{}.on<Mail>(
      [&](const Mail& mail, const EffectAttempt&, const std::function<void(Result<Done>)>& done) {
        ++performed[mail.transfer];
        if (!stuck.contains(mail.transfer)) done(Done{});
      },
      {.timeout = std::chrono::hours(24)})));
  const auto keep = [&] {  // a checkpoint is kept at one step in eight
    for (int n = 0; n != 200; ++n) kit.step();
  };
  for (int n = 0; n != 4; ++n) request(kit, "t" + std::to_string(n), "p" + std::to_string(n));
  kit.settle();
  keep();
  std::map<std::string, int> expected;
  for (int n = 0; n != 4; ++n)
    for (const auto* which : {"", "/second"}) expected["t" + std::to_string(n) + which] = 1;
  EXPECT_EQ(performed, expected);
  for (int crash = 2; crash != 5; ++crash) {  // what was known before goes on with what is kept next
    kit.crash();
    for (int n = 0; n != 20 * crash; ++n) kit.step();
    kit.crash();
    kit.settle();
    keep();
    EXPECT_EQ(performed["t1"], 1);
    EXPECT_EQ(performed["t1/second"], 1);
    EXPECT_EQ(performed["t2"], 1) << "another effect of the same reaction is stuck";
    EXPECT_EQ(performed["t3"], 1);
    EXPECT_GE(performed["t0"], crash);
    EXPECT_GE(performed["t2/second"], crash);
  }
  EXPECT_EQ(kit.process_status().at(0).waiting, 2u);
  stuck.clear();
  kit.crash();
  kit.settle();
  keep();
  EXPECT_EQ(kit.process_status().at(0).waiting, 0u);
  EXPECT_EQ(kit.process_status().at(0).position, kit.process_status().at(0).read_to);
  const auto all = performed;
  kit.crash();
  kit.settle();
  EXPECT_EQ(performed, all);
}

}  // namespace
}  // namespace evershard::bank
