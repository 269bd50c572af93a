// What the commands of retention have in common: who and why, the confirmation, the figures.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "evershard/api/retention.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/print.hpp"

namespace evershard::cli {

/// --by, --reason, --dry-run; `removing`: and --yes, --bytes-per-second.
void add_retention_flags(Options& options, bool removing);
[[nodiscard]] RetentionOrder retention_order(const Invocation& invocation);

/// What it means that a look finds no event to remove.
enum class NothingFound : std::uint8_t {
  done,   ///< it is removed already
  asked,  ///< there is something to do all the same: a key to destroy, what was broken off to finish
};

/// Looks first, shows what would go, and does it where that is confirmed: by --yes, or typed at a terminal.
///
/// `work`: one operation, dry or not. `what`: "the events of order-1 below 100".
[[nodiscard]] Outcome look_then_do(const Invocation& invocation, const std::string& what, NothingFound nothing,
                                   const std::function<Result<RetentionResult>(RetentionOrder, Progress)>& work);

}  // namespace evershard::cli
