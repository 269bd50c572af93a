// Group flags: where a group begins, its settings; and how one is shown. The same for every command of groups.

#pragma once

#include <chrono>
#include <limits>
#include <optional>

#include "evershard/api/groups.hpp"
#include "evershard/cli/command.hpp"

namespace evershard::cli {

/// --after, --from-now.
void add_start_flags(Options& options);
/// Absent: from now on.
[[nodiscard]] std::optional<GlobalPosition> start_asked(const Arguments& arguments);

/// --attempts, --retry-first, ...; `created`: --order too, and with their defaults.
void add_setting_flags(Options& options, bool created);
/// What is given. Mistakes are UsageError; ranges are the store's to check.
[[nodiscard]] GroupSettingsChange setting_flags(const Arguments& arguments);

/// Of flags that are times of a group: a bare number is milliseconds, the most is what a message holds.
constexpr DurationRule group_time_rule{
    BareNumber::milliseconds, {}, std::chrono::milliseconds(std::numeric_limits<std::uint32_t>::max())};

void print_group(const Invocation& invocation, const GroupInfo& group);

}  // namespace evershard::cli
