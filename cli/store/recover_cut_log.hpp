// What `evershard recover --cut-log` does.

#pragma once

#include "evershard/cli/command.hpp"

namespace evershard::cli {

/// --data: where the log is made; --from: a node's directory each. Without --yes nothing is changed.
[[nodiscard]] Outcome recover_cut_log(const Invocation& invocation);

}  // namespace evershard::cli
