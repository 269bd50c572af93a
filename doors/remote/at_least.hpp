// at_least of a request: what a client wrote it sees, at whichever server.

#pragma once

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

#include "evershard/doors/remote/connection.hpp"

namespace evershard::remote {

/// `asked`: what the caller wants to see; else what this client has seen. `left`: of the call's time.
template <class Request>
void put_at_least(Connection& connection, std::optional<GlobalPosition> asked, std::chrono::milliseconds left,
                  Request& request) {
  const auto position = connection.at_least(asked);
  if (!position) return;
  request.mutable_at_least()->set_position(position->value);
  request.mutable_at_least()->set_timeout_ms(static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(connection.wait_at_one(left).count(), 0, std::numeric_limits<std::uint32_t>::max())));
}

}  // namespace evershard::remote
