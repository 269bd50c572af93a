// Query flags: --type, --tag, --concerning, --or, --query; the same for every command that asks.

#pragma once

#include <optional>

#include "evershard/cli/options.hpp"
#include "evershard/protocol/query.hpp"
#include "evershard/protocol/read.hpp"

namespace evershard::cli {

void add_query_flags(Options& options);
/// Absent: none was given. Mistakes of the flags are UsageError. Errors: invalid_query, invalid_argument, too_large
[[nodiscard]] Result<std::optional<Query>> query_of(const Arguments& arguments);

/// --after, --before, --up-to, --limit, --backwards.
void add_range_flags(Options& options);
[[nodiscard]] ReadOptions range_of(const Arguments& arguments);
std::optional<GlobalPosition> position_of(const Arguments& arguments, std::string_view name);

}  // namespace evershard::cli
