#include "evershard/actors/timers/timer_firing.hpp"

#include <algorithm>
#include <utility>

#include "evershard/protocol/hex.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::actors {

Query TimerFiring::query() { return Query{}.types({std::string(timers_changed_type)}); }

Result<void> TimerFiring::event(const RecordedEvent& event) {
  if (event.state != EventState::live || !event.aggregate) return {};
  const auto changed = decode_timers_changed(event.payload);
  if (!changed) return refuse(changed.error());
  const auto drop = [&](const std::string& name) { queue_.drop(timer_key(*event.aggregate, name), event.position); };
  for (const auto& name : changed->cancelled) drop(name);
  if (!changed->fired.empty()) drop(changed->fired);
  for (const auto& timer : changed->set) {
    queue_.set(
        {timer_key(*event.aggregate, timer.name), event.position, event.shard, due_of(timer, event.occurred_at)});
  }
  return {};
}

std::optional<TimerFiring::Fire> TimerFiring::fire(const DueTimer& timer, const Result<RecordedEvent>& set,
                                                   Timestamp now) {
  if (!set && set.error().code != ErrorCode::not_found) {
    failed(timer, set.error(), now);
    return std::nullopt;
  }
  // What set it was removed with its aggregate, or truncated: nobody knows any more what it was to say.
  if (!set || set->state != EventState::live || !set->aggregate) {
    queue_.over(timer);
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
    queue_.postpone(timer, due);
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
    queue_.sent(timer);
    ++figures_.fired;
    if (!answer.reply.empty()) ++figures_.rejected;
    figures_.late_us = static_cast<std::uint64_t>(std::max<std::int64_t>(0, now.micros - timer.due.micros));
    return;
  }
  // Mostly somebody changed it: then that event comes, and this is over. It may be a condition of the handler's own.
  if (answer.kind == AnswerKind::failed && answer.error.code == ErrorCode::condition_failed) {
    ++figures_.overtaken;
    return queue_.try_again(timer, now);
  }
  failed(timer,
         answer.kind == AnswerKind::failed ? answer.error
                                           : Error(ErrorCode::invalid_argument, "a timer's command was rejected"),
         now);
}

void TimerFiring::failed(const DueTimer& timer, Error error, Timestamp now) {
  ++figures_.failed;
  last_failure_ = std::move(error);
  queue_.try_again(timer, now);
}

TimerFigures TimerFiring::figures() const {
  auto figures = figures_;
  figures.pending = queue_.size();
  figures.overdue = queue_.failing();
  return figures;
}

}  // namespace evershard::actors
