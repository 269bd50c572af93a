// ReplicaSet: the nodes that keep a shard, and how many of them must have what is reported.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace evershard::sharding {

/// Without nodes: only the shard's owner has it, and nobody else is asked.
struct ReplicaSet {
  std::uint32_t quorum = 1;            ///< so many have, synced, what is reported; the writer is one of them (rule 9)
  std::vector<std::uint32_t> nodes{};  ///< ascending; the writer among them

  [[nodiscard]] bool has(std::uint32_t node) const { return std::ranges::binary_search(nodes, node); }
  friend bool operator==(const ReplicaSet&, const ReplicaSet&) = default;
};

}  // namespace evershard::sharding
