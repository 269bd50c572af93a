// Router: which route a method and a path are, and what it takes to use it.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/doors/http/response.hpp"
#include "evershard/doors/serving/access.hpp"
#include "tl/expected.hpp"

namespace evershard::http {

enum class RouteId : std::uint8_t {
  health,
  metrics,
  page,
  asset,
  session,
  open_session,
  close_session,
  info,
  stats,
  head,
  events,
  event,
  query,
  query_get,
  condition,
  groups,
  group,
  group_parked,
  aggregates,
  aggregate,
  aggregate_events,
  aggregate_state,
  aggregate_snapshots,
  projections,
  projection,
  index,
  values,
  tables,
  table,
  table_rows,
  table_parked,
  documents,
  document,
  retention_policies,
  retention_log,
  append,
  settings,
  cluster,
  flush,
  verify,
  vacuum,
  live_events,
  live_stats,
};

struct Route {
  RouteId id;
  std::string_view method;
  std::string_view path;                ///< a segment in braces takes whatever stands there; {path...} the rest
  std::optional<serving::Scope> scope;  ///< absent: everybody
};

[[nodiscard]] std::span<const Route> routes();

struct Routed {
  const Route* route = nullptr;
  std::string argument;  ///< what stands in the braces
};

/// HEAD is answered as GET without its body, but for live streams.
///
/// Errors: 404 not_found, 405 invalid_argument with Allow
[[nodiscard]] tl::expected<Routed, Refusal> route_of(std::string_view method, const std::vector<std::string>& segments);
/// The methods of a path, for OPTIONS; empty: there is no such path.
[[nodiscard]] std::string allowed(const std::vector<std::string>& segments);

}  // namespace evershard::http
