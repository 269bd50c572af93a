// A node's store as the cluster it joins has it: its identity is the coordinator's to say.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "evershard/cluster/peers/node_links.hpp"
#include "evershard/storage/node_store.hpp"
#include "evershard/storage/options.hpp"

namespace evershard::cluster {

/// How many shards the cluster has that a node joins: as its store in `data_dir` says, as it was told
/// (`links.link.who.shards`), or else as the coordinator does, which is waited for. Errors: invalid_argument (it was
/// told another number than its store has), those of NodeLinks::open and identity
[[nodiscard]] Result<std::uint32_t> shards_to_join(NodeLinksOptions links, const std::filesystem::path& data_dir,
                                                   std::chrono::milliseconds coordinator_timeout);

/// Opens or makes the store of node `node`. `options`: but for shards and member, which come from the coordinator.
/// Errors: those of NodeLinks::identity and storage::open_node_store
[[nodiscard]] Result<std::unique_ptr<storage::NodeStore>> open_joined_store(
    NodeLinks& links, std::uint32_t node, storage::StoreOptions options, std::chrono::milliseconds coordinator_timeout);

/// A process tells itself by it from those before it under its node's number. Not 0.
[[nodiscard]] std::uint64_t random_incarnation();

}  // namespace evershard::cluster
