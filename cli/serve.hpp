// serve: a server from its settings to its end, over whatever doors.

#pragma once

#include <vector>

#include "evershard/cli/command.hpp"
#include "evershard/cluster/server/running_door.hpp"
#include "evershard/cluster/server/store_in_service.hpp"

namespace evershard::cli {

/// Until SIGTERM or SIGINT; then it drains, closes the store and is done. Always ends: what does not let go in time is left behind.
Outcome serve(const Invocation& invocation, const std::vector<server::StartDoor>& doors, const server::OpenStore& open = server::open_whole_store);

/// Of `evershard serve`: the table of settings as flags.
Options serve_options();

}  // namespace evershard::cli
