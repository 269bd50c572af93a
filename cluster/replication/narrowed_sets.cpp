#include "evershard/cluster/replication/narrowed_sets.hpp"

#include <algorithm>

namespace evershard::cluster {

void NarrowedSets::take(const Narrow& narrow, ShardOffset tail) {
  const auto known = asked_.find(narrow.shard);
  if (narrow.without == 0) {
    asked_.erase(narrow.shard);
  } else if (known != asked_.end() && known->second.by.without == narrow.without &&
             known->second.by.epoch == narrow.epoch) {
    known->second.by = narrow;
    known->second.said = false;
  } else {
    asked_.insert_or_assign(narrow.shard, Asked{narrow, tail});
  }
}

void NarrowedSets::led_by(Epoch coordinator) {
  std::erase_if(asked_, [&](const auto& of) { return of.second.by.coordinator != coordinator; });
}

void NarrowedSets::again() {
  for (auto& [shard, asked] : asked_) asked.said = false;
}

void NarrowedSets::note(ShardId shard, const sharding::ReplicaSet& set) {
  if (const auto asked = asked_.find(shard); asked != asked_.end() && !set.has(asked->second.by.without))
    asked_.erase(asked);
}

// Asked for each report, and each time a follower says how far it is.
const sharding::ReplicaSet& NarrowedSets::counted(ShardId shard, const sharding::ReplicaSet& set) {
  const auto asked = asked_.find(shard);
  if (asked == asked_.end()) return set;
  auto& [by, tail, said, of, rest] = asked->second;
  if (of != set) {
    of = rest = set;
    std::erase(rest.nodes, by.without);
  }
  return rest;
}

}  // namespace evershard::cluster
