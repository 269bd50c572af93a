// The projections of a store in this process: which kinds there are, where their rows lie.

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "evershard/local/local.hpp"
#include "evershard/local/node.hpp"
#include "evershard/services/engine/projection_host.hpp"
#include "evershard/services/tables/host/table_handlers.hpp"

namespace evershard::cluster {

/// Owner: the events outlive it. `event_id_at`: for checkpoints, may be absent; as `warn`.
[[nodiscard]] std::unique_ptr<ProjectionHost> local_projections(EventStore& events, Node& node,
                                                                const LocalProjectionOptions& options,
                                                                std::shared_ptr<const TableHandlers> handlers,
                                                                EventIdStanding event_id_at,
                                                                std::function<void(const Error&)> warn);

[[nodiscard]] EngineOptions engine_of(const LocalProjectionOptions& options);

/// `projections.NAME.lag` and the like, of the version that serves, or of the newest.
void add_figures(std::vector<std::pair<std::string, std::uint64_t>>& details, const ProjectionInfo& projection);

}  // namespace evershard::cluster
