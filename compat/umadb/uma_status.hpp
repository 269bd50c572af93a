// Errors as UmaDB's clients understand them.

#pragma once

#include <grpcpp/support/status.h>

#include <chrono>
#include <optional>
#include <vector>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::umadb {

/// With the bytes of an ErrorResponse in its details, without the google.rpc.Status that others put around theirs.
/// `unavailable` has none: then their clients take it as the connection's.
[[nodiscard]] grpc::Status status_of(const Error& error, const std::vector<RecordedEvent>& conflicts,
                                     std::optional<std::chrono::milliseconds> retry_after);

}  // namespace evershard::umadb
