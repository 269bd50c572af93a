// Router: which route a method and a path are.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/doors/http/route.hpp"
#include "tl/expected.hpp"

namespace evershard::http {

/// All routes, always the same ones.
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
