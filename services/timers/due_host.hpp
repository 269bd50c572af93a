// DueHost: the threads that follow what sets things to be done later, and do them when they are due.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "evershard/actors/timers/paced_queue.hpp"
#include "evershard/api/event_store.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// What is done when it is due. Called under the host's lock, by one thread at a time.
class DueWork {
 public:
  /// Takes what came of it, under the host's lock.
  using Answer = std::function<void(Timestamp now)>;
  /// Told once, from any thread.
  using Told = std::function<void(const Answer& answer)>;
  /// Does it, not under the lock.
  using Send = std::function<void(Told told)>;

  virtual ~DueWork() = default;
  /// Matches the events that event() is to be given.
  [[nodiscard]] virtual Query query() const = 0;
  /// In the order of positions. Errors: corruption: it cannot be read; it changes nothing
  [[nodiscard]] virtual Result<void> event(const RecordedEvent& event) = 0;
  [[nodiscard]] virtual actors::PacedQueue& queue() = 0;
  /// `set`: the event that set it, as it is stored. Returns: null: there is nothing to do, and the queue knows it.
  [[nodiscard]] virtual Send fire(const actors::DueTimer& timer, const Result<RecordedEvent>& set, Timestamp now) = 0;
};

struct DueHostOptions {
  /// Whether what is set in the shard is done here: others do theirs. Null: all is.
  std::function<bool(ShardId)> lives_here{};
  std::function<void(const Error&)> warn{};
  std::function<Timestamp()> now = &Timestamp::now;  ///< the clock that things are due by, and nothing else
  bool fires = true;                                 ///< false: the host only looks at events, and sends nothing
};

/// Follows from the first event on, and does nothing before it has caught up once. An event that cannot be read is
/// passed over, counted and warned of: what it set is not done, and what others set is.
///
/// Any thread. Owner: `events`, which shows reserved names, and `work` outlive it.
class DueHost {
 public:
  DueHost(EventStore& events, DueWork& work, DueHostOptions options);
  ~DueHost();
  DueHost(const DueHost&) = delete;

  /// Idempotent; not behind stop().
  void begin();
  [[nodiscard]] bool begun() const;
  /// Events that were passed over: damaged, or of a form that this program does not know.
  [[nodiscard]] std::uint64_t damaged() const { return damaged_; }
  /// Waits until every event up to `position` was looked at. Errors: timeout, unavailable: stopped, or not begun
  [[nodiscard]] Result<void> wait_for(GlobalPosition position, std::chrono::milliseconds timeout);
  /// Nothing more is done. What was sent is waited for by the destructor: whoever answers it ends before that.
  /// Idempotent.
  void stop();

  /// `look()`, while the work is given nothing.
  template <class Look>
  auto locked(Look look) const {
    const std::lock_guard lock(mutex_);
    return look();
  }

 private:
  [[nodiscard]] EventFeed follow();
  void read();
  void pass_over(GlobalPosition position, const Error& why);
  void say_trouble(const Error& trouble);
  void fire();
  void send(const actors::DueTimer& timer);
  void look_at_clock(Timestamp now);

  EventStore& events_;
  DueWork& work_;
  const DueHostOptions options_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool caught_up_ = false;
  bool stopping_ = false;
  std::size_t asked_ = 0;                                                             ///< sent and not answered
  std::optional<std::pair<Timestamp, std::chrono::steady_clock::time_point>> clock_;  ///< both, as of the last look
  GlobalPosition read_to_;
  std::string said_;                                                       ///< of what was warned last
  std::optional<std::chrono::steady_clock::time_point> in_trouble_since_;  ///< nothing could be read
  std::atomic<std::uint64_t> damaged_{0};
  std::optional<EventFeed> feed_;
  std::thread reader_;
  std::thread firer_;
};

}  // namespace evershard::cluster
