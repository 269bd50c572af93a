// The flags of an append of one event, for commands that make one now or later.

#pragma once

#include "evershard/cli/options.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cli {

void add_append_flags(Options& options);
/// Errors: invalid_argument, invalid_query, too_large, io. Mistakes of flags are UsageError.
[[nodiscard]] Result<Append> append_of(const Arguments& arguments);
/// Of a flag that is given. Throws UsageError.
[[nodiscard]] EventId uuid_of(const Arguments& arguments, const char* name);

}  // namespace evershard::cli
