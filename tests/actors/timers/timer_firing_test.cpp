// Timers over real aggregates, in one thread, with a process that crashes between any two steps: each fires once, none
// early, none is lost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <evershard/actor_kit.hpp>
#include <map>
#include <random>

#include "evershard/actors/timers/timer_firing.hpp"
#include "tests/actors/timers/order.hpp"

namespace evershard::timed {
namespace {

using actors::DueTimer;
using actors::TimerFiring;
using testing::ElementsAre;

/// An ActorKit, and what fires its timers. Both go with a crash.
class FiringKit {
 public:
  explicit FiringKit(std::uint64_t seed = 1) : kit(ActorKitOptions{.seed = seed, .any_order = true}) {
    EXPECT_TRUE(kit.host<Order>());
  }
  void read() {
    for (const auto& event : kit.events()) {
      if (event.position <= read_to_) continue;
      read_to_ = event.position;
      if (TimerFiring::query().matches(event)) {
        EXPECT_TRUE(firing->event(event));
      }
    }
  }
  void pass(std::chrono::microseconds time) { kit.advance(time); }
  [[nodiscard]] Timestamp clock() const { return kit.now(); }
  std::size_t send() {
    read();
    const auto due = firing->queue().take(clock());
    for (const auto& timer : due) {
      const auto events = kit.events();
      const auto fire = firing->fire(timer, events.at(timer.set_at.value - 1), clock());
      if (!fire) continue;
      kit.ask_bytes(fire->aggregate, std::string(fire_timer_type), fire->command, {.command_id = fire->command_id},
                    [this, timer, life = life_](const AnyAnswer& answer) {
                      if (life == life_) firing->answered(timer, answer, clock());
                    });
    }
    return due.size();
  }
  void crash() {
    kit.crash();
    ++life_;
    firing = std::make_unique<TimerFiring>();
    read_to_ = GlobalPosition{0};
    kit.restart();
  }
  /// All that is due by now.
  void settle() {
    for (int idle = 0; idle != 3;) {
      const bool sent = send() != 0;
      idle = kit.run() || sent ? 0 : idle + 1;
    }
  }
  [[nodiscard]] State state(std::string_view order) {
    kit.run();
    return kit.get<Order>(order).state()->state;
  }

  ActorKit kit;
  std::unique_ptr<TimerFiring> firing = std::make_unique<TimerFiring>();

 private:
  GlobalPosition read_to_;
  int life_ = 0;
};

TEST(TimersFire, WhenTheyAreDueAndNotBefore) {
  FiringKit kit;
  ASSERT_TRUE(kit.kit.get<Order>("1").ask(Place{15}).replied());
  kit.pass(14min);
  kit.settle();
  EXPECT_EQ(kit.state("1"), (State{1, 0, 0, 0}));
  kit.pass(1min);
  kit.settle();
  EXPECT_EQ(kit.state("1"), (State{1, 0, 1, 0}));
  EXPECT_EQ(kit.firing->figures().fired, 1u);
  EXPECT_EQ(kit.firing->figures().pending, 0u);
}

TEST(TimersFire, ForWhoseTheyAre) {
  FiringKit kit;
  ASSERT_TRUE(kit.kit.get<Order>("1").ask(RemindEvery{10}).replied());
  kit.read();
  const auto due = kit.firing->queue().take(Timestamp{kit.clock().micros + 600'000'000});
  ASSERT_EQ(due.size(), 1u);
  auto set = kit.kit.events().at(due[0].set_at.value - 1);
  set.subject = "carl";
  const auto fire = kit.firing->fire(due[0], set, due[0].due);
  ASSERT_TRUE(fire);
  EXPECT_EQ(decode_fire_timer(fire->command)->subject, "carl") << "what is set anew is sealed as before";
}

TEST(TimersFire, NotAfterTheyWereCancelledOnTheWay) {
  FiringKit kit;
  ASSERT_TRUE(kit.kit.get<Order>("1").ask(Place{15}).replied());
  kit.pass(15min);
  kit.read();
  auto paid = kit.kit.get<Order>("1").ask_future(Pay{});  // before the timer's command, and nobody has heard of it
  kit.settle();
  EXPECT_TRUE(paid.get().replied());
  EXPECT_EQ(kit.state("1"), (State{1, 1, 0, 0}));
  EXPECT_EQ(kit.firing->figures().overtaken, 1u);
  EXPECT_EQ(kit.firing->figures().pending, 0u);
}

TEST(TimersFire, OnceWhoeverSendsThem) {
  FiringKit kit;
  ASSERT_TRUE(kit.kit.get<Order>("1").ask(Place{15}).replied());
  kit.pass(15min);
  kit.read();
  TimerFiring other;  // a node that does not know yet that the shard is another's
  for (const auto& event : kit.kit.events())
    if (TimerFiring::query().matches(event)) {
      EXPECT_TRUE(other.event(event));
    }
  const auto due = other.queue().take(kit.clock());
  ASSERT_EQ(due.size(), 1u);
  const auto fire = other.fire(due[0], kit.kit.events().at(due[0].set_at.value - 1), kit.clock());
  ASSERT_TRUE(fire);
  kit.kit.ask_bytes(fire->aggregate, std::string(fire_timer_type), fire->command, {.command_id = fire->command_id},
                    [&](const AnyAnswer& answer) { other.answered(due[0], answer, kit.clock()); });
  kit.settle();
  EXPECT_EQ(kit.state("1"), (State{1, 0, 1, 0}));
  const auto changes = std::ranges::count(kit.kit.events(), timers_changed_type, &RecordedEvent::type);
  EXPECT_EQ(changes, 2) << "set, and fired";
}

TEST(TimersFire, AgainWhereTheHandlerFails) {
  FiringKit kit;
  ASSERT_TRUE(kit.kit.get<Order>("1").ask(Break{3}).replied());
  kit.pass(1min);
  kit.settle();
  EXPECT_EQ(kit.firing->figures().failed, 1u);
  EXPECT_EQ(kit.firing->figures().overdue, 1u);
  ASSERT_TRUE(kit.firing->last_failure());
  EXPECT_THAT(kit.firing->last_failure()->what, testing::HasSubstr("not now"));
  for (int n = 0; n != 20; ++n) {
    kit.pass(200ms);
    kit.settle();
  }
  EXPECT_EQ(kit.firing->figures().failed, 3u);
  EXPECT_EQ(kit.firing->figures().overdue, 0u);
  EXPECT_EQ(kit.state("1").reminded, 1);
}

// It is not the timer that somebody changed.
TEST(TimersFire, AgainWhereAConditionOfTheHandlersOwnFails) {
  FiringKit kit;
  ASSERT_TRUE(kit.kit.append_from_outside(Append{}.event("", "Locked", "", {"locked"})));
  ASSERT_TRUE(kit.kit.get<Order>("1").ask(Guard{1}).replied());
  kit.pass(1min);
  kit.settle();
  EXPECT_EQ(kit.firing->figures().pending, 1u);
  EXPECT_EQ(kit.firing->figures().overdue, 1u);
  ASSERT_TRUE(kit.firing->queue().next(kit.clock())) << "it is tried again";
  EXPECT_GT(*kit.firing->queue().next(kit.clock()), kit.clock());
}

TEST(TimersFire, NoMoreWhereTheEventThatSetThemIsGone) {
  FiringKit kit;
  ASSERT_TRUE(kit.kit.get<Order>("1").ask(Place{15}).replied());
  kit.read();
  kit.pass(15min);
  const auto due = kit.firing->queue().take(kit.clock());
  ASSERT_EQ(due.size(), 1u);
  auto removed = kit.kit.events().at(due[0].set_at.value - 1);
  removed.state = EventState::removed;
  EXPECT_FALSE(kit.firing->fire(due[0], removed, kit.clock()));
  EXPECT_EQ(kit.firing->figures().pending, 0u);
}

// How often the order was reminded, and that it was at these times, without seconds.
std::vector<std::string> reminders(const FiringKit& kit) {
  std::vector<std::string> times;
  for (const auto& event : kit.kit.events())
    if (event.type == "reminded") times.push_back(event.occurred_at.text().substr(0, 16));
  return times;
}
void pass_until(FiringKit& kit, const char* time, std::chrono::microseconds step) {
  for (const auto end = Timestamp::parse(time).value(); kit.clock() < end;) {
    kit.pass(std::min(step, std::chrono::microseconds(end.micros - kit.clock().micros)));
    kit.settle();
  }
}

TEST(TimersFire, ByCalendarOverClocksThatAreSetAndCrashes) {
  FiringKit kit;
  pass_until(kit, "2026-03-28T00:00:00Z", 24h);
  ASSERT_TRUE(kit.kit.get<Order>("1").ask(RemindBy{1}).replied());
  kit.crash();
  pass_until(kit, "2026-03-29T00:50:00Z", 10min);
  kit.crash();
  pass_until(kit, "2026-03-30T12:00:00Z", 10min);
  EXPECT_THAT(reminders(kit), ElementsAre("2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"));
  EXPECT_EQ(kit.firing->figures().pending, 1u);
  pass_until(kit, "2026-10-25T00:00:00Z", 24h);
  const auto before = reminders(kit).size();
  ASSERT_TRUE(kit.kit.get<Order>("1").ask(RemindBy{3}).replied()) << "hourly, in its place";
  pass_until(kit, "2026-10-25T03:59:00Z", 10min);
  auto hourly = reminders(kit);
  hourly.erase(hourly.begin(), hourly.begin() + static_cast<std::ptrdiff_t>(before));
  EXPECT_THAT(hourly, ElementsAre("2026-10-25T01:00", "2026-10-25T02:00", "2026-10-25T03:00"));
  ASSERT_TRUE(kit.kit.get<Order>("1").ask(RemindEvery{0}).replied());
  pass_until(kit, "2026-10-28T00:00:00Z", 1h);
  EXPECT_EQ(reminders(kit).size(), before + 3);
  EXPECT_EQ(kit.firing->figures().pending, 0u);
}

/// A machine that has no tzdata.
class NoZones {
 public:
  NoZones() { setenv("TZDIR", "/nowhere", 1); }
  ~NoZones() { unsetenv("TZDIR"); }
  NoZones(const NoZones&) = delete;
  NoZones& operator=(const NoZones&) = delete;
};

TEST(TimersFire, ByCalendarOnceTheirZoneIsKnown) {
  FiringKit kit;
  pass_until(kit, "2026-01-01T12:00:00Z", 24h);
  ASSERT_TRUE(kit.kit.get<Order>("1").ask(RemindBy{2}).replied());
  {
    const NoZones none;
    kit.settle();
    EXPECT_EQ(kit.firing->figures().failed, 1u) << "it is said at once";
    ASSERT_TRUE(kit.firing->last_failure());
    EXPECT_THAT(kit.firing->last_failure()->what, testing::HasSubstr("Europe/Berlin"));
    kit.pass(24h);
    kit.settle();
    EXPECT_THAT(reminders(kit), testing::IsEmpty());
  }
  kit.crash();
  {
    const NoZones none;
    kit.settle();
    EXPECT_EQ(kit.firing->figures().overdue, 1u);
  }
  pass_until(kit, "2026-01-02T12:00:30Z", 1s);
  pass_until(kit, "2026-01-05T12:00:00Z", 10min);
  EXPECT_THAT(reminders(kit), ElementsAre("2026-01-02T12:00", "2026-01-05T08:00"))
      << "the first one is late, and none early";
  EXPECT_EQ(kit.firing->figures().overdue, 0u);
}

TEST(TimersFire, ByCalendarNotEarlyWhereItsZoneBecomesKnown) {
  FiringKit kit;
  pass_until(kit, "2026-01-01T12:00:00Z", 24h);
  ASSERT_TRUE(kit.kit.get<Order>("1").ask(RemindBy{2}).replied());
  {
    const NoZones none;
    kit.settle();
    EXPECT_EQ(kit.firing->figures().overdue, 1u);
  }
  pass_until(kit, "2026-01-01T13:00:00Z", 1min);
  EXPECT_THAT(reminders(kit), testing::IsEmpty());
  EXPECT_EQ(kit.firing->figures().overdue, 0u);
  pass_until(kit, "2026-01-02T09:00:00Z", 10min);
  EXPECT_THAT(reminders(kit), ElementsAre("2026-01-02T08:00"));
}

TEST(TimersFire, SoManyASecondWhereTheyCameDueWhileNobodyRan) {
  FiringKit kit;
  kit.firing = std::make_unique<TimerFiring>(actors::PaceOptions{.overdue_per_second = 500});
  for (int n = 0; n != 300; ++n) ASSERT_TRUE(kit.kit.get<Order>(std::to_string(n)).ask(Place{1}).replied());
  kit.pass(10min);
  const auto pass = [&kit](int steps) {
    for (int n = 0; n != steps; ++n) {
      kit.settle();
      kit.pass(10ms);
    }
  };
  pass(10);
  EXPECT_EQ(kit.firing->figures().fired, 100u) << "in bursts";
  EXPECT_GT(kit.firing->queue().next(kit.clock()), kit.clock()) << "not before the next";
  pass(9);
  EXPECT_EQ(kit.firing->figures().fired, 100u);
  pass(10);
  EXPECT_EQ(kit.firing->figures().fired, 200u);
  pass(20);
  EXPECT_EQ(kit.firing->figures().fired, 300u);
}

TEST(TimersFire, TheNextBurstIsNotWaitedForLongAfterAClockWasSetBack) {
  actors::PacedQueue queue({.overdue_per_second = 10});
  const auto at = [](std::int64_t seconds) { return Timestamp{seconds * 1'000'000}; };
  for (std::uint64_t n = 1; n != 5; ++n)
    queue.set({timer_key({"order", std::to_string(n)}, "t"), GlobalPosition(n), ShardId{0}, at(1)});
  EXPECT_EQ(queue.take(at(1'000)).size(), 2u);
  EXPECT_EQ(queue.take(at(1'000)).size(), 0u);
  EXPECT_EQ(queue.take(at(100)).size(), 2u) << "15 minutes back";
}

// What the history says of each timer: a change fires at most what the change before it set, and not before that was
// due; what is still set at the end has fired.
void check_history(const std::vector<RecordedEvent>& events, Timestamp end) {
  struct Pending {
    Timestamp due;
    bool repeats = false;
  };
  std::map<std::pair<std::string, std::string>, Pending> pending;
  for (const auto& event : events) {
    if (event.type != timers_changed_type) continue;
    const auto changed = decode_timers_changed(event.payload);
    ASSERT_TRUE(changed);
    const auto key = [&](const std::string& name) { return std::pair(event.aggregate->text(), name); };
    if (!changed->fired.empty()) {
      const auto found = pending.find(key(changed->fired));
      ASSERT_NE(found, pending.end()) << "fired twice, or after it was cancelled: position " << event.position.value;
      ASSERT_LE(found->second.due, event.occurred_at) << "fired early: position " << event.position.value;
      pending.erase(found);
    }
    for (const auto& name : changed->cancelled) pending.erase(key(name));
    for (const auto& timer : changed->set)
      pending[key(timer.name)] = {due_of(timer, event.occurred_at), timer.repeats()};
  }
  for (const auto& [key, timer] : pending)
    ASSERT_TRUE(timer.repeats && timer.due > end) << key.first << " " << key.second << " was lost";
}

TEST(TimersFire, EachOnceAndNoneEarlyOverCrashesAtAnyStep) {
  for (std::uint64_t seed = 1; seed != 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    FiringKit kit(seed);
    std::mt19937_64 random(seed);
    for (int step = 0; step != 150; ++step) {
      const auto order = kit.kit.get<Order>(std::to_string(random() % 4));
      const auto minutes = static_cast<std::int64_t>(1 + random() % 10);
      switch (random() % 10) {
        case 0:
          static_cast<void>(order.ask_async(Place{minutes}, [](const auto&) {}));
          break;
        case 1:
          static_cast<void>(order.ask_async(Postpone{minutes}, [](const auto&) {}));
          break;
        case 2:
          static_cast<void>(order.ask_async(Pay{}, [](const auto&) {}));
          break;
        case 3:
          static_cast<void>(order.ask_async(RemindEvery{minutes % 4}, [](const auto&) {}));
          break;
        case 4:
          static_cast<void>(order.ask_async(Break{minutes % 3}, [](const auto&) {}));
          break;
        case 5:
          kit.crash();
          break;
        case 6:
          static_cast<void>(order.ask_async(RemindBy{0}, [](const auto&) {}));
          break;
        case 7:
          kit.pass(std::chrono::seconds(random() % 200));
          break;
        default:
          kit.send();
          kit.kit.steps(random() % 12);
      }
    }
    kit.settle();
    for (int times = 0; times != 6; ++times) {  // a handler that fails is asked again
      kit.pass(10min);
      kit.settle();
    }
    check_history(kit.kit.events(), kit.clock());
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace evershard::timed
