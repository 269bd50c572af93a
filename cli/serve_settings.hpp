// The settings of `evershard serve`: flags, environment and file, put together and shown.

#pragma once

#include "evershard/cli/command.hpp"
#include "evershard/cluster/settings/settings.hpp"

namespace evershard::cli {

/// What is in force now; the file is read anew. Errors: invalid_argument, io: a file that cannot be read
[[nodiscard]] Result<settings::Settings> effective_settings(const Arguments& arguments);
/// Variables that look as if they were meant for a server, and are no setting's.
[[nodiscard]] std::vector<std::string> unknown_variables();

/// A table of names, values and sources, or `{"settings":[...]}`.
void print_settings(const Invocation& invocation, const settings::Settings& settings);

}  // namespace evershard::cli
