#include "evershard/local/local_projections.hpp"

#include <algorithm>
#include <utility>

#include "evershard/services/tables/host/projection_kinds.hpp"

namespace evershard::cluster {

EngineOptions engine_of(const LocalProjectionOptions& options) {
  return {.page_events_max = options.page_events_max,
          .building_at_once = std::max<std::size_t>(options.building_at_once, 1),
          .gathered_bytes_max = options.gathered_bytes_max,
          .pace = options.pace};
}

std::unique_ptr<ProjectionHost> local_projections(EventStore& events, Node& node, const LocalProjectionOptions& options,
                                                  std::shared_ptr<const TableHandlers> handlers,
                                                  EventIdStanding event_id_at, std::function<void(const Error&)> warn) {
  const auto& identity = node.store().identity();
  const auto data_dir = node.data_dir();
  auto kinds = projection_kinds(events, data_dir, std::move(handlers));
  ProjectionHostOptions host;
  if (!data_dir.empty()) host.folder = data_dir / "projections";
  host.owner = {identity.store, identity.fork};
  host.block_cache_bytes = options.block_cache_bytes;
  host.memtables_bytes = options.memtables_bytes;
  host.engine = engine_of(options);
  host.engine.reads_whole_only = true;
  host.engine.event_id_at = std::move(event_id_at);
  host.engine.warn = std::move(warn);
  return std::make_unique<ProjectionHost>(events, std::move(kinds), std::move(host));
}

void add_figures(std::vector<std::pair<std::string, std::uint64_t>>& details, const ProjectionInfo& projection) {
  const auto serving = std::ranges::find_if(projection.versions, &ProjectionVersion::serving);
  if (projection.versions.empty()) return;
  const auto& version = serving == projection.versions.end() ? projection.versions.back() : *serving;
  const auto prefix = "projections." + projection.name + ".";
  details.emplace_back(prefix + "lag", version.lag);
  details.emplace_back(prefix + "events", version.events);
  details.emplace_back(prefix + "errors", version.errors);
}

}  // namespace evershard::cluster
