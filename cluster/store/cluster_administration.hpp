// ClusterAdministration: what is asked of a cluster, at any of its nodes.

#pragma once

#include "evershard/cluster/store/cluster_view.hpp"

namespace evershard {

/// From any thread.
class ClusterAdministration {
 public:
  virtual ~ClusterAdministration() = default;
  /// From memory; never blocks.
  [[nodiscard]] virtual ClusterView view() const = 0;
};

}  // namespace evershard
