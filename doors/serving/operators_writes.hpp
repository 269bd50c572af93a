// What comes through a door and only an operator may write: what another store had, and how far a copy is. Who may only
// append could have a copy leave out events for good.

#pragma once

#include "evershard/doors/serving/access.hpp"
#include "evershard/protocol/append.hpp"

namespace evershard::serving {

/// Errors: permission_denied: the caller has no scope admin
[[nodiscard]] Result<void> check_operators_writes(const Caller& caller, const Append& append);
[[nodiscard]] Result<void> check_operators_writes(const Caller& caller, const Snapshot& snapshot);

}  // namespace evershard::serving
