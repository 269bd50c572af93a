// QuorumGate: what a shard's writer has synced is reported once a quorum of its replicas has it (rule 9).

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "evershard/actors/core/writer_actions.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/sharding/replica_set.hpp"

namespace evershard::cluster {

/// Reports that wait are kept in their sequence, shard by shard. Under a newer epoch all begins anew. Whose words come
/// here is said by NamedProcesses.
///
/// Owner:  one thread.
/// Source: docs/internals/replication.md; invariant I-Quorum.
class QuorumGate {
 public:
  using Reports = std::vector<actors::WriterReport>;

  explicit QuorumGate(std::uint32_t self) : self_(self) {}

  /// A report of what is synced here. To `out` goes what may be reported now. One without appends asks for a cut and
  /// waits for nothing.
  void take(actors::WriterReport report, const sharding::ReplicaSet& set, Reports& out);
  /// A follower has synced the shard up to `tail`, under that epoch.
  void followed(std::uint32_t node, ShardId shard, Epoch epoch, ShardOffset tail, const sharding::ReplicaSet& set,
                Reports& out);
  /// The node's process, its session or its disk is gone: what it said counts no more. What it says next does, also
  /// where that is less.
  void lost(std::uint32_t node);
  /// The shard's set is this one now: what a node said that is no more in it, or that learns it anew, counts no more.
  void note(ShardId shard, const sharding::ReplicaSet& set);
  /// The shard is another's now.
  void forget(ShardId shard) { shards_.erase(shard); }
  /// Up to where a quorum has it, as far as followers said under this epoch.
  [[nodiscard]] ShardOffset quorum_has(ShardId shard, const sharding::ReplicaSet& set) const;
  [[nodiscard]] bool waits(ShardId shard) const;

 private:
  struct Shard {
    Epoch epoch;
    std::map<std::uint32_t, ShardOffset> tails{};
    std::deque<actors::WriterReport> waiting{};
  };
  Shard& at(ShardId shard, Epoch epoch);
  [[nodiscard]] ShardOffset quorum_has(const Shard& shard, const sharding::ReplicaSet& set) const;

  const std::uint32_t self_;
  std::map<ShardId, Shard> shards_;
};

}  // namespace evershard::cluster
