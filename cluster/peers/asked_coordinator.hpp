// What the coordinator that leads is asked by somebody who is no member of the cluster.

#pragma once

#include <chrono>
#include <vector>

#include "evershard/api/cluster_status.hpp"
#include "evershard/cluster/link/link_options.hpp"

namespace evershard::cluster {

/// `options`: who.cluster, and what shows that one belongs to it: the secret, or the coordinator's certificate. Who
/// asks has a number drawn at random. `places`: where the leader may be; at least one.
///
/// Errors: unavailable: none of them leads, or is reached; invalid_argument: as Links::open and dial say; timeout
[[nodiscard]] Result<ClusterStatus> status_of_coordinator(LinkOptions options, const std::vector<HostAndPort>& places,
                                                          std::chrono::milliseconds timeout);

}  // namespace evershard::cluster
