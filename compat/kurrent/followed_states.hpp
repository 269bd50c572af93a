// FollowedStates: StreamStates of a store, as far as who asks needs them.

#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "evershard/api/event_store.hpp"
#include "evershard/compat/kurrent/stream_states.hpp"

namespace evershard::kurrent {

/// Nothing is read before somebody asks; then what matches since the last time, by the index of types.
/// Any thread. Owner: `events`, which shows reserved names, outlives it.
class FollowedStates {
 public:
  explicit FollowedStates(EventStore& events) : events_(events) {}

  /// As of now at least, and of all that was answered; then the store shows that too. From a thread that may wait for
  /// the disk. Errors: those of EventFeed::next; timeout
  [[nodiscard]] Result<void> catch_up();
  /// What an append that was answered at this position changed is to be seen by all that come later.
  void changed_at(GlobalPosition position);
  /// An append was answered at this position: who comes later is to see it.
  void answered_at(GlobalPosition position);
  /// Whether find() knows what changed_at() was told; else catch_up() comes first.
  [[nodiscard]] bool is_current() const { return begun_ && applied_.load() >= changed_.load(); }
  /// How far it has read.
  [[nodiscard]] GlobalPosition applied() const { return GlobalPosition(applied_.load()); }
  [[nodiscard]] std::optional<StreamState> find(const AggregateId& stream) const;

 private:
  EventStore& events_;
  mutable std::mutex mutex_;
  std::mutex reading_;
  std::optional<EventFeed> feed_;
  StreamStates states_;
  std::atomic<bool> begun_{false};
  std::atomic<std::uint64_t> applied_{0}, changed_{0}, answered_{0};
};

}  // namespace evershard::kurrent
