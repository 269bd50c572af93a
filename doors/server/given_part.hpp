// What a node gives of its part for a copy of the whole cluster, while everything goes on.

#pragma once

#include "evershard/api/cluster_administration.hpp"
#include "evershard/cluster/node/cluster_node.hpp"
#include "evershard/storage/node_store.hpp"

namespace evershard::server {

/// As ClusterOrders::copy_part has it. It is given as of a moment at which no removal waits for its order in these
/// shards: what that removes would be neither there nor gone.
[[nodiscard]] Result<void> give_part_of(storage::NodeStore& store, cluster::ClusterNode& node, const PartWanted& wanted,
                                        PartTaker& taker, const Progress& progress);

}  // namespace evershard::server
