// ClusterAdministration: what is asked of a cluster, at any of its nodes.

#pragma once

#include "evershard/store/api/cluster_status.hpp"
#include "evershard/store/api/cluster_view.hpp"

namespace evershard {

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
};

/// And what a node's own process asks it.
class ClusterAdministration : public ClusterOrders {
 public:
  /// From memory; never blocks.
  [[nodiscard]] virtual ClusterView view() const = 0;
};

}  // namespace evershard
