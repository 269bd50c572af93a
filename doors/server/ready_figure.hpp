// What a node's figures say of whether it may be sent clients: NodeReadiness, as 0 or 1.

#pragma once

#include <string_view>

namespace evershard::server {

inline constexpr std::string_view ready_figure = "cluster.ready";

}  // namespace evershard::server
