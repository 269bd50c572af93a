// LentMember: a node that an application has joined, in service for as long as it is lent.

#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "evershard/cluster/embedded/cluster.hpp"
#include "evershard/cluster/embedded/cluster_parts.hpp"
#include "evershard/cluster/homes/home_calls.hpp"
#include "evershard/doors/server/advertised_door.hpp"
#include "evershard/doors/server/member_administration.hpp"
#include "evershard/doors/server/readiness.hpp"
#include "evershard/doors/server/ready_figure.hpp"
#include "evershard/doors/server/store_in_service.hpp"

namespace evershard::server {

/// Owner: the node outlives it, and stays where it is.
class LentMember final : public StoreInService {
 public:
  /// `hosts`: aggregates that are asked commands.
  LentMember(Cluster& node, const ClusterParts& parts, bool hosts)
      : node_(node),
        parts_(parts),
        hosts_(hosts),
        administration_(parts.node, parts.store, parts.projections, parts.documents, parts.groups, parts.retention,
                        parts.scheduled,
                        [this, &node](auto& details) {
                          details.emplace_back(ready_figure, readiness_.look() ? 0 : 1);
                          for (const auto& [name, figure] : node.figures())
                            details.emplace_back("aggregates." + name, figure);
                        }),
        orders_(parts.node, parts.links, parts.store),
        readiness_(parts.node, parts.homes) {}

  [[nodiscard]] EventStore& store() override { return node_; }
  [[nodiscard]] EventStore& unopened() override { return parts_.node; }
  [[nodiscard]] Administration& administration() override { return administration_; }
  [[nodiscard]] ClusterAdministration* cluster() override { return &orders_; }
  [[nodiscard]] Groups* groups() override { return &node_.groups(); }
  [[nodiscard]] ScheduledAppends& scheduled() override { return node_.scheduled(); }
  [[nodiscard]] Processes& processes() override { return node_.processes(); }
  [[nodiscard]] AggregateDoor* aggregates() override { return hosts_ ? &node_ : nullptr; }
  [[nodiscard]] Tables* tables() override { return &node_.tables(); }
  [[nodiscard]] Documents* documents() override { return &node_.documents(); }
  [[nodiscard]] Projections* projections() override { return &node_.projections(); }
  [[nodiscard]] HistoryRetention& retention() override { return node_.retention(); }
  [[nodiscard]] Result<void> retain(const RetentionOrder& order, const Progress& progress) override {
    for (; parts_.homes.open_here().empty(); std::this_thread::sleep_for(std::chrono::milliseconds(200)))
      if (progress && !progress(0, 0)) return refuse(ErrorCode::cancelled, "no shard was open here");
    auto done = parts_.retention.apply_here(order, progress);
    if (!done) return refuse(std::move(done).error());
    return {};
  }
  [[nodiscard]] Result<void> remove_settled_schedules(std::chrono::milliseconds keep, const RetentionOrder& order,
                                                      const Progress& progress) override {
    auto done = node_.remove_settled_schedules(keep, order, progress);
    if (!done) return refuse(std::move(done).error());
    return {};
  }
  [[nodiscard]] Result<void> vacuum_events(const Progress& progress) override {
    return vacuum_events_of(parts_.store, parts_.retention, progress);
  }
  [[nodiscard]] Result<void> vacuum_documents(unsigned removed_percent, const Progress& progress) override {
    return parts_.documents.vacuum(progress, removed_percent);
  }
  [[nodiscard]] Result<void> vacuum_projections(unsigned removed_percent, const Progress& progress) override {
    return parts_.projections.host().vacuum(progress, removed_percent);
  }
  void serves_at(const std::vector<std::string>& addresses) override {
    parts_.node.committer().serves_at(advertised_door(addresses, host_of(parts_.address)));
  }
  void serves_kurrent_at(const std::vector<std::string>& addresses) override {
    parts_.node.committer().serves_kurrent_at(advertised_door(addresses, host_of(parts_.address)));
  }
  [[nodiscard]] Result<void> reload() override { return parts_.links.reload_tls(); }
  [[nodiscard]] std::optional<Error> failed() override { return parts_.node.committer().failed(); }
  [[nodiscard]] std::uint64_t rewritten() override { return parts_.rewritten(); }
  [[nodiscard]] std::optional<Error> not_ready() override { return readiness_.look(); }
  [[nodiscard]] std::shared_ptr<const std::string> led() override { return parts_.links.led_text(); }
  /// The node goes on, without a door.
  void close() override { parts_.node.committer().serves_at({}); }

 private:
  Cluster& node_;
  const ClusterParts parts_;
  const bool hosts_;
  MemberAdministration administration_;
  MemberOrders orders_;
  NodeReadiness readiness_;
};

}  // namespace evershard::server
