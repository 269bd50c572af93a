// RecoveryPermits: how many aggregates of a node load at once.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/numbers.hpp"

namespace evershard::actors {

/// Counts, and keeps a queue: who asks first gets first, over all shards of the node.
///
/// Owner: one thread at a time; a node's shards reach it through an actor or a mutex of the host's.
class RecoveryPermits {
 public:
  explicit RecoveryPermits(std::uint32_t permits = 50) : free_(permits) {
    EVERSHARD_CHECK(permits > 0, "somebody can load");
  }

  /// Returns: granted now; else take-back says when.
  [[nodiscard]] bool ask(ShardId shard) {
    if (free_ > 0) return --free_, true;
    waiting_.push_back(shard);
    return false;
  }
  /// Returns: the shard whose turn it is; it has the permit now.
  [[nodiscard]] std::optional<ShardId> give_back() {
    if (waiting_.empty()) return ++free_, std::nullopt;
    const ShardId next = waiting_.front();
    waiting_.pop_front();
    return next;
  }

  [[nodiscard]] std::uint32_t free() const { return free_; }
  [[nodiscard]] std::size_t waiting() const { return waiting_.size(); }

 private:
  std::uint32_t free_;
  std::deque<ShardId> waiting_;
};

}  // namespace evershard::actors
