// Group flags: where a group begins, its settings; and how one is shown. The same for every command of groups.

#pragma once

#include <chrono>
#include <optional>

#include "evershard/cli/command.hpp"
#include "evershard/store/api/groups.hpp"

namespace evershard::cli {

/// --after, --from-now.
void add_start_flags(Options& options);
/// Absent: from now on.
[[nodiscard]] std::optional<GlobalPosition> start_asked(const Arguments& arguments);

/// --attempts, --retry-first, ...; `created`: --order too, and with their defaults.
void add_setting_flags(Options& options, bool created);
/// What is given. Mistakes are UsageError; ranges are the store's to check.
[[nodiscard]] GroupSettingsChange setting_flags(const Arguments& arguments);

/// Of a flag in milliseconds, where it is given. What no clock bears is a UsageError.
[[nodiscard]] std::optional<std::chrono::milliseconds> time_flag(const Arguments& arguments, const char* name);

void print_group(const Invocation& invocation, const GroupInfo& group);

}  // namespace evershard::cli
