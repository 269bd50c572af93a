// FollowedShards: of shards that others write, or that are not opened yet: where this node's journal ends, and what of
// it no applied cut covers.

#pragma once

#include <deque>
#include <map>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/storage/journal/shipped_rows.hpp"

namespace evershard::cluster {

/// Owner:  one thread.
/// Source: docs/internals/replication.md.
class FollowedShards {
 public:
  /// Shape: `unordered` is what the journal has in [ordered, tail), in order.
  void hold(ShardId shard, ShardOffset ordered, ShardOffset tail, std::vector<storage::UnorderedAppend> unordered);
  [[nodiscard]] bool holds(ShardId shard) const { return shards_.contains(shard); }
  [[nodiscard]] std::vector<ShardId> all() const;
  /// Shape, of these: holds().
  [[nodiscard]] ShardOffset tail(ShardId shard) const { return shards_.at(shard).tail; }
  /// Events that wait for their cuts.
  [[nodiscard]] std::uint64_t unordered() const { return unordered_; }
  [[nodiscard]] ShardOffset ordered(ShardId shard) const { return shards_.at(shard).ordered; }

  /// Shipped and synced. Shape: it begins at the tail.
  void take(ShardId shard, ShardOffset end, std::vector<storage::UnorderedAppend> appends);
  /// A cut that is applied covers it. Shape: up to the tail at most.
  void cover(const sharding::Segment& segment);
  /// The journal ends here at most. Shape: not before what cuts cover.
  void cut_back(ShardId shard, ShardOffset from);
  /// This node writes it from now on: what no cut covers.
  [[nodiscard]] std::vector<storage::UnorderedAppend> release(ShardId shard);
  void forget(ShardId shard);

 private:
  struct Shard {
    ShardOffset ordered{1};
    ShardOffset tail{1};
    std::deque<storage::UnorderedAppend> unordered{};
  };
  std::map<ShardId, Shard> shards_;
  std::uint64_t unordered_ = 0;
};

}  // namespace evershard::cluster
