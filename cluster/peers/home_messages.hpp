// Calls to homes between nodes, as bytes: Protobuf, in protocol/v1/homes.proto. The only file that knows those.

#pragma once

#include <string>
#include <string_view>

#include "evershard/cluster/homes/home_network.hpp"

namespace evershard::cluster {

[[nodiscard]] std::string encode(const HomeAsked& asked);
[[nodiscard]] std::string encode(const HomeAnswered& answered);

/// Errors of both: corruption: malformed
[[nodiscard]] Result<HomeAsked> decode_home_asked(std::string_view bytes);
[[nodiscard]] Result<HomeAnswered> decode_home_answered(std::string_view bytes);

}  // namespace evershard::cluster
