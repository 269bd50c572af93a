// TimerHost: the timers of a store's aggregates, fired when they are due.

#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "evershard/actors/model/aggregate_door.hpp"
#include "evershard/actors/timers/timer_firing.hpp"
#include "evershard/store/api/event_store.hpp"

namespace evershard::cluster {

struct TimerHostOptions {
  actors::TimerFiringOptions firing{};
  /// Whether aggregates of the shard live here: others fire theirs. Null: all do.
  std::function<bool(ShardId)> lives_here{};
  std::function<void(const Error&)> warn{};
  std::function<Timestamp()> now = &Timestamp::now;  ///< the clock that timers are due by
};

/// Follows what sets and cancels timers, from the first event on, and sends their commands once it has caught up.
///
/// Any thread. Owner: `events`, which shows reserved names, and what `door` gives outlive it.
class TimerHost {
 public:
  TimerHost(EventStore& events, std::function<AggregateDoor&()> door, TimerHostOptions options);
  ~TimerHost();
  TimerHost(const TimerHost&) = delete;

  /// From here on timers fire: somebody hosts aggregates. Idempotent; not behind stop().
  void begin();
  [[nodiscard]] actors::TimerFigures figures() const;
  /// No more is sent. What was sent is waited for by the destructor: whoever answers it ends before that. Idempotent.
  void stop();

 private:
  [[nodiscard]] EventFeed follow();
  void read();
  void fire();
  void send(const actors::DueTimer& timer);

  EventStore& events_;
  const std::function<AggregateDoor&()> door_;
  const TimerHostOptions options_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  actors::TimerFiring firing_;
  bool caught_up_ = false;
  bool stopping_ = false;
  std::size_t asked_ = 0;  ///< commands that are not answered
  GlobalPosition read_to_;
  std::string said_;  ///< of what was warned last
  std::optional<EventFeed> feed_;
  std::thread reader_;
  std::thread firer_;
};

}  // namespace evershard::cluster
