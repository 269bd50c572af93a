// ReplicaSet: the nodes that keep a shard, and how many of them must have what is reported.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace evershard::sharding {

/// Without nodes: only the shard's owner has it, and nobody else is asked.
struct ReplicaSet {
  std::uint32_t quorum = 1;            ///< so many have, synced, what is reported; the writer is one of them (rule 9)
  std::vector<std::uint32_t> nodes{};  ///< ascending; the writer among them
  /// Ascending: who is to keep the shard, or keeps it, and did not from its beginning. Who is not among `nodes` learns
  /// it, and counts for nothing. Of others a disk that has nothing of the shard is one that was lost, or is to come.
  std::vector<std::uint32_t> learned{};

  [[nodiscard]] bool has(std::uint32_t node) const { return std::ranges::binary_search(nodes, node); }
  [[nodiscard]] bool had_to_learn(std::uint32_t node) const { return std::ranges::binary_search(learned, node); }
  [[nodiscard]] bool learns(std::uint32_t node) const { return had_to_learn(node) && !has(node); }
  /// Who is given what is written: members and learners, ascending.
  [[nodiscard]] std::vector<std::uint32_t> all() const {
    std::vector<std::uint32_t> all;
    std::ranges::set_union(nodes, learned, std::back_inserter(all));
    return all;
  }
  /// So many members share one with any `quorum` of them.
  [[nodiscard]] std::size_t enough_to_meet_a_quorum() const {
    return nodes.size() + 1 - std::min<std::size_t>(quorum, nodes.size());
  }
  friend bool operator==(const ReplicaSet&, const ReplicaSet&) = default;
};

}  // namespace evershard::sharding
