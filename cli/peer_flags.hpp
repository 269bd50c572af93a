// The flags by which a process of a cluster is known to the others, and knows them.

#pragma once

#include <string>

#include "evershard/cli/failure.hpp"
#include "evershard/cli/options.hpp"
#include "evershard/cluster/link/host_and_port.hpp"
#include "evershard/cluster/link/link_options.hpp"

namespace evershard::cli {

/// HOST:PORT, [IPV6]:PORT. Throws UsageError, naming the flag.
[[nodiscard]] cluster::HostAndPort host_and_port(const std::string& flag, const std::string& text);

/// --cluster, --secret-file, --peers-cert, --peers-key, --peers-ca, --peers-insecure
void add_peer_flags(Options& options);
/// Errors: those of secret_of_file and check(LinkOptions)
[[nodiscard]] tl::expected<cluster::LinkOptions, Failure> link_options(const Arguments& arguments, cluster::LinkIdentity who);

}  // namespace evershard::cli
