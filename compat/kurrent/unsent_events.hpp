// UnsentEvents: what a consumer was given and has not taken yet, however long it takes nothing.

#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>

#include "evershard/protocol/event_id.hpp"

namespace evershard::kurrent {

/// What is not settled in time is given again, also to who has not even read it: he keeps it once, as it was given
/// last. He has no more of them than he has slots: beyond that the first is none of his any more. Decisions only.
template <class Bytes>
class UnsentEvents {
 public:
  void set_slots(std::size_t slots) { slots_ = std::max<std::size_t>(slots, 1); }
  /// `again`: it was given before, to him or to somebody else.
  void add(const EventId& id, Bytes bytes, bool again) {
    if (again) std::erase_if(events_, [&](const auto& event) { return event.first == id; });
    if (events_.size() >= slots_) events_.pop_front();
    events_.emplace_back(id, std::move(bytes));
  }
  /// What was taken and did not go out is the next one again, unless it was given again meanwhile, or all slots are
  /// taken.
  void put_back(const EventId& id, Bytes bytes) {
    const bool again = std::ranges::any_of(events_, [&](const auto& event) { return event.first == id; });
    if (!again && events_.size() < slots_) events_.emplace_front(id, std::move(bytes));
  }
  [[nodiscard]] bool empty() const { return events_.empty(); }
  [[nodiscard]] std::size_t size() const { return events_.size(); }
  /// Shape: !empty()
  [[nodiscard]] const Bytes& front() const { return events_.front().second; }
  /// Shape: !empty()
  [[nodiscard]] Bytes take() {
    auto bytes = std::move(events_.front().second);
    events_.pop_front();
    return bytes;
  }

 private:
  std::size_t slots_ = 1;
  std::deque<std::pair<EventId, Bytes>> events_{};
};

}  // namespace evershard::kurrent
