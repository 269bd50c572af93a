// HistorySources: which replicas a node asks for what it was away for.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "evershard/cluster/order/messages.hpp"
#include "evershard/sharding/replica_set.hpp"

namespace evershard::cluster {

/// Nobody need keep all that a node keeps, or has all that its sets say: then several are asked, until each shard has
/// come from somebody.
///
/// Owner: a value, of one thread. Source: docs/internals/replication.md, rule 24.
class HistorySources {
 public:
  struct Ask {
    std::uint32_t node = 0;
    std::vector<ShardId> shards{};
  };
  struct Choice {
    std::vector<Ask> asks{};          ///< each of the shards in one of them
    std::optional<ShardId> nobody{};  ///< no other node keeps this one: nothing is asked
  };
  /// As few nodes as keep all. Who gave nothing when asked last comes last. Who said that it has not all of a shard is
  /// asked for that one only where nobody else is left.
  [[nodiscard]] Choice choose(const std::vector<ShardId>& shards, std::uint32_t self,
                              const std::function<const sharding::ReplicaSet&(ShardId)>& set_of);
  /// What came of it. `given`: absent: nothing, or an error. `after`: what was asked for lies behind it.
  /// Returns: whether that node has all of these shards.
  bool answered(const Ask& ask, GlobalPosition after, const std::optional<NodeHistory>& given);

 private:
  std::map<std::uint32_t, std::uint64_t> no_history_from_;  ///< who gave nothing when asked last, and when
  std::uint64_t answers_ = 0;                               ///< of those
  std::map<ShardId, std::set<std::uint32_t>> not_whole_at_;
};

}  // namespace evershard::cluster
