// MemberHomes: the homes of a cluster, as the doors of one of its nodes have them.

#pragma once

#include "evershard/cluster/homes/home_calls.hpp"
#include "evershard/cluster/node/cluster_node.hpp"
#include "evershard/doors/serving/homes.hpp"

namespace evershard::server {

/// Owner: node and calls outlive it.
class MemberHomes final : public serving::Homes {
 public:
  MemberHomes(cluster::ClusterNode& node, cluster::HomeCalls& calls) : node_(node), calls_(calls) {}
  ~MemberHomes() override { watch({}); }

  void serve(std::string method, Handler handler) override;
  void serve_later(std::string method, LateHandler handler) override;
  Result<std::string> call(Asked asked, bool may_repeat) override;
  void ask(Asked asked, Done done) override;
  Result<std::uint64_t> term(const AggregateId& aggregate) override;
  Result<void> settled(const AggregateId& aggregate) override { return node_.committer().wait_settled(aggregate); }
  Result<void> keep(Snapshot state, std::uint64_t term) override {
    return node_.put_snapshot_here(std::move(state), Epoch(term));
  }
  void watch(std::function<void()> changed) override;

 private:
  cluster::ClusterNode& node_;
  cluster::HomeCalls& calls_;
};

}  // namespace evershard::server
