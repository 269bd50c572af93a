// NarrowedSets: of which shards of this node one replica is about to leave, and counts no more.

#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "evershard/cluster/order/messages.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/sharding/replica_set.hpp"

namespace evershard::cluster {

/// A replica is taken out of a set only when a quorum of the others has all that was answered: the writer, who knows
/// that, is asked, and counts without that replica from then on.
///
/// Owner:  one thread.
/// Source: docs/internals/replication.md, "Sets that change".
class NarrowedSets {
 public:
  struct Asked {
    Narrow by;
    ShardOffset tail;                   ///< where the journal ended when it was asked
    bool said = false;                  ///< that it is so
    sharding::ReplicaSet of{}, rest{};  ///< the set as it was last, and without that replica
  };

  /// Shape: the shard is open here under that epoch.
  void take(const Narrow& narrow, ShardOffset tail);
  /// It has another writer.
  void forget(ShardId shard) { asked_.erase(shard); }
  /// All cuts of earlier coordinators are known: what they asked for is in them, or will never be.
  void led_by(Epoch coordinator);
  /// Said once more where it is asked for again.
  void again();
  /// The set is this one now.
  void note(ShardId shard, const sharding::ReplicaSet& set);
  /// Who counts of this set. Valid until it changes, or something is called here.
  [[nodiscard]] const sharding::ReplicaSet& counted(ShardId shard, const sharding::ReplicaSet& set);
  [[nodiscard]] std::map<ShardId, Asked>& asked() { return asked_; }

 private:
  std::map<ShardId, Asked> asked_;
};

}  // namespace evershard::cluster
