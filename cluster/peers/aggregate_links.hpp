// AggregateLinks: what is asked of aggregates, over a node's links.

#pragma once

#include "evershard/cluster/aggregates/cluster_aggregates.hpp"
#include "evershard/cluster/peers/node_links.hpp"

namespace evershard::cluster {

/// Bounded by the links: requests and bytes that a peer has open, what waits for it here.
/// Owner: the links outlive it.
class AggregateLinks final : public AggregateNetwork {
 public:
  explicit AggregateLinks(NodeLinks& links) : links_(links) {}
  void ask(std::uint32_t node, AggregateAsked asked, AggregateDone done) override;
  /// What others ask is answered by these, until NodeLinks::detach().
  void serve(ClusterAggregates& aggregates);

 private:
  NodeLinks& links_;
};

}  // namespace evershard::cluster
