// run: the program from its words to its exit status.

#pragma once

#include <string>
#include <vector>

#include "evershard/cli/failure.hpp"

namespace evershard::cli {

/// `words`: without the program's name. Writes to standard output and standard error.
Exit run(const std::vector<std::string>& words);

}  // namespace evershard::cli
