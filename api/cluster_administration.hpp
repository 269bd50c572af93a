// ClusterAdministration: what is asked of a cluster, at any of its nodes.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/api/administration.hpp"
#include "evershard/api/cluster_status.hpp"
#include "evershard/api/cluster_view.hpp"

namespace evershard {

/// What of a node's part of the store is wanted, for a copy of the whole cluster.
struct PartWanted {
  std::vector<ShardId> shards{};  ///< empty: all that the node keeps
  GlobalPosition at_least{};      ///< it waits until it has applied this
  bool head_only = false;         ///< without rows
};

/// Takes what a node gives. What it refuses ends the giving. Owner: one thread.
class PartTaker {
 public:
  virtual ~PartTaker() = default;
  struct Head {
    std::string identity{};         ///< of the node's store, as it is on disk
    GlobalPosition watermark{};     ///< the part ends here
    std::vector<ShardId> shards{};  ///< the wanted shards that are whole on that node
    std::string types{};            ///< what is in its TYPES; empty: it has none
  };
  /// Once, before any row.
  virtual Result<void> head(const Head& head) = 0;
  /// `family`: 0 journal, 1 order, 2 state; bytes as in docs/internals/on-disk-format.md.
  virtual Result<void> row(std::uint8_t family, std::string_view key, std::string_view value) = 0;
};

/// Asked at a node, from its own process or from afar. From any thread.
class ClusterOrders {
 public:
  virtual ~ClusterOrders() = default;
  /// As the coordinator has it; where that cannot be asked, what this node remembers, with the reason in `trouble`.
  [[nodiscard]] virtual Result<ClusterStatus> status() = 0;
  /// Gives shards to a node: those of a node that is gone for good, or came back with less.
  ///
  /// Errors: not_found (no such node here, no such shard), invalid_argument (a shard's node is there and has it),
  /// unavailable (no coordinator)
  [[nodiscard]] virtual Result<ShardsAssigned> assign(const ShardAssignment& wanted) = 0;
  /// Gives what this node keeps of some shards, as it is at one moment, while everything goes on.
  ///
  /// Units:  progress in events.
  /// Errors: timeout (it does not come so far), unavailable (a removal is under way there; the node is stopping),
  ///         invalid_argument (no such shard; an older server), cancelled, corruption, io, those of `taker`
  [[nodiscard]] virtual Result<void> copy_part(const PartWanted& wanted, PartTaker& taker,
                                               const Progress& progress = {}) = 0;
};

/// And what a node's own process asks it.
class ClusterAdministration : public ClusterOrders {
 public:
  /// From memory; never blocks.
  [[nodiscard]] virtual ClusterView view() const = 0;
};

}  // namespace evershard
