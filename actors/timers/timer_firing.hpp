// TimerFiring: timers as the store's events set them, and what is done when one is due.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "evershard/actors/model/answer.hpp"
#include "evershard/actors/timers/paced_queue.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::actors {

struct TimerFigures {
  std::uint64_t pending = 0;  ///< with those under way
  std::uint64_t overdue = 0;  ///< of the pending: to be tried again
  std::uint64_t fired = 0;
  std::uint64_t rejected = 0;   ///< of these: the aggregate said no
  std::uint64_t overtaken = 0;  ///< set anew or cancelled just before they fired
  std::uint64_t failed = 0;     ///< tries
  std::uint64_t damaged = 0;    ///< events that set or cancelled some, and cannot be read: passed over
  std::uint64_t late_us = 0;    ///< of the last one that fired, when it was answered
};

/// Events come in the order of their positions. An event that comes twice changes nothing.
///
/// A timer fires by a command whose id is made of the timer and of where it was set, on the condition that nothing has
/// changed the timer since: so it takes effect once, whoever sends it, however often. The command's own event says that
/// it has fired; until that comes, the timer is under way.
/// Owner:  one thread at a time. Knows no clock and no store.
class TimerFiring {
 public:
  explicit TimerFiring(PaceOptions pace = {}) : queue_(pace) {}

  /// Which events it is to be given.
  [[nodiscard]] static Query query();
  /// Errors: corruption: the event cannot be read; it changes nothing
  [[nodiscard]] Result<void> event(const RecordedEvent& event);

  [[nodiscard]] PacedQueue& queue() { return queue_; }

  /// A command that an aggregate is to be asked.
  struct Fire {
    AggregateId aggregate;
    std::string command;  ///< of type fire_timer_type
    std::string command_id;
  };
  /// `set`: the event that set it, as it is stored. Returns: nothing: it cannot fire any more, and is dropped, or it is
  /// tried again.
  [[nodiscard]] std::optional<Fire> fire(const DueTimer& timer, const Result<RecordedEvent>& set, Timestamp now);
  void answered(const DueTimer& timer, const AnyAnswer& answer, Timestamp now);

  [[nodiscard]] TimerFigures figures() const;
  /// Why the last try of a timer that is to be tried again failed.
  [[nodiscard]] const std::optional<Error>& last_failure() const { return last_failure_; }

 private:
  void failed(const DueTimer& timer, Error error, Timestamp now);

  PacedQueue queue_;
  TimerFigures figures_;
  std::optional<Error> last_failure_;
};

}  // namespace evershard::actors
