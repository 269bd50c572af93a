// Errors <-> gRPC status. Source: protocol/v1/service.proto.

#pragma once

#include <grpcpp/support/status.h>

#include <chrono>
#include <optional>
#include <vector>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::wire {

/// Metadata of a call whose client wants its pages compressed: every gRPC client says that it could take them so.
inline constexpr const char* compression_key = "evershard-compression";
inline constexpr const char* compression_gzip = "gzip";
inline constexpr std::size_t compressed_bytes_min = 512;  ///< what is smaller goes as it is

/// Metadata of answers, and of requests by who heard them: the store's fork, and whose order a node of a cluster
/// follows.
inline constexpr const char* fork_key = "evershard-fork";
inline constexpr const char* led_key = "evershard-led";  ///< sharding::text_of
/// Of which fork a client of one address heard that: where another one is by now, it says nothing.
inline constexpr const char* led_of_key = "evershard-led-of";

/// With an evershard.v1.Error in its details. `conflicts`: as many of them as have room. `retry_after`: of
/// `overloaded`; absent: what a full queue of the store takes.
[[nodiscard]] grpc::Status status_of(const Error& error, const std::vector<RecordedEvent>& conflicts = {},
                                     std::optional<std::chrono::milliseconds> retry_after = {});

[[nodiscard]] grpc::StatusCode code_of(ErrorCode code);

/// What a client was told. A status without details is the network's own: `unavailable`, `timeout`, ... CANCELLED
/// without details is `unavailable` too: gRPC answers so, on a connection that was there before, what reaches a server
/// between its stop and its farewell; who cancels himself does not ask.
[[nodiscard]] Error error_of(const grpc::Status& status);

/// When a server that has no room wants to be asked again; nothing where it does not say.
[[nodiscard]] std::chrono::milliseconds retry_after_of(const grpc::Status& status);

}  // namespace evershard::wire
