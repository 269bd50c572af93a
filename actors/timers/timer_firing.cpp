#include "evershard/actors/timers/timer_firing.hpp"

#include <algorithm>
#include <utility>

#include "evershard/protocol/hex.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::actors {
namespace {

/// Together, so that they share commits, and what others write has the time between to itself.
constexpr std::chrono::microseconds overdue_pause{50'000};

}  // namespace

Query TimerFiring::query() { return Query{}.types({std::string(timers_changed_type)}); }

Result<void> TimerFiring::event(const RecordedEvent& event) {
  if (event.state != EventState::live || !event.aggregate) return {};
  const auto changed = decode_timers_changed(event.payload);
  if (!changed) return refuse(changed.error());
  const auto drop = [&](const std::string& name) {
    const auto key = timer_key(*event.aggregate, name);
    queue_.drop(key, event.position);
    failures_.erase(key);
  };
  for (const auto& name : changed->cancelled) drop(name);
  if (!changed->fired.empty()) drop(changed->fired);
  for (const auto& timer : changed->set) {
    const auto key = timer_key(*event.aggregate, timer.name);
    failures_.erase(key);
    queue_.set({key, event.position, event.shard, due_of(timer, event.occurred_at)});
  }
  return {};
}

std::optional<Timestamp> TimerFiring::next(Timestamp now) {
  if (under_way_ >= options_.under_way_max) return std::nullopt;
  const auto next = queue_.next();
  if (!next || next->micros > late_from(now).micros || overdue_room(now) != 0) return next;
  return Timestamp{now.micros + overdue_pause.count()};
}

Timestamp TimerFiring::late_from(Timestamp now) const {
  return {now.micros - std::chrono::microseconds(options_.overdue_after).count()};
}

// A clock that is set back begins to count anew.
std::size_t TimerFiring::overdue_room(Timestamp now) {
  constexpr std::int64_t second = 1'000'000;
  if (now < overdue_since_ || now.micros - overdue_since_.micros > second) {
    overdue_since_ = now;
    overdue_sent_ = 0;
  }
  const auto passed = static_cast<std::uint64_t>(now.micros - overdue_since_.micros + overdue_pause.count());
  const auto allowed = passed * options_.overdue_per_second / second + 1;
  return allowed > overdue_sent_ ? static_cast<std::size_t>(allowed - overdue_sent_) : 0;
}

std::vector<DueTimer> TimerFiring::take(Timestamp now) {
  if (under_way_ >= options_.under_way_max) return {};
  const auto room = options_.under_way_max - under_way_;
  const auto overdue = overdue_room(now);
  auto due = queue_.take(std::min(now, late_from(now)), std::min(room, overdue));
  overdue_sent_ += due.size();
  // In order: those that are in time come behind those that are not.
  if (const auto next = queue_.next(); due.size() < room && (!next || *next > late_from(now))) {
    auto in_time = queue_.take(now, room - due.size());
    due.insert(due.end(), in_time.begin(), in_time.end());
  }
  under_way_ += due.size();
  return due;
}

void TimerFiring::leave(const DueTimer& timer, Timestamp again) {
  --under_way_;
  queue_.put_back(timer, again);
}

std::optional<TimerFiring::Fire> TimerFiring::fire(const DueTimer& timer, const Result<RecordedEvent>& set,
                                                   Timestamp now) {
  if (!set && set.error().code != ErrorCode::not_found) {
    failed(timer, set.error(), now);
    return std::nullopt;
  }
  // What set it was removed with its aggregate, or truncated: nobody knows any more what it was to say.
  if (!set || set->state != EventState::live || !set->aggregate) {
    over(timer);
    return std::nullopt;
  }
  const auto changed = decode_timers_changed(set->payload).value_or(TimersChanged{});
  const auto found = std::ranges::find_if(
      changed.set, [&](const TimerSet& of) { return timer_key(*set->aggregate, of.name) == timer.key; });
  if (found == changed.set.end()) {
    failed(timer,
           Error(ErrorCode::corruption,
                 "the event at position " + std::to_string(timer.set_at.value) + " sets no such timer any more"),
           now);
    return std::nullopt;
  }
  // Its calendar could not be read when it was set.
  if (const auto due = due_of(*found, set->occurred_at); due > now) {
    failures_.erase(timer.key);
    leave(timer, due);
    return std::nullopt;
  }
  FireTimer fire{*found, timer.set_at, timer_tag(timer.key)};
  fire.subject = set->subject;
  if (found->repeats()) {
    const auto next = next_due(*found, timer.due, now);
    if (!next) {
      failed(timer, next.error(), now);
      return std::nullopt;
    }
    fire.next = *next;
  }
  return Fire{*set->aggregate, encode(fire), fire.tag + "/" + std::to_string(timer.set_at.value)};
}

void TimerFiring::answered(const DueTimer& timer, const AnyAnswer& answer, Timestamp now) {
  if (answer.kind == AnswerKind::replied) {
    --under_way_;
    failures_.erase(timer.key);
    ++figures_.fired;
    if (!answer.reply.empty()) ++figures_.rejected;
    figures_.late_us = static_cast<std::uint64_t>(std::max<std::int64_t>(0, now.micros - timer.due.micros));
    return;
  }
  // Mostly somebody changed it: then that event comes, and this is over. It may be a condition of the handler's own.
  if (answer.kind == AnswerKind::failed && answer.error.code == ErrorCode::condition_failed) {
    ++figures_.overtaken;
    return try_again(timer, now);
  }
  failed(timer,
         answer.kind == AnswerKind::failed ? answer.error
                                           : Error(ErrorCode::invalid_argument, "a timer's command was rejected"),
         now);
}

void TimerFiring::failed(const DueTimer& timer, Error error, Timestamp now) {
  ++figures_.failed;
  last_failure_ = std::move(error);
  try_again(timer, now);
}

void TimerFiring::try_again(const DueTimer& timer, Timestamp now) {
  --under_way_;
  const auto times = failures_[timer.key]++;
  auto wait = options_.retry_first;
  for (std::uint32_t n = 0; n != times && wait < options_.retry_most; ++n) wait *= 2;
  queue_.put_back(timer, {now.micros + std::chrono::microseconds(std::min(wait, options_.retry_most)).count()});
}

void TimerFiring::over(const DueTimer& timer) {
  --under_way_;
  failures_.erase(timer.key);
  queue_.drop(timer.key, timer.set_at + 1);
}

TimerFigures TimerFiring::figures() const {
  auto figures = figures_;
  figures.pending = queue_.size();
  figures.overdue = failures_.size();
  return figures;
}

}  // namespace evershard::actors
