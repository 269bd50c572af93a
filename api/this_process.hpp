// This process, for people: who works a group, where a process runs.

#pragma once

#include <string>

namespace evershard {

/// `MACHINE:PID`
[[nodiscard]] std::string this_process();

}  // namespace evershard
