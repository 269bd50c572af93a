// HeadWatch: one thread that watches the watermark for all who wait for it, instead of a thread for each.

#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <unordered_map>

#include "evershard/api/event_store.hpp"
#include "evershard/doors/serving/interest_index.hpp"

namespace evershard::serving {

/// Each wait ends once, with one call from the watch's own thread (or at once, from the caller's), which must be short:
/// it hands the work on. Ended waits need no cancel().
class HeadWatch {
 public:
  using Clock = std::chrono::steady_clock;
  using Ticket = std::uint64_t;
  /// The watermark, or timeout, or unavailable: the watch is being closed.
  using Reached = std::function<void(Result<GlobalPosition>)>;

  enum class Why : std::uint8_t {
    something,  ///< an event that matches may be there
    deadline,   ///< nothing that matches up to `looked_at`
    closing,
  };
  /// `looked_at`: nothing at or before it matches and stands behind what was waited from.
  using Wake = std::function<void(Why why, GlobalPosition looked_at)>;

  /// The store outlives the watch.
  explicit HeadWatch(EventStore& store);
  ~HeadWatch() { close(); }
  HeadWatch(const HeadWatch&) = delete;

  /// Until the watermark has reached `position`. Answers at once where it has.
  Ticket when_reached(GlobalPosition position, Clock::time_point deadline, Reached done);
  /// At a time, about 20 ms late: for who looks again and has no thread to wait in. Errors it is told: unavailable
  /// (closing)
  Ticket at(Clock::time_point when, std::function<void(Result<void>)> done);
  /// Until there is an event behind `after` that the query matches; the query was checked.
  Ticket when_matching(GlobalPosition after, Query query, Clock::time_point deadline, Wake wake);
  /// After it, and after a call that is under way in another thread, the wait's function is not called any more.
  /// Returns: the wait had not ended, and never ends now.
  bool cancel(Ticket ticket);

  /// Ends every wait; later ones end at once.
  void close();

 private:
  struct Wait {
    GlobalPosition position;
    Clock::time_point deadline;
    Reached reached;  ///< or
    Wake wake;
  };

  void watch();
  void end_all(std::unique_lock<std::mutex>& lock);
  [[nodiscard]] std::optional<Wait> take(Ticket ticket);
  void wake(std::unique_lock<std::mutex>& lock, const std::unordered_set<Ticket>& tickets, GlobalPosition head);
  void look_at_new_events(std::unique_lock<std::mutex>& lock, GlobalPosition head);
  void end_reached(std::unique_lock<std::mutex>& lock, GlobalPosition head);
  void end_late(std::unique_lock<std::mutex>& lock, GlobalPosition head);
  void call(std::unique_lock<std::mutex>& lock, Ticket ticket, const std::function<void(Wait&)>& how);

  EventStore& store_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::unordered_map<Ticket, Wait> waits_;
  std::set<std::pair<Clock::time_point, Ticket>> by_deadline_;
  std::set<std::pair<GlobalPosition, Ticket>> by_position_;
  InterestIndex interests_;
  GlobalPosition looked_at_;  ///< no event at or before it is news to anybody in interests_
  Clock::time_point look_again_at_{};
  Ticket last_ = 0;
  std::optional<Ticket> calling_;
  bool closing_ = false;
  std::mutex joining_;
  std::thread thread_;
};

}  // namespace evershard::serving
