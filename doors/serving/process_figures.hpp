// ProcessFigureFamilies: how processes are, as Prometheus families.

#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include <vector>

#include "evershard/api/processes.hpp"

namespace evershard::serving {

/// Borrows them. None: no families.
/// Source: docs/metrics.md, "Processes".
class ProcessFigureFamilies final : public prometheus::Collectable {
 public:
  explicit ProcessFigureFamilies(const std::vector<ProcessInfo>& processes) : processes_(processes) {}
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const std::vector<ProcessInfo>& processes_;
};

}  // namespace evershard::serving
