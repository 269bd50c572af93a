// Two versions of a process beside each other: the former one keeps its instances, the later one has all others,
// whatever crashes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <evershard/process_kit.hpp>
#include <map>
#include <random>
#include <set>

#include "tests/actors/process/transfers.hpp"

namespace evershard::bank {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Two events a ball: it is credited and refunded; each is noted as an event of the instance.
template <int Version>
struct Notes {
  static constexpr std::string_view type = Version == 1 ? "notes" : Version == 2 ? "notes2" : "notes3";
  using State = AccountState;
  using Reacts = Types<Credited, Refunded>;
  using Events = Types<Reminded>;
  template <class E>
  static std::string key(const E& event) {
    return event.transfer;
  }
  static Reaction<Notes> on(const State&, const Credited& event) {
    if (event.amount == 0) return ignore();
    return react().record(event.as<RemindedName>());
  }
  static Reaction<Notes> on(const State&, const Refunded& event) {
    return react().record(event.as<RemindedName>()).end();
  }
  static void apply(State& state, const Reminded& event) { state.balance += event.amount; }
};

/// `t1:notes t1:notes`: who noted what, in order.
std::map<std::string, std::string> noted(const std::vector<RecordedEvent>& events) {
  std::map<std::string, std::string> by;
  for (const auto& event : events)
    if (event.type == "reminded") by[event.aggregate->value] += event.aggregate->type + " ";
  return by;
}
void begin_former(ProcessKit& kit) {
  ASSERT_TRUE(kit.host<Account>());
  ASSERT_TRUE(kit.run<Notes<1>>());
  ASSERT_TRUE(kit.get<Account>("a").ask(Open{"-", "-", "-", 0}));
}
void credit(ProcessKit& kit, std::string ball, std::int64_t amount = 1) {
  ASSERT_TRUE(kit.get<Account>("a").ask(Credit{std::move(ball), "-", "-", amount}));
}
void refund(ProcessKit& kit, std::string ball) {
  ASSERT_TRUE(kit.get<Account>("a").ask(Refund{std::move(ball), "-", "-", 1}));
}

TEST(ProcessVersions, TheFormerKeepsItsInstancesAndTheLaterHasAllOthers) {
  ProcessKit kit;
  begin_former(kit);
  credit(kit, "old");
  credit(kit, "ended");
  refund(kit, "ended");
  credit(kit, "ignored", 0);  // no trace: it is nobody's yet
  kit.settle();
  ASSERT_TRUE(kit.run<Notes<2>>({.beside = {"notes"}}));
  kit.settle();
  refund(kit, "old");
  credit(kit, "new");
  credit(kit, "ended");
  credit(kit, "ignored");
  refund(kit, "new");
  kit.settle();
  const auto by = noted(kit.events());
  EXPECT_EQ(by.at("old"), "notes notes ");
  EXPECT_EQ(by.at("ended"), "notes notes ");
  EXPECT_EQ(by.at("new"), "notes2 notes2 ");
  EXPECT_EQ(by.at("ignored"), "notes2 ");
  for (const auto& status : kit.process_status())
    EXPECT_EQ(status.retired_at.value != 0, status.type == "notes") << status.type;
}

TEST(ProcessVersions, AThirdOneIsBesideBoth) {
  ProcessKit kit;
  begin_former(kit);
  credit(kit, "one");
  kit.settle();
  ASSERT_TRUE(kit.run<Notes<2>>({.beside = {"notes"}}));
  credit(kit, "two");
  kit.settle();
  ASSERT_TRUE(kit.run<Notes<3>>({.beside = {"notes", "notes2"}}));
  for (const auto* ball : {"one", "two", "three"}) credit(kit, ball);
  kit.settle();
  EXPECT_EQ(noted(kit.events()), (std::map<std::string, std::string>{
                                     {"one", "notes notes "}, {"two", "notes2 notes2 "}, {"three", "notes3 "}}));
}

TEST(ProcessVersions, TheLaterOneWaitsForTheFormer) {
  ProcessKit kit;
  begin_former(kit);
  kit.control("notes", {ProcessControl::Action::stop});
  kit.settle();
  credit(kit, "old");
  ASSERT_TRUE(kit.run<Notes<2>>({.beside = {"notes"}}));
  credit(kit, "old");
  credit(kit, "new");
  kit.settle();
  EXPECT_TRUE(noted(kit.events()).empty());
  std::string trouble;
  for (const auto& status : kit.process_status()) trouble += status.trouble;
  EXPECT_THAT(trouble, HasSubstr("waits until its former version"));
  kit.control("notes", {ProcessControl::Action::resume});
  kit.settle();
  EXPECT_EQ(noted(kit.events()), (std::map<std::string, std::string>{{"old", "notes notes "}, {"new", "notes2 "}}));
}

TEST(ProcessVersions, WhatCannotBeIsRefused) {
  ProcessKit kit;
  const auto itself = kit.run<Notes<2>>({.beside = {"notes2"}});
  ASSERT_FALSE(itself);
  EXPECT_THAT(itself.error().what, HasSubstr("beside itself"));
  EXPECT_FALSE(kit.run<Notes<2>>({.beside = {"no-type"}}));
}

// Every event once, by one of both, and all of a ball by the same one; wherever the program crashes, and whenever the
// later version comes.
TEST(ProcessVersions, EachBallIsOneVersionsWhateverCrashes) {
  std::set<std::string> by_former, by_later;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    ProcessKit kit(seed);
    std::mt19937_64 random(seed);
    begin_former(kit);
    const auto comes = random() % 12;
    std::map<std::string, int> sent;
    for (std::uint64_t i = 0; i < 16; ++i) {
      if (i == comes) {
        ASSERT_TRUE(kit.run<Notes<2>>({.beside = {"notes"}}));
      }
      const auto ball = "b" + std::to_string(random() % 6);
      credit(kit, ball);
      ++sent[ball];
      for (auto steps = random() % 30; steps > 0; --steps) static_cast<void>(kit.step());
      if (random() % 4 == 0) kit.crash();
    }
    kit.settle();
    kit.pass(1h);
    const auto by = noted(kit.events());
    for (const auto& [ball, times] : sent) {
      std::string all_former, all_later;
      for (int i = 0; i < times; ++i) {
        all_former += "notes ";
        all_later += "notes2 ";
      }
      const auto& who = by.count(ball) != 0 ? by.at(ball) : std::string();
      EXPECT_TRUE(who == all_former || who == all_later) << seed << ' ' << ball << ": " << who;
      (who == all_former ? by_former : by_later).insert(std::to_string(seed) + ball);
    }
  }
  EXPECT_GT(by_former.size(), 100u);
  EXPECT_GT(by_later.size(), 100u);
}

}  // namespace
}  // namespace evershard::bank
