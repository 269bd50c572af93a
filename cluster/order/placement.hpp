// Placement: which nodes are to keep which shards: what is to change next.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/sharding/replica_set.hpp"

namespace evershard::cluster {

struct PlacementNode {
  std::string zone{};  ///< empty: one of its own
  bool stays = true;   ///< what it keeps counts; false: it is gone for good, or is to keep nothing
  bool takes = true;   ///< it is here, and may be given more
  bool away = false;   ///< it is not here now, and may be given more when it comes back
};

/// One replica of a shard, to another node.
struct ReplicaMove {
  ShardId shard;
  std::uint32_t from = 0;  ///< 0: whoever has most
  std::uint32_t to = 0;
  friend bool operator==(const ReplicaMove&, const ReplicaMove&) = default;
};

/// Nothing changes at the disks of two nodes at a time: one learns all that it is to keep in addition, then others give
/// up what they keep too much.
///
/// Owner: a value. Source: docs/internals/replication.md, "Sets that change".
struct Placement {
  std::map<std::uint32_t, PlacementNode> nodes{};
  std::vector<sharding::ReplicaSet> sets{};  ///< per shard; without nodes: it has no replicas, and is left alone
  std::size_t replicas = 1;                  ///< so many a shard is to have
  std::vector<ReplicaMove> moves{};          ///< that somebody wants
  bool even = false;                         ///< all nodes are to keep about as many
  std::map<ShardId, std::uint32_t> going{};  ///< who was chosen to go before; stays chosen while it fits

  /// Who is to learn which shards; nothing: nobody need, or can. Shape: nobody learns now.
  struct Learns {
    std::uint32_t node = 0;
    std::vector<ShardId> shards{};
  };
  [[nodiscard]] std::optional<Learns> learns() const;
  /// Who is to keep which shard no longer: of those that have more than they are to have.
  [[nodiscard]] std::map<ShardId, std::uint32_t> surplus() const;
  /// Whether it keeps nobody from being chosen to go any more.
  [[nodiscard]] bool done(const ReplicaMove& move) const;
  /// How many replicas are still to be made or given up, also by nodes that are away.
  [[nodiscard]] std::size_t to_do() const;

 private:
  struct Wanted {
    ShardId shard;
    std::uint32_t node = 0;
  };
  [[nodiscard]] std::vector<Wanted> wanted() const;
  [[nodiscard]] std::map<std::uint32_t, std::size_t> loads() const;
  [[nodiscard]] std::string zone(std::uint32_t node) const;
  [[nodiscard]] bool stays(std::uint32_t node) const;
  [[nodiscard]] std::size_t target(const sharding::ReplicaSet& set) const;
};

}  // namespace evershard::cluster
