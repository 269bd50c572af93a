#include "evershard/actors/timers/timer_queue.hpp"

#include <algorithm>
#include <charconv>
#include <functional>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::actors {
namespace {

constexpr std::size_t stale_allowed = 1'024;

}  // namespace

void TimerQueue::set(const DueTimer& timer) {
  const auto [at, added] = timers_.try_emplace(timer.key);
  if (!added && at->second.set_at >= timer.set_at) return;
  at->second = {timer.set_at, timer.due, timer.due, timer.shard, true};
  wait(timer.key, timer.due);
}

void TimerQueue::drop(const TimerKey& key, GlobalPosition at) {
  const auto found = timers_.find(key);
  if (found != timers_.end() && found->second.set_at < at) timers_.erase(found);
}

bool TimerQueue::is_stale(const Waiting& waiting) const {
  const auto found = timers_.find(waiting.key);
  return found == timers_.end() || !found->second.waits || found->second.wait_until != waiting.until;
}

void TimerQueue::wait(const TimerKey& key, Timestamp until) {
  if (heap_.size() > 2 * timers_.size() + stale_allowed) {
    std::erase_if(heap_, [&](const Waiting& waiting) { return is_stale(waiting); });
    std::ranges::make_heap(heap_, std::greater<>());
  }
  heap_.push_back({until, key});
  std::ranges::push_heap(heap_, std::greater<>());
}

void TimerQueue::pop() {
  std::ranges::pop_heap(heap_, std::greater<>());
  heap_.pop_back();
}

std::optional<Timestamp> TimerQueue::next() {
  while (!heap_.empty() && is_stale(heap_.front())) pop();
  return heap_.empty() ? std::nullopt : std::optional(heap_.front().until);
}

std::vector<DueTimer> TimerQueue::take(Timestamp now, std::size_t most) {
  std::vector<DueTimer> due;
  while (due.size() < most && !heap_.empty() && heap_.front().until <= now) {
    const auto waiting = heap_.front();
    pop();
    if (is_stale(waiting)) continue;
    Timer& timer = timers_.at(waiting.key);
    timer.waits = false;
    due.push_back({waiting.key, timer.set_at, timer.shard, timer.due});
  }
  return due;
}

bool TimerQueue::is_under_way(const DueTimer& timer) const {
  const auto found = timers_.find(timer.key);
  return found != timers_.end() && found->second.set_at == timer.set_at && !found->second.waits;
}

void TimerQueue::put_back(const DueTimer& timer, Timestamp again) {
  if (!is_under_way(timer)) return;
  auto& put = timers_.at(timer.key);
  put.waits = true;
  put.wait_until = again;
  wait(timer.key, again);
}

void TimerQueue::clock_was_set_back() {
  for (auto& [key, timer] : timers_) {
    if (!timer.waits || timer.wait_until <= timer.due) continue;
    timer.wait_until = timer.due;
    wait(key, timer.due);
  }
}

std::string DueOrder::text() const {
  return std::to_string(due.micros) + ':' + std::to_string(set_at.value) + ':' + std::to_string(key.high) + ':' +
         std::to_string(key.low);
}

Result<DueOrder> DueOrder::parse(std::string_view text) {
  DueOrder order;
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](auto& to, bool last) {
    const auto read = std::from_chars(at, end, to);
    at = read.ptr;
    if (read.ec != std::errc() || (at == end) != last || (!last && *at++ != ':')) at = nullptr;
    return at != nullptr;
  };
  if (number(order.due.micros, false) && number(order.set_at.value, false) && number(order.key.high, false) &&
      number(order.key.low, true))
    return order;
  return refuse(ErrorCode::invalid_argument,
                "after is " + in_quotes(std::string(text)) + ": it is the `next` of the page before");
}

std::vector<DueTimer> TimerQueue::list(std::optional<DueOrder> after, std::size_t most) const {
  const auto order = [](const DueTimer& timer) { return DueOrder{timer.due, timer.set_at, timer.key}; };
  std::vector<DueTimer> all;
  for (const auto& [key, timer] : timers_) {
    DueTimer due{key, timer.set_at, timer.shard, timer.due};
    if (!after || order(due) > *after) all.push_back(due);
  }
  const auto count = std::min(most, all.size());
  std::ranges::partial_sort(all, all.begin() + static_cast<std::ptrdiff_t>(count), {}, order);
  all.resize(count);
  return all;
}

}  // namespace evershard::actors
