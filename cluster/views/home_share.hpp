// HomeShare: the definitions whose shards are open on this node.

#pragma once

#include "evershard/cluster/homes/home_calls.hpp"
#include "evershard/cluster/node/cluster_node.hpp"
#include "evershard/services/engine/definition_share.hpp"

namespace evershard::cluster {

/// Owner: both outlive it.
class HomeShare final : public DefinitionShare {
 public:
  HomeShare(ClusterNode& node, HomeCalls& homes) : node_(node), homes_(homes) {}

  [[nodiscard]] bool is_here(const AggregateId& definition) const override { return homes_.is_home(definition); }
  [[nodiscard]] bool is_elsewhere(const AggregateId& definition) const override;
  [[nodiscard]] Result<void> settle(const AggregateId& definition) override {
    return node_.committer().wait_settled(definition);
  }
  /// From this node's disk alone. Errors: wrong_shard: one of them is just going
  [[nodiscard]] Result<Here> here(const std::string& type) override;

 private:
  ClusterNode& node_;
  HomeCalls& homes_;
};

}  // namespace evershard::cluster
