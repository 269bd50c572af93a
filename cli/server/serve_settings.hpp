// The settings of a process that serves, by its table of them: flags, environment and file, put together and shown.

#pragma once

#include "evershard/cli/command.hpp"
#include "evershard/doors/serving/log.hpp"
#include "evershard/doors/settings/settings.hpp"

namespace evershard::cli {

/// What is in force now; the file is read anew. Errors: invalid_argument, io: a file that cannot be read
[[nodiscard]] Result<settings::Settings> effective_settings(const Arguments& arguments, const settings::Table& table);
/// Variables that look as if they were meant for this process, and are no setting's.
[[nodiscard]] std::vector<std::string> unknown_variables(const settings::Table& table);

/// A flag a setting, --config, --check, --sample-config and --help-markdown.
[[nodiscard]] Options settings_options(const settings::Table& table);
/// A line a setting that is not as by default.
void log_settings(const settings::Settings& settings, serving::Log& log);

/// A table of names, values and sources, or `{"settings":[...]}`.
void print_settings(const Invocation& invocation, const settings::Settings& settings);

}  // namespace evershard::cli
