// What an operator wants of a process: it stops, goes on, passes over what fails, performs what was given up once more;
// also where the program crashes between any two steps.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evershard/process_kit.hpp>
#include <vector>

#include "tests/actors/process/transfers.hpp"

namespace evershard::bank {
namespace {

using Action = ProcessControl::Action;
using testing::ElementsAre;
using testing::HasSubstr;

std::int64_t in_account(ProcessKit& kit, std::string_view account) {
  return kit.get<Account>(account).state()->state.balance;
}
std::string stage_of(ProcessKit& kit, std::string_view transfer) {
  return kit.get<ProcessAggregate<Transfers>>(transfer).state()->state.state.stage;
}
void ask_for(ProcessKit& kit, std::string transfer) {
  ASSERT_TRUE(kit.get<Desk>("1").ask(Request{std::move(transfer), "ann", "bob", 30}));
}
void begin_controlled(ProcessKit& kit) {
  credits_that_throw = 0;
  ASSERT_TRUE(kit.host<Account>());
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<Transfers>());
  ASSERT_TRUE(kit.get<Account>("ann").ask(Open{"-", "-", "-", 100}));
  ASSERT_TRUE(kit.get<Account>("bob").ask(Open{"-", "-", "-", 5}));
}
ProcessStatus status_of(ProcessKit& kit) { return kit.process_status().at(0); }

TEST(ProcessControls, AProcessThatIsStoppedDoesNothingUntilItIsResumed) {
  ProcessKit kit;
  begin_controlled(kit);
  kit.control("transfer", {Action::stop});
  kit.settle();
  ask_for(kit, "t1");
  ask_for(kit, "t2");
  kit.settle();
  kit.pass(1h);
  EXPECT_EQ(in_account(kit, "ann"), 100);
  EXPECT_TRUE(status_of(kit).stopped);
  EXPECT_EQ(status_of(kit).waiting, 2u);
  kit.crash();
  kit.pass(1h);
  EXPECT_EQ(in_account(kit, "ann"), 100) << "also by a program that comes later";
  kit.control("transfer", {Action::resume});
  kit.settle();
  EXPECT_EQ(stage_of(kit, "t1"), "finished");
  EXPECT_EQ(stage_of(kit, "t2"), "finished");
  EXPECT_EQ(in_account(kit, "ann"), 40);
  EXPECT_FALSE(status_of(kit).stopped);
}

TEST(ProcessControls, WhatAnAggregateHasNoRoomForIsTriedAgainSoon) {
  constexpr int many = 40;
  ProcessKit kit;
  credits_that_throw = 0;
  ASSERT_TRUE(kit.host<Account>({.stash_limit = 1}));
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<Transfers>());
  ASSERT_TRUE(kit.get<Account>("ann").ask(Open{"-", "-", "-", many * 30}));
  ASSERT_TRUE(kit.get<Account>("bob").ask(Open{"-", "-", "-", 5}));
  for (int n = 0; n != many; ++n) ask_for(kit, "t" + std::to_string(n));
  // One at least finds room each second. Were the others to wait as long as for what is broken, it took many minutes.
  kit.pass(2min);
  EXPECT_EQ(in_account(kit, "ann"), 0);
  EXPECT_EQ(in_account(kit, "bob"), 5 + many * 30);
  EXPECT_EQ(status_of(kit).waiting, 0u);
}

TEST(ProcessControls, AnInstanceThatIsStoppedHoldsUpNobodyElse) {
  ProcessKit kit;
  begin_controlled(kit);
  kit.control("transfer", {.action = Action::stop, .instance = "t1"});
  ask_for(kit, "t1");
  ask_for(kit, "t2");
  kit.settle();
  EXPECT_EQ(in_account(kit, "ann"), 70);
  EXPECT_EQ(stage_of(kit, "t2"), "finished");
  kit.crash();
  kit.settle();
  EXPECT_EQ(in_account(kit, "ann"), 70);
  kit.control("transfer", {.action = Action::resume, .instance = "t1"});
  kit.settle();
  EXPECT_EQ(stage_of(kit, "t1"), "finished");
  EXPECT_EQ(in_account(kit, "ann"), 40);
}

TEST(ProcessControls, WhatFailsIsTriedAtOnceWhereThatIsWanted) {
  ProcessKit kit;
  begin_controlled(kit);
  credits_that_throw = 5;
  ask_for(kit, "t1");
  kit.settle();
  for (int n = 0; n != 4; ++n) {
    ASSERT_EQ(status_of(kit).failures.size(), 1u);
    EXPECT_EQ(status_of(kit).failures[0].instance, "t1");
    EXPECT_EQ(status_of(kit).failures[0].type, "credit");
    EXPECT_THAT(status_of(kit).failures[0].why, HasSubstr("not now"));
    kit.control("transfer", {.action = Action::retry, .instance = "nobody"});
    kit.settle();
    ASSERT_EQ(credits_that_throw, 4 - n);
    kit.control("transfer", {.action = Action::retry, .instance = n % 2 == 0 ? "t1" : ""});
    kit.settle();
  }
  kit.control("transfer", {Action::retry});
  kit.settle();
  EXPECT_EQ(stage_of(kit, "t1"), "finished") << "no time has passed";
}

TEST(ProcessControls, ACommandThatIsSkippedIsNotSent) {
  ProcessKit kit;
  begin_controlled(kit);
  credits_that_throw = 1'000'000;
  ask_for(kit, "t1");
  kit.settle();
  const auto place = status_of(kit).failures.at(0).place;
  EXPECT_EQ(place.what, ProcessPlace::What::command);
  kit.control("transfer", {.action = Action::skip, .place = place});
  kit.settle();
  EXPECT_EQ(status_of(kit).waiting, 0u);
  EXPECT_TRUE(status_of(kit).failures.empty());
  credits_that_throw = 0;
  for (int crashes = 0; crashes != 3; ++crashes) {
    kit.crash();
    kit.pass(1min);
    EXPECT_EQ(in_account(kit, "bob"), 5) << "nor by a program that comes later";
  }
  ask_for(kit, "t2");
  kit.settle();
  EXPECT_EQ(in_account(kit, "bob"), 35) << "others are";
}

/// Throws at some events.
struct Picky {
  static constexpr std::string_view type = "picky";
  using State = TransferState;
  using Reacts = Types<Requested>;
  using Events = Types<Finished>;
  static std::string key(const Requested& event) { return event.from; }
  static Reaction<Picky> on(const State&, const Requested& event) {
    if (event.amount == 13) throw std::runtime_error("not thirteen");
    return react().record(Finished{event.transfer, "-", "-", event.amount});
  }
  static void apply(State& state, const Finished& event) { state.amount += event.amount; }
};

TEST(ProcessControls, AnEventThatIsSkippedIsNotToldAndThoseBehindItAre) {
  ProcessKit kit;
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<Picky>());
  for (const std::int64_t amount : {1, 13, 100}) ASSERT_TRUE(kit.get<Desk>("1").ask(Request{"t", "ann", "-", amount}));
  const auto sum = [&] { return kit.get<ProcessAggregate<Picky>>("ann").state()->state.state.amount; };
  kit.pass(1min);
  EXPECT_EQ(sum(), 1);
  const auto failing = status_of(kit).failures.at(0);
  EXPECT_EQ(failing.place.what, ProcessPlace::What::event);
  EXPECT_EQ(failing.type, "requested");
  EXPECT_GT(failing.attempts, 3u);
  kit.control("picky", {.action = Action::skip, .place = failing.place});
  kit.settle();
  EXPECT_EQ(sum(), 101);
  kit.crash();
  kit.pass(1min);
  EXPECT_EQ(sum(), 101);
  EXPECT_EQ(status_of(kit).waiting, 0u);
}

using Letter = Debited;
using Sent = Credited;

/// Has a letter sent for each request.
struct Letters {
  static constexpr std::string_view type = "letters";
  using State = TransferState;
  using Reacts = Types<Requested>;
  using Effects = Types<Performs<Letter, Sent>>;
  using Events = Types<Finished, bank::Refused>;
  static std::string key(const Requested& event) { return event.from; }
  static Reaction<Letters> on(const State&, const Requested& event) { return react().perform(event.as<DebitedName>()); }
  static Reaction<Letters> on_performed(const State&, const Letter& letter, const Sent& answer) {
    return react().record(Finished{letter.transfer, answer.transfer, "-", 0});
  }
  static Reaction<Letters> on_not_performed(const State&, const Letter& letter, const std::string&) {
    return react().record(bank::Refused{letter.transfer, "-", "-", 0});
  }
  static void apply(State& state, const Finished&) { ++state.amount; }
  static void apply(State& state, const bank::Refused&) { ++state.reminded; }
};

struct LetterBox {
  std::vector<std::string> keys;
  bool open = false;
  [[nodiscard]] Effects effects() {
    return Effects{}.on<Letter, Sent>(
        [this](const Letter& letter, const EffectAttempt& attempt, const std::function<void(Result<Sent>)>& done) {
          keys.push_back(attempt.key);
          done(open ? Result<Sent>(Sent{letter.transfer}) : refuse(ErrorCode::unavailable, "closed"));
        },
        {.attempts_max = 3});
  }
};

TransferState letters(ProcessKit& kit) { return kit.get<ProcessAggregate<Letters>>("ann").state()->state.state; }

ProcessPlace reaction_of_letter(ProcessKit& kit) {
  for (const auto& event : kit.events())
    if (event.type == process_reacted_type && !decode_process_reacted(event.payload)->effects.empty())
      return {ProcessPlace::What::effect, event.position, 0};
  ADD_FAILURE() << "no letter was wanted";
  return {};
}

TEST(ProcessControls, AnEffectThatWasGivenUpIsPerformedOnceMore) {
  LetterBox box;
  ProcessKit kit;
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<Letters>(box.effects()));
  ASSERT_TRUE(kit.get<Desk>("1").ask(Request{"t1", "ann", "-", 1}));
  kit.pass(1h);
  EXPECT_EQ(box.keys.size(), 3u);
  EXPECT_EQ(letters(kit).reminded, 1);
  const auto place = reaction_of_letter(kit);

  kit.control("letters", {.action = Action::replay, .place = place});
  kit.pass(1h);
  EXPECT_EQ(box.keys.size(), 6u) << "it is given up once more";
  EXPECT_EQ(letters(kit).reminded, 1) << "and its instance, which has reacted to that, is not told again";

  kit.control("letters", {.action = Action::replay, .place = place});
  kit.settle();
  EXPECT_EQ(box.keys.size(), 7u);
  box.open = true;
  kit.crash();  // on its way
  kit.pass(1h);
  EXPECT_EQ(letters(kit).amount, 1);
  for (const auto& key : box.keys) EXPECT_EQ(key, box.keys[0]);
  const auto performed = box.keys.size();
  kit.crash();
  kit.pass(1h);
  EXPECT_EQ(letters(kit).amount, 1) << "told once";
  EXPECT_LE(box.keys.size(), performed + 2) << "as long as that is not kept, it may be performed again";
  EXPECT_EQ(status_of(kit).waiting, 0u);
}

TEST(ProcessControls, AnEffectThatIsSkippedIsNotPerformedAndItsInstanceIsTold) {
  LetterBox box;
  ProcessKit kit;
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<Letters>(box.effects()));
  ASSERT_TRUE(kit.get<Desk>("1").ask(Request{"t1", "ann", "-", 1}));
  kit.settle();
  ASSERT_EQ(status_of(kit).failures.size(), 1u);
  EXPECT_EQ(status_of(kit).failures[0].place, reaction_of_letter(kit));
  kit.control("letters", {.action = Action::skip, .place = reaction_of_letter(kit)});
  kit.settle();
  EXPECT_EQ(box.keys.size(), 1u);
  EXPECT_EQ(letters(kit).reminded, 1);
  box.open = true;
  kit.crash();
  kit.pass(1h);
  EXPECT_EQ(box.keys.size(), 1u);
  EXPECT_EQ(letters(kit).reminded, 1);
  EXPECT_EQ(letters(kit).amount, 0);
}

TEST(ProcessControls, EffectsThatWaitForOthersDoNotBeginWhileTheyAreStopped) {
  std::vector<std::function<void(Result<Sent>)>> under_way;
  ProcessKit kit;
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<Letters>(
      Effects{}.on<Letter, Sent>([&](const Letter&, const EffectAttempt&,
                                     const std::function<void(Result<Sent>)>& done) { under_way.push_back(done); },
                                 {.at_a_time = 1, .timeout = std::chrono::hours(100)})));
  for (int n = 0; n != 3; ++n) ASSERT_TRUE(kit.get<Desk>("1").ask(Request{"t" + std::to_string(n), "ann", "-", 1}));
  kit.settle();
  ASSERT_EQ(under_way.size(), 1u);
  kit.control("letters", {Action::stop});
  kit.settle();
  under_way[0](Sent{"a"});
  kit.settle();
  EXPECT_EQ(under_way.size(), 1u);
  kit.control("letters", {Action::resume});
  kit.settle();
  ASSERT_EQ(under_way.size(), 2u);
  under_way[1](Sent{"b"});
  kit.settle();
  ASSERT_EQ(under_way.size(), 3u);
  under_way[2](Sent{"c"});
  kit.settle();
  EXPECT_EQ(letters(kit).amount, 3);
}

TEST(ProcessControls, HoldWhereverTheProgramCrashes) {
  const auto points = for_every_crash(
      [](ProcessKit& kit) {
        begin_controlled(kit);
        kit.control("transfer", {.action = Action::stop, .instance = "t1"});
        kit.control("transfer", {Action::stop});
        ask_for(kit, "t1");
        ask_for(kit, "t2");
        kit.control("transfer", {Action::resume});
      },
      [](ProcessKit& kit) {
        EXPECT_EQ(in_account(kit, "ann"), 70);
        EXPECT_EQ(in_account(kit, "bob"), 35);
        EXPECT_EQ(stage_of(kit, "t2"), "finished");
        kit.control("transfer", {.action = Action::resume, .instance = "t1"});
        kit.pass(1min);
        EXPECT_EQ(in_account(kit, "bob"), 65);
      });
  EXPECT_GT(points, 20u);
}

}  // namespace
}  // namespace evershard::bank
