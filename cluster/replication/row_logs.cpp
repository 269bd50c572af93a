#include "evershard/cluster/replication/row_logs.hpp"

#include <algorithm>

namespace evershard::cluster {

void RowLogs::begin(ShardId id, Epoch epoch, At end) {
  Shard& shard = shards_[id];
  if (shard.epoch == epoch) return;
  shard = Shard{.epoch = epoch, .end = end};
}

RowLogs::Shard* RowLogs::at(ShardId id, Epoch epoch) {
  const auto shard = shards_.find(id);
  return shard == shards_.end() || shard->second.epoch != epoch ? nullptr : &shard->second;
}

// They follow this node's epoch: none of them takes anything of an earlier writer any more.
void RowLogs::look(Shard& shard) {
  if (shard.ready || shard.followers.size() < shard.others) return;
  shard.ready = std::ranges::all_of(shard.followers, [&](const auto& of) { return of.second.end <= shard.end; });
}

void RowLogs::followed(std::uint32_t node, ShardId id, Epoch epoch, At end, ShardOffset tail,
                       const sharding::ReplicaSet& set) {
  Shard* const shard = at(id, epoch);
  if (shard == nullptr || !set.has(node)) return;
  shard->others = set.quorum - 1;
  Follower& follower = shard->followers[node];
  if (end != follower.end) follower.under_way = false;
  follower.end = end;
  follower.tail = tail;
  look(*shard);
}

bool RowLogs::ready(ShardId id) const {
  const auto shard = shards_.find(id);
  return shard != shards_.end() && shard->second.ready;
}

RowLogs::At RowLogs::next(ShardId id) const {
  const auto& shard = shards_.at(id);
  return {shard.epoch, shard.end.number + 1};
}

void RowLogs::written(ShardId id, At end) {
  if (const auto shard = shards_.find(id); shard != shards_.end()) shard->second.end = std::max(shard->second.end, end);
}

bool RowLogs::quorum_has(ShardId id, At at, const sharding::ReplicaSet& set) const {
  const auto shard = shards_.find(id);
  if (shard == shards_.end() || shard->second.end < at) return false;
  const auto have = std::ranges::count_if(shard->second.followers,
                                          [&](const auto& of) { return set.has(of.first) && of.second.end >= at; });
  return static_cast<std::uint64_t>(have) + 1 >= set.quorum;
}

bool RowLogs::all_have(ShardId id, At at) const {
  const auto shard = shards_.find(id);
  return shard != shards_.end() &&
         std::ranges::all_of(shard->second.followers, [&](const auto& of) { return of.second.end >= at; });
}

void RowLogs::lost(std::uint32_t node) {
  for (auto& [id, shard] : shards_) shard.followers.erase(node);
}

std::vector<RowLogs::Wanted> RowLogs::to_ask() {
  std::vector<Wanted> wanted;
  for (auto& [id, shard] : shards_) {
    if (shard.ready || shard.asking || shard.followers.size() < shard.others || shard.followers.empty()) continue;
    const auto most = std::ranges::max_element(shard.followers, {}, [](const auto& of) { return of.second.end; });
    shard.asking = true;
    wanted.push_back({most->first, id, shard.epoch, shard.end, most->second.tail});
  }
  return wanted;
}

void RowLogs::given(const Wanted& asked, At end) {
  Shard* const shard = at(asked.shard, asked.epoch);
  if (shard == nullptr) return;
  shard->asking = false;
  shard->end = std::max(shard->end, end);
  look(*shard);
}

void RowLogs::not_given(const Wanted& asked) {
  if (Shard* const shard = at(asked.shard, asked.epoch)) shard->asking = false;
}

std::vector<RowLogs::Wanted> RowLogs::to_send() {
  std::vector<Wanted> wanted;
  for (auto& [id, shard] : shards_) {
    if (!shard.ready) continue;
    for (auto& [node, follower] : shard.followers) {
      if (follower.under_way || follower.end >= shard.end) continue;
      follower.under_way = true;
      wanted.push_back({node, id, shard.epoch, follower.end, follower.tail});
    }
  }
  return wanted;
}

void RowLogs::again() {
  for (auto& [id, shard] : shards_) {
    shard.asking = false;
    for (auto& [node, follower] : shard.followers) follower.under_way = false;
  }
}

}  // namespace evershard::cluster
