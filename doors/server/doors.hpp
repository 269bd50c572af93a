// Doors: those that `evershard serve` opens, and how exposed they are.

#pragma once

#include <vector>

#include "evershard/doors/server/running_door.hpp"
#include "evershard/doors/server/safety_check.hpp"

namespace evershard::server {

/// In the order in which they are started and named.
[[nodiscard]] std::vector<StartDoor> all_doors();
[[nodiscard]] std::vector<Exposure> exposures_of(const ServerOptions& options);

}  // namespace evershard::server
