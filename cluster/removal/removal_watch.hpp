// RemovalWatch: that events were removed or erased anywhere in the cluster, also on shards that this node does not
// keep.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "evershard/api/event_store.hpp"
#include "evershard/protocol/numbers.hpp"

namespace evershard::cluster {

/// Reads the log of retention, one stream, whenever the node's order has moved. What was read before an entry of it
/// came is looked at again before it is given: Rewritten of groups, processes, subscriptions.
/// Owner: `events` outlives it.
class RemovalWatch {
 public:
  static constexpr auto looks_every = std::chrono::milliseconds(50);

  explicit RemovalWatch(EventStore& events) : events_(events) {}
  ~RemovalWatch() { stop(); }
  RemovalWatch(const RemovalWatch&) = delete;

  /// Begins to watch the log, in a thread of its own. To be called once.
  void begin();
  /// Waits for a read that is under way, at most until that is cancelled. Idempotent.
  void stop();
  /// Somebody says that something was removed or erased: it counts at once. Any thread.
  void heard() { ++changes_; }
  /// Another number each time the log has new entries, or somebody said so. Any thread.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }

  /// Of a node: what the node removes or forgets itself, which counts at once, and what this heard of the others.
  [[nodiscard]] std::function<std::uint64_t()> with(std::function<std::uint64_t()> of_the_node) const {
    return [this, of_the_node = std::move(of_the_node)] { return of_the_node() + changes(); };
  }

 private:
  void look();

  EventStore& events_;
  std::atomic<std::uint64_t> changes_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
  // The thread's own:
  GlobalPosition looked_at_{};
  SeqNr seen_{};
};

}  // namespace evershard::cluster
