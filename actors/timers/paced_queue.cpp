#include "evershard/actors/timers/paced_queue.hpp"

#include <algorithm>

namespace evershard::actors {
namespace {

/// Together, so that they share commits, and what others write has the time between to itself.
constexpr std::chrono::microseconds overdue_pause{200'000};

}  // namespace

void PacedQueue::set(const DueTimer& timer) {
  failures_.erase(timer.key);
  queue_.set(timer);
}

void PacedQueue::drop(const TimerKey& key, GlobalPosition at) {
  failures_.erase(key);
  queue_.drop(key, at);
}

std::optional<Timestamp> PacedQueue::next(Timestamp now) {
  if (under_way_ >= options_.under_way_max) return std::nullopt;
  const auto next = queue_.next();
  if (!next || next->micros > late_from(now).micros || overdue_room(now) != 0) return next;
  return overdue_next_;
}

Timestamp PacedQueue::late_from(Timestamp now) const {
  return {now.micros - std::chrono::microseconds(options_.overdue_after).count()};
}

std::size_t PacedQueue::overdue_room(Timestamp now) {
  const auto pause = static_cast<std::uint64_t>(overdue_pause.count());
  if (overdue_next_.micros - now.micros > overdue_pause.count()) overdue_next_ = now;  // the clock was set back
  if (now < overdue_next_) return 0;
  return static_cast<std::size_t>(std::max<std::uint64_t>(1, pause * options_.overdue_per_second / 1'000'000));
}

std::vector<DueTimer> PacedQueue::take(Timestamp now) {
  if (under_way_ >= options_.under_way_max) return {};
  const auto room = options_.under_way_max - under_way_;
  const auto overdue = overdue_room(now);
  auto due = queue_.take(std::min(now, late_from(now)), std::min(room, overdue));
  if (!due.empty()) overdue_next_ = {now.micros + overdue_pause.count()};
  // In order: those that are in time come behind those that are not.
  if (const auto next = queue_.next(); due.size() < room && (!next || *next > late_from(now))) {
    auto in_time = queue_.take(now, room - due.size());
    due.insert(due.end(), in_time.begin(), in_time.end());
  }
  under_way_ += due.size();
  return due;
}

void PacedQueue::leave(const DueTimer& timer, Timestamp again) {
  --under_way_;
  queue_.put_back(timer, again);
}

void PacedQueue::postpone(const DueTimer& timer, Timestamp due) {
  failures_.erase(timer.key);
  leave(timer, due);
}

void PacedQueue::try_again(const DueTimer& timer, Timestamp now) {
  if (!queue_.is_under_way(timer)) {
    --under_way_;  // what changed it was heard of before the answer
    return;
  }
  const auto times = failures_[timer.key]++;
  auto wait = options_.retry_first;
  for (std::uint32_t n = 0; n != times && wait < options_.retry_most; ++n) wait *= 2;
  leave(timer, {now.micros + std::chrono::microseconds(std::min(wait, options_.retry_most)).count()});
}

void PacedQueue::sent(const DueTimer& timer) {
  --under_way_;
  failures_.erase(timer.key);
}

void PacedQueue::over(const DueTimer& timer) {
  --under_way_;
  drop(timer.key, timer.set_at + 1);
}

}  // namespace evershard::actors
