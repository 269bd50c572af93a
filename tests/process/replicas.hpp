// What tests of a cluster whose shards are kept by several nodes begin with, and wait for.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "tests/process/cluster_processes.hpp"

namespace evershard::testing {

/// So many nodes keep each shard. Shards are spread again half a second after a node came or went.
[[nodiscard]] ClusterProcesses::Options replicated(std::uint32_t nodes, std::uint32_t replicas,
                                                   std::uint32_t shards = 4);

/// Flags beside those that `options` has, for some of its processes.
void add_flags(ClusterProcesses::Options& options,
               std::function<std::map<std::string, std::string>(std::uint32_t number)> more);

/// Waits until the node has applied what there is, or nearly: it counts as a replica again. `between` is done between
/// looks. Returns: whether that came.
[[nodiscard]] bool is_caught_up(
    const ClusterProcesses& cluster, std::uint32_t node, std::uint32_t asked,
    const std::function<void()>& between = [] {}, std::chrono::seconds within = std::chrono::seconds(150));

/// The same, within 150 s; fails the test where it does not come.
void expect_in_step(
    const ClusterProcesses& cluster, std::uint32_t node, std::uint32_t asked,
    const std::function<void()>& between = [] {});

/// Started again is each node that has learned shards and has ended, as by its unit.
void start_again_who_learned(ClusterProcesses& cluster);

/// Whether tests may take long: EVERSHARD_ROUNDS is set, as by scripts/soak.
[[nodiscard]] bool may_take_long();

/// What the cluster's status is, in words, for who reads of a failure.
[[nodiscard]] std::string status_text(const ClusterProcesses& cluster, std::uint32_t asked);

}  // namespace evershard::testing
