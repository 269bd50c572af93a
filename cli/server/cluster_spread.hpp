// Waiting until shards are written where an operator wants them.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "evershard/cli/command.hpp"

namespace evershard::cli {

struct SpreadProgress {
  std::uint64_t done = 0, total = 0;
};

/// Looks at the cluster's status until `left` says that it is done, with progress. A status that cannot be had is asked
/// for again.
///
/// Errors: timeout: it was not; cancelled: Ctrl-C; the rest is done by the cluster all the same.
[[nodiscard]] tl::expected<ClusterStatus, Failure> wait_for_spread(
    const Invocation& invocation, Remote& node, const std::string& what, std::chrono::milliseconds timeout,
    const std::function<SpreadProgress(const ClusterStatus&)>& left);

}  // namespace evershard::cli
