// StoreFigures: a store's figures as Prometheus families, made when they are asked for.

#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include "evershard/cluster/store/administration.hpp"

namespace evershard::serving {

/// Borrows the stats. What is counted since the store was opened is a counter, what it is now a gauge.
/// Source: docs/metrics.md, "The store".
class StoreFigures final : public prometheus::Collectable {
 public:
  explicit StoreFigures(const StoreStats& stats) : stats_(stats) {}
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const StoreStats& stats_;
};

}  // namespace evershard::serving
