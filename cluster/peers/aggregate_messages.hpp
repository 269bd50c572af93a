// What nodes ask of each other's aggregates, as bytes: Protobuf, in protocol/v1/aggregates.proto. The only file that
// knows those.

#pragma once

#include <string>
#include <string_view>

#include "evershard/cluster/aggregates/aggregate_network.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

[[nodiscard]] std::string encode(const AggregateAsked& asked);
[[nodiscard]] std::string encode(const AggregateAnswered& answered);

/// Errors of both: corruption: malformed, or what is asked is none of those that are known
[[nodiscard]] Result<AggregateAsked> decode_aggregate_asked(std::string_view bytes);
[[nodiscard]] Result<AggregateAnswered> decode_aggregate_answered(std::string_view bytes);

}  // namespace evershard::cluster
