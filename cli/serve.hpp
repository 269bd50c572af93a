// serve: a server from its settings to its end, over whatever doors.

#pragma once

#include <vector>

#include "evershard/cli/command.hpp"
#include "evershard/cluster/server/running_door.hpp"

namespace evershard::cli {

/// Until SIGTERM or SIGINT; then it drains, closes the store and is done. Always ends: what does not let go in time is left behind.
Outcome serve(const Invocation& invocation, const std::vector<server::StartDoor>& doors);

/// Of `evershard serve`: the table of settings as flags.
Options serve_options();

}  // namespace evershard::cli
