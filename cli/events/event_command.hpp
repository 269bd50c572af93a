// EventCommand: a command of the user's, run once for an event, which it reads from standard input.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "evershard/protocol/result.hpp"

namespace evershard::cli {

struct EventCommandEnd {
  int status = 0;       ///< its exit status; 128 and the signal where one ended it
  bool killed = false;  ///< by us: it took too long, or we are to stop
};

/// `command` runs by `sh -c`, with `input` and an end of file on its standard input and `environment` beside ours; what
/// it prints goes to standard error. `meanwhile` is called about every fiftieth of a second; false ends it, as does
/// `timeout` (0: none). Errors: io: it could not be started
[[nodiscard]] Result<EventCommandEnd> run_event_command(
    const std::string& command, const std::string& input,
    const std::vector<std::pair<std::string, std::string>>& environment, std::chrono::milliseconds timeout,
    const std::function<bool()>& meanwhile);

}  // namespace evershard::cli
