#include "evershard/doors/http/router.hpp"

#include <algorithm>
#include <optional>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::http {
namespace {

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

}  // namespace

std::span<const Route> routes() {
  static const auto all = [] {
    std::vector<Route> rows;
    for (const auto table : {serving_routes(), administration_routes(), event_routes(), reading_routes(),
                             state_routes(), group_routes(), projection_routes(), table_routes(), document_routes(),
                             retention_routes(), scheduled_routes(), process_routes(), command_routes()}) {
      rows.insert(rows.end(), table.begin(), table.end());
    }
    return rows;
  }();
  return all;
}

std::string allowed(const std::vector<std::string>& segments) {
  std::string methods;
  for (const auto& route : routes()) {
    if (!argument_of(route.path, segments)) continue;
    methods += (methods.empty() ? "" : ", ") + std::string(route.method);
    if (route.method == "GET" && route.manner != Manner::stream) methods += ", HEAD";
  }
  return methods.empty() ? methods : methods + ", OPTIONS";
}

tl::expected<Routed, Refusal> route_of(std::string_view method, const std::vector<std::string>& segments) {
  const bool only_head = method == "HEAD";
  for (const auto& route : routes()) {
    if (route.method != (only_head ? "GET" : method) || (only_head && route.manner == Manner::stream)) continue;
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
