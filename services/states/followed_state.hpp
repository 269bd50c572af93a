// FollowedState: an aggregate's state, as it changes, over any store. StateFeed<A> is its typed side.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "evershard/actors/model/kind.hpp"
#include "evershard/api/event_store.hpp"

namespace evershard::cluster {

/// Read once, with what is stored of it; from then on its events are followed. Each state is that after a whole append,
/// and is durable. Where an event cannot be applied as it stands (its aggregate was removed, its history erased), the
/// state is read anew.
///
/// Owner: one thread, but for cancel(). The store outlives it.
class FollowedState {
 public:
  FollowedState(EventStore& store, std::shared_ptr<const AggregateKind> kind, AggregateId aggregate);

  struct Seen {
    const AnyState* state = nullptr;  ///< until the next call
    SeqNr version;
    GlobalPosition position;
  };
  /// First the state as it is; then the one after the next append that changes it. `newest`: the one after the last
  /// append that is there. Absent: the time passed, nothing changed.
  /// Errors: corruption, not_found (its history was removed, and no snapshot stands behind that), io, unavailable,
  ///         cancelled. After any but the last one the next call reads the state anew
  [[nodiscard]] Result<std::optional<Seen>> next(std::chrono::milliseconds timeout, bool newest);
  /// From any thread: a next() under way answers `cancelled` soon, and so does every later one.
  void cancel();

 private:
  [[nodiscard]] Result<std::optional<Seen>> begin();
  [[nodiscard]] Result<std::optional<Seen>> change(std::chrono::milliseconds timeout, bool newest);
  [[nodiscard]] Result<void> load();
  /// Returns: whether it changed.
  [[nodiscard]] Result<bool> apply_next_append();
  [[nodiscard]] bool fits(const RecordedEvent& event) const;

  EventStore& store_;
  const std::shared_ptr<const AggregateKind> kind_;
  const AggregateId aggregate_;
  StatePtr state_;  ///< null: to be read
  SeqNr version_;
  GlobalPosition position_;
  GlobalPosition loaded_at_;           ///< events up to here are in the state that was read
  GlobalPosition looked_at_;           ///< the feed gave everything up to here
  std::deque<RecordedEvent> waiting_;  ///< of this aggregate, not applied
  std::mutex mutex_;                   ///< of feed_, between next() and cancel()
  std::shared_ptr<EventFeed> feed_;
  std::atomic<bool> cancelled_{false};
};

}  // namespace evershard::cluster
