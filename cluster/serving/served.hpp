// Served: what the network doors of one process stand on, made once.

#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "evershard/cluster/exchange/registered_types.hpp"
#include "evershard/cluster/serving/access.hpp"
#include "evershard/cluster/serving/client_gate.hpp"
#include "evershard/cluster/serving/head_watch.hpp"
#include "evershard/cluster/serving/metrics.hpp"
#include "evershard/cluster/serving/work_pool.hpp"
#include "evershard/cluster/store/administration.hpp"
#include "evershard/cluster/store/cluster_administration.hpp"
#include "evershard/cluster/store/event_store.hpp"

namespace evershard::serving {

/// Owner: who serves; it outlives the doors.
struct Served {
  EventStore& store;
  Administration& administration;
  WorkPool& pool;
  HeadWatch& watch;
  /// The tokens as they are now.
  std::function<std::shared_ptr<const Access>()> access;
  /// What the store has registered, as it is now. Errors: corruption, io
  std::function<Result<RegisteredTypes>()> types;
  /// What all doors count.
  std::shared_ptr<Metrics> metrics = std::make_shared<Metrics>();
  /// What each client may ask of all doors together.
  std::shared_ptr<ClientGate> clients = std::make_shared<ClientGate>(ClientLimitOptions{});
  /// Absent: the store is one process.
  ClusterAdministration* cluster = nullptr;
};

}  // namespace evershard::serving
