// run: the program from its words to its exit status.

#pragma once

#include <string>
#include <vector>

#include "evershard/cli/failure.hpp"
#include "evershard/cli/program.hpp"

namespace evershard::cli {

/// `words`: without the program's name. Writes to standard output and standard error.
Exit run(const std::vector<std::string>& words, const Program& program = {});
/// A program that was put together wrongly says so, whatever it is asked.
Exit cannot_run(const std::vector<std::string>& words, const Error& why);

}  // namespace evershard::cli
