// What commands take that ask a cluster something at one of its nodes.

#pragma once

#include "evershard/cli/command.hpp"

namespace evershard::cli {

/// --server and what goes with it.
Options cluster_options();
/// Errors: invalid_argument: a directory was named, which has no cluster; those of Remote::connect. Throws UsageError
/// where nothing is named.
[[nodiscard]] tl::expected<Remote, Failure> node_asked(const Invocation& invocation);
/// The same, and --coordinator, for who asks a coordinator instead.
Options status_options();
/// Of the coordinator, or of a node. Errors, throws: as node_asked() says, and those of status_of_coordinator()
[[nodiscard]] tl::expected<ClusterStatus, Failure> status_asked(const Invocation& invocation);
/// `3`, or `3,5,8`. Throws UsageError.
[[nodiscard]] std::vector<ShardId> shards_in(const std::string& text);

}  // namespace evershard::cli
