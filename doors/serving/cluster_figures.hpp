// ClusterFigures: how a cluster is, as Prometheus families.

#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include "evershard/api/cluster_status.hpp"

namespace evershard::serving {

/// Borrows the status. If the coordinator cannot be asked, the only figure is that it cannot.
/// Source: docs/metrics.md, "The cluster".
class ClusterFigures final : public prometheus::Collectable {
 public:
  explicit ClusterFigures(const ClusterStatus& status) : status_(status) {}
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const ClusterStatus& status_;
};

}  // namespace evershard::serving
