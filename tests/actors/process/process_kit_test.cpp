// Processes over real aggregates, in one thread: what follows from events, once, over crashes at any step.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <evershard/process_kit.hpp>
#include <evershard/test_kit.hpp>
#include <map>
#include <random>

#include "tests/actors/process/transfers.hpp"

namespace evershard::bank {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

void host_all(ProcessKit& kit) {
  ASSERT_TRUE(kit.host<Account>());
  ASSERT_TRUE(kit.host<Desk>());
  const auto runs = kit.run<Transfers>();
  ASSERT_TRUE(runs) << runs.error().what;
}
Request request(std::string transfer, std::string from, std::string to, std::int64_t amount) {
  return {std::move(transfer), std::move(from), std::move(to), amount};
}
Open open(std::int64_t amount) { return {"-", "-", "-", amount}; }
std::int64_t balance(ProcessKit& kit, std::string_view account) {
  return kit.get<Account>(account).state()->state.balance;
}
std::string stage(ProcessKit& kit, std::string_view transfer) {
  return kit.get<ProcessAggregate<Transfers>>(transfer).state()->state.state.stage;
}
void begin_one(ProcessKit& kit) {
  host_all(kit);
  ASSERT_TRUE(kit.get<Account>("ann").ask(open(100)));
  ASSERT_TRUE(kit.get<Account>("bob").ask(open(5)));
  ASSERT_TRUE(kit.get<Desk>("1").ask(request("t1", "ann", "bob", 30)));
}

TEST(Processes, CarryOutWhatFollows) {
  ProcessKit kit;
  begin_one(kit);
  kit.settle();
  EXPECT_EQ(balance(kit, "ann"), 70);
  EXPECT_EQ(balance(kit, "bob"), 35);
  EXPECT_EQ(stage(kit, "t1"), "finished");
  kit.pass(1h);
  EXPECT_EQ(kit.get<ProcessAggregate<Transfers>>("t1").state()->state.state.reminded, 0) << "the timer was cancelled";
  const auto status = kit.process_status().at(0);
  EXPECT_EQ(status.sent, 2u);
  EXPECT_EQ(status.waiting, 0u);
  EXPECT_EQ(status.position, status.read_to);
}

TEST(Processes, AreToldWhereACommandIsRejected) {
  ProcessKit kit;
  begin_one(kit);
  ASSERT_TRUE(kit.get<Desk>("1").ask(request("t2", "ann", "bob", 1'000)));
  ASSERT_TRUE(kit.get<Desk>("1").ask(request("t3", "ann", "nobody", 10)));
  kit.settle();
  EXPECT_EQ(stage(kit, "t2"), "refused");
  EXPECT_EQ(stage(kit, "t3"), "taken_back");
  EXPECT_EQ(balance(kit, "ann"), 70);
  EXPECT_EQ(kit.process_status().at(0).rejected, 2u);
}

TEST(Processes, TryAgainWhatFailsAndHoldUpNobodyElse) {
  ProcessKit kit;
  begin_one(kit);
  credits_that_throw = 3;
  kit.settle();
  EXPECT_EQ(balance(kit, "bob"), 5);
  EXPECT_THAT(kit.process_status().at(0).trouble, HasSubstr("not now"));
  EXPECT_EQ(kit.process_status().at(0).failing, 1u);
  ASSERT_TRUE(kit.get<Desk>("1").ask(request("t2", "ann", "bob", 1'000)));
  kit.settle();
  EXPECT_EQ(stage(kit, "t2"), "refused") << "another instance goes on";
  kit.pass(1min);
  EXPECT_EQ(balance(kit, "bob"), 35);
  EXPECT_EQ(stage(kit, "t1"), "finished");
  EXPECT_TRUE(kit.process_status().at(0).trouble.empty());
}

TEST(Processes, HaveTimersOfTheirOwn) {
  ProcessKit kit;
  begin_one(kit);
  credits_that_throw = 1'000;
  kit.settle();
  kit.pass(9min);
  EXPECT_EQ(kit.get<ProcessAggregate<Transfers>>("t1").state()->state.state.reminded, 0);
  kit.pass(2min);
  EXPECT_EQ(kit.get<ProcessAggregate<Transfers>>("t1").state()->state.state.reminded, 1);
  credits_that_throw = 0;
  kit.pass(2min);
  EXPECT_EQ(stage(kit, "t1"), "finished");
}

TEST(Processes, CarryOutAllOfItOnceWhereverTheyCrash) {
  const auto points = for_every_crash(&begin_one, [](ProcessKit& kit) {
    EXPECT_EQ(balance(kit, "ann"), 70);
    EXPECT_EQ(balance(kit, "bob"), 35);
    EXPECT_EQ(stage(kit, "t1"), "finished");
  });
  EXPECT_GT(points, 20u);
}

TEST(Processes, TakeBackOnceWhereverTheyCrash) {
  for (std::uint64_t seed = 1; seed != 12; ++seed)
    for_every_crash(
        [](ProcessKit& kit) {
          host_all(kit);
          ASSERT_TRUE(kit.get<Account>("ann").ask(open(100)));
          ASSERT_TRUE(kit.get<Desk>("1").ask(request("t1", "ann", "bob", 30)));
        },
        [](ProcessKit& kit) {
          EXPECT_EQ(balance(kit, "ann"), 100);
          EXPECT_EQ(stage(kit, "t1"), "taken_back");
        },
        seed);
}

/// Accounts that open and close while money is on its way: all of it is somewhere, once, whatever crashes.
TEST(Processes, LoseNothingOverCrashesAtAnyStep) {
  for (std::uint64_t seed = 1; seed != 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random(seed);
    ProcessKit kit(seed);
    host_all(kit);
    credits_that_throw = 0;
    const auto account = [&] { return "a" + std::to_string(random() % 4); };
    for (int n = 0; n != 4; ++n) ASSERT_TRUE(kit.get<Account>("a" + std::to_string(n)).ask(open(100)));
    int transfers = 0;
    for (int step = 0; step != 60; ++step) {
      switch (random() % 6) {
        case 0:
        case 1:
          static_cast<void>(kit.get<Desk>(std::to_string(random() % 3))
                                .ask_async(request("t" + std::to_string(transfers++), account(), account(),
                                                   static_cast<std::int64_t>(random() % 80)),
                                           [](const auto&) {}));
          break;
        case 2:
          static_cast<void>(kit.get<Account>(account()).ask_async(Close{}, [](const auto&) {}));
          break;
        case 3:
          static_cast<void>(kit.get<Account>(account()).ask_async(open(0), [](const auto&) {}));
          break;
        case 4:
          if (random() % 3 == 0) kit.crash();
          if (random() % 4 == 0) credits_that_throw = static_cast<int>(random() % 3);
          break;
        default:
          for (auto steps = random() % 40; steps != 0 && kit.step(); --steps) {
          }
      }
    }
    kit.settle();
    kit.pass(20min);
    std::int64_t sum = 0;
    for (int n = 0; n != 4; ++n) sum += balance(kit, "a" + std::to_string(n));
    EXPECT_EQ(sum, 400);
    std::map<std::string, std::map<std::string, int>> of;  // per transfer, its events
    for (const auto& event : kit.events()) {
      if (event.type.front() == '$' || !event.aggregate || event.aggregate->type != "transfer") continue;
      ++of[event.aggregate->value][event.type];
    }
    for (const auto& [transfer, events] : of) {
      EXPECT_EQ(events.at("started"), 1) << transfer;
      int ends = 0;
      for (const auto& [type, count] : events)
        if (type == "finished" || type == "refused" || type == "taken_back") ends += count;
      EXPECT_EQ(ends, 1) << transfer;
    }
    for (const auto& status : kit.process_status()) {
      EXPECT_EQ(status.waiting, 0u) << status.trouble;
      EXPECT_EQ(status.position, status.read_to);
    }
    if (HasFailure()) return;
  }
}

/// Reminded by a calendar, which the request's amount says; 0: no more.
struct Daily : Transfers {
  static constexpr std::string_view type = "daily";
  using Reacts = Types<Requested>;
  static Reaction<Daily> on(const State&, const Requested& event) {
    if (event.amount == 0) return react().cancel("late");
    const auto* const times = event.amount == 1 ? "30 2 * * *" : event.amount == 2 ? "@hourly" : "30 2 30 2 *";
    return react().schedule_calendar("late", times, "Europe/Berlin", event.as<LateName>());
  }
  static Reaction<Daily> on(const State&, const Late& timer) { return react().record(timer.as<RemindedName>()); }
};

TEST(Processes, AreToldByCalendarOverClocksThatAreSetAndCrashes) {
  ProcessKit kit;
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<Daily>());
  const auto pass_until = [&](const char* time) {
    kit.pass(std::chrono::microseconds(Timestamp::parse(time).value().micros - kit.actors().now().micros));
  };
  const auto ask = [&](std::int64_t amount) {
    ASSERT_TRUE(kit.get<Desk>("1").ask(request("t1", "-", "-", amount)));
    kit.settle();
  };
  const auto reminded = [&](std::size_t passed_over) {
    std::vector<std::string> times;
    for (const auto& event : kit.events())
      if (event.type == "reminded") times.push_back(event.occurred_at.text().substr(0, 16));
    times.erase(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(passed_over));
    return times;
  };
  pass_until("2024-03-30T00:00:00Z");
  ask(1);
  kit.crash();
  pass_until("2024-03-31T00:59:59Z");
  kit.crash();
  pass_until("2024-04-01T12:00:00Z");
  EXPECT_THAT(reminded(0), ElementsAre("2024-03-30T01:30", "2024-03-31T01:00", "2024-04-01T00:30"));
  ask(2);
  pass_until("2024-04-01T14:00:00Z");
  kit.crash();
  pass_until("2024-04-01T15:10:00Z");
  EXPECT_THAT(reminded(3), ElementsAre("2024-04-01T13:00", "2024-04-01T14:00", "2024-04-01T15:00")) << "in its place";
  ask(0);
  pass_until("2024-04-02T12:00:00Z");
  EXPECT_EQ(reminded(0).size(), 6u) << "cancelled";
  ask(3);
  EXPECT_EQ(kit.process_status().at(0).failing, 1u);
  EXPECT_THAT(kit.process_status().at(0).trouble, HasSubstr("\"30 2 30 2 *\": it never comes"));
}

struct Careless : Transfers {
  static constexpr std::string_view type = "careless";
  using Reacts = Types<Requested>;
  static Reaction<Careless> on(const State&, const Requested& event) {
    return react().send<Account>(std::string(600, 'x'), event.as<DebitName>());
  }
  static Reaction<Careless> on(const State&, const Late&) { return ignore(); }
};

TEST(Processes, DoNotWriteACommandThatCannotBeSent) {
  ProcessKit kit;
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<Careless>());
  ASSERT_TRUE(kit.get<Desk>("1").ask(request("t1", "ann", "bob", 30)));
  kit.settle();
  EXPECT_THAT(kit.process_status().at(0).trouble, HasSubstr("512"));
  EXPECT_EQ(kit.process_status().at(0).failing, 1u);
  EXPECT_LT(kit.process_status().at(0).position, kit.process_status().at(0).read_to) << "it is not passed over";
  for (const auto& event : kit.events()) EXPECT_NE(event.type, process_reacted_type);
}

// Damage, or a later version's: what stands there is not passed over, and others go on.
TEST(Processes, StopAnInstanceWhoseReactionCannotBeRead) {
  ProcessKit kit;
  begin_one(kit);
  Event damaged;
  damaged.aggregate = AggregateId{"transfer", "t9"};
  damaged.type = std::string(process_reacted_type);
  damaged.tags = {process_tag("transfer")};
  damaged.payload = "\xff";
  const auto at = kit.actors().append_from_outside(Append{}.event(damaged));
  ASSERT_TRUE(at);
  kit.settle();
  EXPECT_EQ(stage(kit, "t1"), "finished");
  EXPECT_THAT(kit.process_status().at(0).trouble, HasSubstr("transfer-t9"));
  EXPECT_EQ(kit.process_status().at(0).position, at->last_position - 1);
}

/// Whose data the request is.
struct Sealed : Transfers {
  static constexpr std::string_view type = "sealed";
  static std::string subject(const Started& started) { return started.from; }
};

TEST(Processes, SealWhatIsSomebodys) {
  TestKit<ProcessAggregate<Sealed>> kit("t1");
  const auto told_of = [](RecordedEvent event) { return ProcessEvent{std::move(event)}; };
  RecordedEvent event;
  event.position = GlobalPosition{7};
  event.id = EventId::random();
  event.type = "requested";
  event.payload = to_bytes(Requested{"t1", "ann", "bob", 5}).value();
  const auto started = kit.when(told_of(event)).told();
  ASSERT_EQ(started.events.size(), 2u);
  for (const auto& of : started.events) EXPECT_EQ(of.subject, "ann") << of.type << ": of what is recorded";
  event.position = GlobalPosition{9};
  event.type = "debited";
  event.payload = to_bytes(Debited{"t1", "ann", "bob", 5}).value();
  event.subject = "carl";
  const auto sent = kit.when(told_of(event)).told();
  ASSERT_EQ(sent.events.size(), 1u);
  EXPECT_EQ(sent.events[0].subject, "carl") << "of the event that is reacted to";
}

TEST(Processes, TheKitKeepsWhoseDataEventsAre) {
  ProcessKit kit;
  ASSERT_TRUE(kit.host<Account>());
  ASSERT_TRUE(kit.host<Desk>());
  ASSERT_TRUE(kit.run<Sealed>());
  ASSERT_TRUE(kit.get<Desk>("1").ask(request("t1", "ann", "bob", 5)));
  kit.settle();
  const auto events = kit.events();
  const auto started = std::ranges::find(events, "started", &RecordedEvent::type);
  ASSERT_NE(started, events.end());
  EXPECT_EQ(started->subject, "ann");
}

// A driver that does not know that another has taken over, and whose command was rejected: its instance is not told, or
// the other one knows.
TEST(Processes, AreTakenOverFromWhoDoesNotKnowIt) {
  ProcessKit kit;
  host_all(kit);
  ASSERT_TRUE(kit.get<Account>("ann").ask(open(100)));
  ASSERT_TRUE(kit.get<Desk>("1").ask(request("t1", "ann", "bob", 30)));
  kit.settle();
  ASSERT_EQ(stage(kit, "t1"), "taken_back");
  auto rejection = ProcessRejection{GlobalPosition{3},
                                    0,
                                    {{"account", "bob"}, "credit", to_bytes(Credit{}).value()},
                                    "it is closed",
                                    process_tag("transfer"),
                                    GlobalPosition{0}};
  const auto answer = kit.ask_and_wait({"transfer", "t1"}, std::string(process_rejection_type), encode(rejection), {});
  ASSERT_EQ(answer.kind, AnswerKind::failed);
  EXPECT_EQ(answer.error.code, ErrorCode::condition_failed) << "somebody took it over behind position 0";
}

}  // namespace
}  // namespace evershard::bank
