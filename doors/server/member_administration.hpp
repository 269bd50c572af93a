// What is asked of one node of a cluster: of its own part, and of the cluster.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "evershard/api/administration.hpp"
#include "evershard/api/cluster_administration.hpp"
#include "evershard/cluster/groups/cluster_groups.hpp"
#include "evershard/cluster/node/cluster_node.hpp"
#include "evershard/cluster/peers/node_links.hpp"
#include "evershard/cluster/removal/cluster_retention.hpp"
#include "evershard/cluster/views/node_projections.hpp"
#include "evershard/services/documents/lazy_documents.hpp"
#include "evershard/services/scheduled/scheduled_host.hpp"
#include "evershard/storage/node_store.hpp"

namespace evershard::server {

/// What was broken off is finished, then its space given back; one that is damaged, or hangs on a node that is away, is
/// told of behind that.
[[nodiscard]] Result<void> vacuum_events_of(storage::NodeStore& store, cluster::ClusterRetention& retention,
                                            const Progress& progress);

/// Adds figures of what else is there.
using MemberFigures = std::function<void(std::vector<std::pair<std::string, std::uint64_t>>& details)>;

/// What an operator asks of one node: its own part.
class MemberAdministration final : public Administration {
 public:
  MemberAdministration(cluster::ClusterNode& node, storage::NodeStore& store, cluster::NodeProjections& projections,
                       cluster::LazyDocuments& documents, cluster::ClusterGroups& groups,
                       cluster::ClusterRetention& retention, cluster::ScheduledHost& scheduled, MemberFigures more)
      : node_(node),
        store_(store),
        projections_(projections),
        documents_(documents),
        groups_(groups),
        retention_(retention),
        scheduled_(scheduled),
        more_(std::move(more)) {}

  [[nodiscard]] Result<StoreStats> stats() const override;
  [[nodiscard]] Result<void> flush() override { return store_.seal(); }
  [[nodiscard]] Result<VerifyReport> verify(Progress progress) override;
  [[nodiscard]] Result<void> vacuum(Progress progress) override;
  [[nodiscard]] Result<GlobalPosition> backup(const std::filesystem::path& target, BackupOptions options,
                                              Progress progress) override;

 private:
  cluster::ClusterNode& node_;
  storage::NodeStore& store_;
  cluster::NodeProjections& projections_;
  cluster::LazyDocuments& documents_;
  cluster::ClusterGroups& groups_;
  cluster::ClusterRetention& retention_;
  cluster::ScheduledHost& scheduled_;
  const MemberFigures more_;
};

/// Owner: all outlive it.
class MemberOrders final : public ClusterAdministration {
 public:
  MemberOrders(cluster::ClusterNode& node, cluster::NodeLinks& links, storage::NodeStore& store)
      : node_(node), links_(links), store_(store) {}

  [[nodiscard]] ClusterView view() const override { return node_.view(); }
  [[nodiscard]] Result<ClusterStatus> status() override;
  [[nodiscard]] Result<ShardsAssigned> assign(const ShardAssignment& wanted) override {
    return links_.cluster_assign(wanted);
  }
  [[nodiscard]] Result<void> copy_part(const PartWanted& wanted, PartTaker& taker, const Progress& progress) override;

 private:
  cluster::ClusterNode& node_;
  cluster::NodeLinks& links_;
  storage::NodeStore& store_;
};

}  // namespace evershard::server
