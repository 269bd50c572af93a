// A node's store as the cluster it joins has it: its identity is the coordinator's to say.

#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "evershard/cluster/peers/node_links.hpp"
#include "evershard/storage/node_store.hpp"
#include "evershard/storage/options.hpp"

namespace evershard::cluster {

/// Opens or makes the store of node `node`. `options`: but for shards and member, which come from the coordinator.
/// Errors: those of NodeLinks::identity and storage::open_node_store
[[nodiscard]] Result<std::unique_ptr<storage::NodeStore>> open_joined_store(NodeLinks& links, std::uint32_t node, storage::StoreOptions options, std::chrono::milliseconds coordinator_timeout);

/// A process tells itself by it from those before it under its node's number. Not 0.
[[nodiscard]] std::uint64_t random_incarnation();

}  // namespace evershard::cluster
