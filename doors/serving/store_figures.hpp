// StoreFigures: the figures of a store, and of what it costs to read it, as Prometheus families, made when they are
// asked for.

#pragma once

#include <prometheus/collectable.h>
#include <prometheus/metric_family.h>

#include "evershard/actors/threads/long_reads.hpp"
#include "evershard/api/administration.hpp"

namespace evershard::serving {

/// Borrows the stats. What is counted since the store was opened is a counter, what it is now a gauge.
/// Source: docs/metrics.md, "The store" and "Long reads".
class StoreFigures final : public prometheus::Collectable {
 public:
  StoreFigures(const StoreStats& stats, const cluster::LongReads::Figures& reads) : stats_(stats), reads_(reads) {}
  [[nodiscard]] std::vector<prometheus::MetricFamily> Collect() const override;

 private:
  const StoreStats& stats_;
  const cluster::LongReads::Figures reads_;
};

}  // namespace evershard::serving
