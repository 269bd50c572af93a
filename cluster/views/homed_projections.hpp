// HomedProjections: the projections of a cluster, from one of its nodes: what is asked of one goes to its home.

#pragma once

#include "evershard/api/calls/projections_calls.hpp"
#include "evershard/cluster/homes/home_calls.hpp"
#include "evershard/services/engine/catalogue.hpp"
#include "evershard/services/engine/projection_host.hpp"

namespace evershard::cluster {

/// A page whose home is here is read here.
///
/// Errors beyond those of Projections: unavailable: its home does not answer; timeout: what became of a change is not
/// known. Owner: all outlive it.
class HomedProjections final : public calls::AskedProjections {
 public:
  HomedProjections(EventStore& events, HomeCalls& homes, ProjectionHost& host);
  /// Other nodes are answered of what is hosted here. Shape: before the node joins.
  void serve();

  Result<ProjectionInfo> create_index(const Query& query) override;
  /// Those whose home can be read and does not answer for them are there too, without rows: `waiting`, and why. Errors:
  /// unavailable: a node is away, and with it definitions
  Result<std::vector<ProjectionInfo>> list() override;
  Result<IndexPage> read_index(const std::string& name, const IndexRead& read) override;
  /// Without `at_least` it shows what this node had when the read began.
  Result<ValuePage> read_values(const std::string& name, const ValueRead& read) override;
  Result<GlobalPosition> wait_until(const std::string& name, GlobalPosition position,
                                    std::chrono::milliseconds timeout) override;
  /// What is hosted here.
  Result<void> vacuum_projections() override { return host_.vacuum_projections(); }

 private:
  [[nodiscard]] AggregateId of(const std::string& name) const { return catalogue_.names().aggregate(name); }
  [[nodiscard]] bool is_here(const std::string& name) const;

  EventStore& events_;
  HomeCalls& homes_;
  ProjectionHost& host_;
  Catalogue catalogue_;
};

}  // namespace evershard::cluster
