// Readiness: whether a node of a cluster may be sent clients: every shard has a writer that the node knows.

#pragma once

#include <atomic>
#include <optional>
#include <vector>

#include "evershard/api/cluster_view.hpp"
#include "evershard/cluster/homes/home_calls.hpp"
#include "evershard/protocol/error.hpp"

namespace evershard::server {

/// `open_here`: the shards that are open on the node whose view it is.
///
/// Returns: unavailable: which shards wait, and for what; nothing: none does
[[nodiscard]] std::optional<Error> waits_for_writers(const ClusterView& view, const std::vector<ShardId>& open_here);

/// Of a node since it was started: once it was ready it stays so. What goes away later, the calls tell that need it: a
/// node that is sent no clients any more since another one is down would make one fault two. Any thread. Owner: both
/// outlive it.
class NodeReadiness {
 public:
  NodeReadiness(cluster::ClusterNode& node, const cluster::HomeCalls& homes) : node_(node), homes_(homes) {}
  /// Why not; nothing: it is ready.
  [[nodiscard]] std::optional<Error> look();

 private:
  cluster::ClusterNode& node_;
  const cluster::HomeCalls& homes_;
  std::atomic<bool> was_ready_{false};
};

}  // namespace evershard::server
