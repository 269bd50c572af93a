#include "evershard/cluster/order/history_sources.hpp"

#include <algorithm>
#include <utility>

namespace evershard::cluster {

HistorySources::Choice HistorySources::choose(const std::vector<ShardId>& shards, std::uint32_t self,
                                              const std::function<const sharding::ReplicaSet&(ShardId)>& set_of) {
  Choice choice;
  std::map<ShardId, std::vector<std::uint32_t>> at;
  for (const ShardId shard : shards) {
    auto& nodes = at[shard] = set_of(shard).nodes;
    std::erase(nodes, self);
    if (nodes.empty()) return {{}, shard};
    const auto lacking = not_whole_at_.find(shard);
    if (lacking == not_whole_at_.end()) continue;
    const auto lacks = [&](std::uint32_t node) { return lacking->second.contains(node); };
    if (std::ranges::all_of(nodes, lacks))
      not_whole_at_.erase(lacking);  // somebody may have it by now
    else
      std::erase_if(nodes, lacks);
  }
  while (!at.empty()) {
    std::map<std::uint32_t, std::vector<ShardId>> keeps;
    for (const auto& [shard, nodes] : at)
      for (const auto node : nodes) keeps[node].push_back(shard);
    const auto best = std::ranges::min_element(keeps, {}, [&](const auto& of) {
      const auto failed = no_history_from_.find(of.first);
      return std::pair(failed == no_history_from_.end() ? 0 : failed->second,
                       -static_cast<std::int64_t>(of.second.size()));
    });
    for (const ShardId shard : best->second) at.erase(shard);
    choice.asks.push_back({best->first, std::move(best->second)});
  }
  return choice;
}

bool HistorySources::answered(const Ask& ask, GlobalPosition after, const std::optional<NodeHistory>& given) {
  bool whole = given.has_value();
  for (const ShardId shard : ask.shards) {
    if (!given) {  // those that lacked it may have it by now, and this one may be gone
      not_whole_at_.erase(shard);
    } else if (std::ranges::find(given->shards, shard) == given->shards.end()) {
      not_whole_at_[shard].insert(ask.node);
      whole = false;
    }
  }
  // One that has nothing more may be another one that was emptied, and ask this one in its turn.
  if (given && (!whole || given->watermark > after))
    no_history_from_.erase(ask.node);
  else
    no_history_from_[ask.node] = ++answers_;
  return whole;
}

}  // namespace evershard::cluster
