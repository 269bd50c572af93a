// TimerHost: the timers of a store's aggregates, fired when they are due.

#pragma once

#include <functional>

#include "evershard/actors/model/aggregate_door.hpp"
#include "evershard/actors/timers/timer_firing.hpp"
#include "evershard/services/timers/due_host.hpp"

namespace evershard::cluster {

/// Follows what sets and cancels timers, from the first event on, and sends their commands once it has caught up.
///
/// Any thread. Owner: `events`, which shows reserved names, and what `door` gives outlive it.
class TimerHost final : private DueWork {
 public:
  TimerHost(EventStore& events, std::function<AggregateDoor&()> door, DueHostOptions options);

  /// From here on timers fire: somebody hosts aggregates. Idempotent; not behind stop().
  void begin() { host_.begin(); }
  [[nodiscard]] actors::TimerFigures figures() const;
  /// See DueHost.
  void stop() { host_.stop(); }

 private:
  [[nodiscard]] Query query() const override { return actors::TimerFiring::query(); }
  [[nodiscard]] Result<void> event(const RecordedEvent& event) override { return firing_.event(event); }
  [[nodiscard]] actors::PacedQueue& queue() override { return firing_.queue(); }
  [[nodiscard]] Send fire(const actors::DueTimer& timer, const Result<RecordedEvent>& set, Timestamp now) override;

  const std::function<AggregateDoor&()> door_;
  actors::TimerFiring firing_;
  DueHost host_;  ///< last: it ends first
};

}  // namespace evershard::cluster
