// Scheduled appends over a real store, in one thread, with two nodes that both believe that they make them, answers
// that are lost, and crashes between any two steps: each is made once, none early, none that was cancelled.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>

#include "evershard/local/local_events.hpp"
#include "evershard/local/node.hpp"
#include "evershard/protocol/scheduled.hpp"
#include "evershard/services/scheduled/due_appends.hpp"
#include "evershard/services/scheduled/schedule_stream.hpp"

namespace evershard::cluster {
namespace {

constexpr Timestamp began{1'800'000'000'000'000};

struct Wanted {
  Timestamp due{};
  bool refused = false;    ///< its expectation cannot hold
  bool cancelled = false;  ///< and that was acknowledged
};

/// What makes them: gone with a crash.
class Maker {
 public:
  explicit Maker(EventStore& events) : events_(events) {}

  void read() {
    for (auto& event : events_.read(DueAppends::query(), {.after = read_to_})) {
      EXPECT_TRUE(due_.event(event));
      read_to_ = event.position;
    }
  }
  void take(Timestamp now) {
    for (const auto& timer : due_.queue().take(now))
      if (auto append = due_.fire(timer, events_.event_at(timer.set_at), now))
        under_way_.push_back({timer, *std::move(append)});
  }
  enum class Fate : std::uint8_t { answered, answer_lost, request_lost };
  void send(Timestamp now, Fate fate) {
    if (under_way_.empty()) return;
    auto [timer, append] = std::move(under_way_.front());
    under_way_.erase(under_way_.begin());
    Result<Appended> answer = refuse(ErrorCode::timeout, "nobody knows");
    if (fate != Fate::request_lost) {
      auto appended = events_.append(append);
      if (fate == Fate::answered) answer = std::move(appended);
    }
    if (auto then = due_.answered(timer, append, answer, now)) under_way_.push_back({timer, *std::move(then)});
  }
  [[nodiscard]] bool idle() const { return under_way_.empty(); }

 private:
  struct UnderWay {
    actors::DueTimer timer;
    Append append;
  };
  EventStore& events_;
  DueAppends due_{{.overdue_per_second = 1'000'000}};
  GlobalPosition read_to_;
  std::vector<UnderWay> under_way_;
};

class Scheduling {
 public:
  explicit Scheduling(std::uint64_t seed) : dice_(seed) {
    makers_.push_back(std::make_unique<Maker>(events_));
    makers_.push_back(std::make_unique<Maker>(events_));
  }

  void play() {
    for (int step = 0; step != 400; ++step) {
      auto& maker = makers_[roll(2)];
      switch (roll(8)) {
        case 0:
          schedule();
          break;
        case 1:
          cancel();
          break;
        case 2:
          now_ = Timestamp{now_.micros + roll(2'000'000)};
          break;
        case 3:
          if (roll(6) == 0) maker = std::make_unique<Maker>(events_);
          break;
        case 4:
          maker->read();
          break;
        case 5:
          take(*maker);
          break;
        default:
          send(*maker);
      }
    }
    now_ = Timestamp{now_.micros + 600'000'000};
    for (int quiet = 0, rounds = 0; quiet != 5; ++rounds) {
      ASSERT_LT(rounds, 500) << "it never ends";
      bool all_idle = true;
      for (auto& maker : makers_) {
        maker->read();
        take(*maker);
        all_idle = all_idle && maker->idle();
        for (int n = 0; !maker->idle() && n != 10'000; ++n) send(*maker);
      }
      quiet = all_idle ? quiet + 1 : 0;
      now_ = Timestamp{now_.micros + 120'000'000};
    }
    check();
  }

 private:
  std::uint32_t roll(std::uint32_t below) { return std::uniform_int_distribution<std::uint32_t>(0, below - 1)(dice_); }

  void schedule() {
    const auto id = std::to_string(wanted_.size());
    Wanted wanted{Timestamp{now_.micros + roll(5'000'000)}, roll(5) == 0};
    ScheduledAt at{wanted.due,
                   Append{}.event("thing-" + id, "Done", id).event("thing-" + std::to_string(roll(4)), "Also", id)};
    if (wanted.refused) at.append.expect("absent-1", ExpectedVersion::exactly(7));
    Event event;
    event.aggregate = AggregateId{std::string(schedule_type), id};
    event.type = append_scheduled_type;
    event.payload = encode(at);
    ASSERT_TRUE(events_.append(Append{}.event(std::move(event)).expect("$schedule-" + id, ExpectedVersion::none())));
    wanted_[id] = wanted;
  }
  void cancel() {
    if (wanted_.empty()) return;
    const auto id = std::to_string(roll(static_cast<std::uint32_t>(wanted_.size())));
    if (events_.append(DueAppends::settled({std::string(schedule_type), id}, SeqNr{1}, nullptr)))
      wanted_[id].cancelled = true;
  }
  void take(Maker& maker) { maker.take(now_); }
  void send(Maker& maker) {
    const auto before = events_.head().value();
    maker.send(now_, static_cast<Maker::Fate>(std::max(0, static_cast<int>(roll(6)) - 3)));
    for (const auto& event : events_.read(Query{}.types({"Done"}), {.after = before})) {
      EXPECT_GE(now_, wanted_.at(event.payload).due) << "too early: " << event.payload;
    }
  }
  void check() {
    std::map<std::string, int> made;
    for (const auto& event : events_.read(Query{}.types({"Done"}))) ++made[event.payload];
    for (const auto& [id, wanted] : wanted_) {
      EXPECT_EQ(made[id], wanted.cancelled || wanted.refused ? 0 : 1) << id;
      ScheduleStream stream;
      for (const auto& event : events_.read("$schedule-" + id)) EXPECT_TRUE(stream.take(event));
      EXPECT_EQ(stream.version(), SeqNr{2}) << id;
      ASSERT_TRUE(stream.scheduled());
      EXPECT_EQ(stream.scheduled()->state, wanted.cancelled ? ScheduledState::cancelled
                                           : wanted.refused ? ScheduledState::refused
                                                            : ScheduledState::appended)
          << id;
      if (stream.scheduled()->state != ScheduledState::appended) continue;
      EXPECT_EQ(events_.event_at(stream.scheduled()->first_position)->payload, id);
      EXPECT_EQ(stream.scheduled()->last_position, stream.scheduled()->first_position + 1);
    }
  }

  std::mt19937_64 dice_;
  std::shared_ptr<Node> node_ = Node::open({.store = {.data_dir = {}, .shards = 4}}).value();
  LocalEvents events_{node_};
  Timestamp now_ = began;
  std::vector<std::unique_ptr<Maker>> makers_;
  std::map<std::string, Wanted> wanted_;
};

TEST(DueAppends, AreMadeOnceWhateverCrashesAndWhoeverMakesThem) {
  const char* given = std::getenv("EVERSHARD_SEED");
  const char* rounds = std::getenv("EVERSHARD_ROUNDS");
  const std::uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : 1;
  const std::uint64_t count = given != nullptr ? 1 : rounds != nullptr ? std::strtoull(rounds, nullptr, 10) : 60;
  for (std::uint64_t seed = first; seed != first + count && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
    Scheduling(seed).play();
  }
}

TEST(DueAppends, WhatWasErasedIsRefusedAtOnce) {
  DueAppends due;
  RecordedEvent event;
  event.position = GlobalPosition{7};
  event.aggregate = AggregateId{std::string(schedule_type), "a"};
  event.seq_nr = SeqNr{1};
  event.type = append_scheduled_type;
  event.state = EventState::erased;
  ASSERT_TRUE(due.event(event));
  const auto taken = due.queue().take(began);
  ASSERT_EQ(taken.size(), 1u);
  const auto append = due.fire(taken[0], event, began);
  ASSERT_TRUE(append);
  const auto settled = decode_settled(append->events.at(0).payload);
  ASSERT_TRUE(settled);
  EXPECT_EQ(settled->state, ScheduledState::refused);
  EXPECT_EQ(settled->refusal->code, ErrorCode::not_found);
}

TEST(DueAppends, AreNotMadeEarlyWhereTheClockIsSetBack) {
  constexpr std::int64_t hour_us = 3'600'000'000;
  const Timestamp due_at{began.micros + hour_us};
  DueAppends due;
  RecordedEvent event;
  event.position = GlobalPosition{7};
  event.aggregate = AggregateId{std::string(schedule_type), "a"};
  event.seq_nr = SeqNr{1};
  event.type = append_scheduled_type;
  event.payload = encode(ScheduledAt{due_at, Append{}.event("thing-1", "Done", "a")});
  ASSERT_TRUE(due.event(event));
  // One try fails, and then the clock shows an hour less.
  auto taken = due.queue().take(due_at);
  ASSERT_EQ(taken.size(), 1u);
  const auto append = due.fire(taken[0], event, due_at);
  ASSERT_TRUE(append);
  EXPECT_FALSE(due.answered(taken[0], *append, refuse(ErrorCode::unavailable, "a node is away"), began));

  taken = due.queue().take({began.micros + hour_us / 2});

  ASSERT_EQ(taken.size(), 1u);
  EXPECT_FALSE(due.fire(taken[0], event, {began.micros + hour_us / 2}));
  EXPECT_EQ(due.queue().next(began), due_at);
  taken = due.queue().take(due_at);
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_TRUE(due.fire(taken[0], event, due_at));
}

TEST(DueAppends, WhatCannotBeReadIsSaidAndChangesNothing) {
  DueAppends due;
  RecordedEvent event;
  event.aggregate = AggregateId{std::string(schedule_type), "a"};
  event.type = append_scheduled_type;
  event.payload = "\xff";
  EXPECT_EQ(due.event(event).error().code, ErrorCode::corruption);
  EXPECT_EQ(due.figures().pending, 0u);
}

}  // namespace
}  // namespace evershard::cluster
