// PacedQueue: what is due, sent no faster than others can bear it, and tried again where it failed.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "evershard/actors/timers/timer_queue.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard::actors {

struct PaceOptions {
  std::size_t under_way_max = 2'048;  ///< sent and not answered
  /// Those that are late by so much came due while nobody ran: so many a second, so that there is room for others.
  std::chrono::milliseconds overdue_after{1'000};
  std::uint32_t overdue_per_second = 5'400;
  std::chrono::milliseconds retry_first{250};
  std::chrono::milliseconds retry_most{60'000};
};

/// What take() gives is under way until one of leave(), try_again(), sent() and over() is called for it.
/// Owner:  one thread at a time. Knows no clock.
class PacedQueue {
 public:
  explicit PacedQueue(PaceOptions options = {}) : options_(options) {}

  /// See TimerQueue.
  void set(const DueTimer& timer);
  void drop(const TimerKey& key, GlobalPosition at);

  /// When take() has something; nothing: none waits, or as many are under way as may be.
  [[nodiscard]] std::optional<Timestamp> next(Timestamp now);
  [[nodiscard]] std::vector<DueTimer> take(Timestamp now);

  /// Another process sends the timer, or none can yet: the timer is taken again at `again`.
  void leave(const DueTimer& timer, Timestamp again);
  /// It is due later than it was said to be.
  void postpone(const DueTimer& timer, Timestamp due);
  /// It failed: later each time. Unless it was set anew or dropped meanwhile.
  void try_again(const DueTimer& timer, Timestamp now);
  /// See TimerQueue.
  void clock_was_set_back() { queue_.clock_was_set_back(); }
  /// It took effect: what it wrote says so, and drops it.
  void sent(const DueTimer& timer);
  /// There is nothing to send any more.
  void over(const DueTimer& timer);

  /// With those under way.
  [[nodiscard]] std::size_t size() const { return queue_.size(); }
  [[nodiscard]] std::size_t failing() const { return failures_.size(); }
  [[nodiscard]] const TimerQueue& waiting() const { return queue_; }

 private:
  /// How many overdue ones may be taken.
  [[nodiscard]] std::size_t overdue_room(Timestamp now);
  [[nodiscard]] Timestamp late_from(Timestamp now) const;

  PaceOptions options_;
  TimerQueue queue_;
  std::size_t under_way_ = 0;
  Timestamp overdue_next_{};                    ///< when the next of those that are overdue may be sent
  std::map<TimerKey, std::uint32_t> failures_;  ///< of those that are to be tried again: in a row
};

}  // namespace evershard::actors
