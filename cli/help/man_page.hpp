// The man page, made from the table of commands and their options.

#pragma once

#include <string>

#include "evershard/cli/program.hpp"

namespace evershard::cli {

/// In roff, with the macros of `man`: section 1, a section for each group of commands, options that many commands have
/// once.
[[nodiscard]] std::string man_page(const Program& program);

}  // namespace evershard::cli
