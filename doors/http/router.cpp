#include "evershard/doors/http/router.hpp"

#include <algorithm>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::http {
namespace {

using enum serving::Scope;

constexpr Route all_routes[] = {
    {RouteId::health, "GET", "/health", {}},
    {RouteId::metrics, "GET", "/metrics", read},
    {RouteId::page, "GET", "/", {}},
    {RouteId::asset, "GET", "/assets/{path...}", {}},
    {RouteId::session, "GET", "/api/v1/session", {}},
    {RouteId::open_session, "POST", "/api/v1/session", {}},
    {RouteId::close_session, "DELETE", "/api/v1/session", {}},
    {RouteId::info, "GET", "/api/v1/info", read},
    {RouteId::stats, "GET", "/api/v1/stats", read},
    {RouteId::head, "GET", "/api/v1/head", read},
    {RouteId::events, "GET", "/api/v1/events", read},
    {RouteId::event, "GET", "/api/v1/events/{position}", read},
    {RouteId::query, "POST", "/api/v1/query", read},
    {RouteId::query_get, "GET", "/api/v1/query", read},
    {RouteId::condition, "POST", "/api/v1/condition", read},
    {RouteId::groups, "GET", "/api/v1/groups", read},
    {RouteId::group, "GET", "/api/v1/groups/{name}", read},
    {RouteId::group_parked, "GET", "/api/v1/groups/{name}/parked", read},
    {RouteId::aggregates, "GET", "/api/v1/aggregates", read},
    {RouteId::aggregate, "GET", "/api/v1/aggregates/{id}", read},
    {RouteId::aggregate_events, "GET", "/api/v1/aggregates/{id}/events", read},
    {RouteId::aggregate_state, "GET", "/api/v1/aggregates/{id}/state", read},
    {RouteId::aggregate_snapshots, "GET", "/api/v1/aggregates/{id}/snapshots", read},
    {RouteId::projections, "GET", "/api/v1/projections", read},
    {RouteId::projection, "GET", "/api/v1/projections/{name}", read},
    {RouteId::index, "GET", "/api/v1/indexes/{name}", read},
    {RouteId::values, "GET", "/api/v1/values/{name}", read},
    {RouteId::values, "POST", "/api/v1/values/{name}", read},
    {RouteId::tables, "GET", "/api/v1/tables", read},
    {RouteId::table, "GET", "/api/v1/tables/{name}", read},
    {RouteId::table_rows, "GET", "/api/v1/tables/{name}/rows", read},
    {RouteId::table_rows, "POST", "/api/v1/tables/{name}/rows", read},
    {RouteId::table_parked, "GET", "/api/v1/tables/{name}/parked", read},
    {RouteId::documents, "GET", "/api/v1/documents", read},
    {RouteId::document, "GET", "/api/v1/documents/{id}", read},
    {RouteId::retention_policies, "GET", "/api/v1/retention/policies", read},
    {RouteId::retention_log, "GET", "/api/v1/retention/log", read},
    {RouteId::append, "POST", "/api/v1/append", append},
    {RouteId::settings, "GET", "/api/v1/settings", admin},
    {RouteId::cluster, "GET", "/api/v1/cluster", admin},
    {RouteId::flush, "POST", "/api/v1/admin/flush", admin},
    {RouteId::verify, "POST", "/api/v1/admin/verify", admin},
    {RouteId::vacuum, "POST", "/api/v1/admin/vacuum", admin},
    {RouteId::live_events, "GET", "/api/v1/live/events", read},
    {RouteId::live_stats, "GET", "/api/v1/live/stats", read},
};

/// Absent: it is another path.
std::optional<std::string> argument_of(std::string_view path, const std::vector<std::string>& segments) {
  std::string argument;
  std::size_t at = 0;
  for (path.remove_prefix(1); !path.empty(); ++at) {
    const auto end = std::min(path.find('/'), path.size());
    const auto part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (at == segments.size()) return std::nullopt;
    if (part.ends_with("...}")) {
      for (; at < segments.size(); ++at) argument += (argument.empty() ? "" : "/") + segments[at];
      return argument;
    }
    if (part.starts_with('{'))
      argument = segments[at];
    else if (part != segments[at])
      return std::nullopt;
  }
  return at == segments.size() ? std::optional(argument) : std::nullopt;
}

bool is_stream(RouteId id) { return id == RouteId::live_events || id == RouteId::live_stats; }

}  // namespace

std::span<const Route> routes() { return all_routes; }

std::string allowed(const std::vector<std::string>& segments) {
  std::string methods;
  for (const auto& route : all_routes) {
    if (!argument_of(route.path, segments)) continue;
    methods += (methods.empty() ? "" : ", ") + std::string(route.method);
    if (route.method == "GET" && !is_stream(route.id)) methods += ", HEAD";
  }
  return methods.empty() ? methods : methods + ", OPTIONS";
}

tl::expected<Routed, Refusal> route_of(std::string_view method, const std::vector<std::string>& segments) {
  const bool only_head = method == "HEAD";
  for (const auto& route : all_routes) {
    if (route.method != (only_head ? "GET" : method) || (only_head && is_stream(route.id))) continue;
    if (auto argument = argument_of(route.path, segments)) return Routed{&route, *std::move(argument)};
  }
  auto methods = allowed(segments);
  if (!methods.empty()) {
    return tl::unexpected(
        Refusal{405,
                {ErrorCode::invalid_argument, "the method " + in_quotes(method, 40) + " is none of " + methods},
                {{"Allow", methods}}});
  }
  std::string path;
  for (const auto& segment : segments) path += '/' + segment;
  return tl::unexpected(
      Refusal{404, {ErrorCode::not_found, "there is no " + in_quotes(path.empty() ? "/" : path, 200)}});
}

}  // namespace evershard::http
