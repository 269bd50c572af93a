// Errors <-> gRPC status. Source: protocol/v1/service.proto.

#pragma once

#include <grpcpp/support/status.h>

#include <vector>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::door {

/// With an evershard.v1.Error in its details. `conflicts`: as many of them as have room.
[[nodiscard]] grpc::Status status_of(const Error& error, const std::vector<RecordedEvent>& conflicts = {});

[[nodiscard]] grpc::StatusCode code_of(ErrorCode code);

}  // namespace evershard::door
