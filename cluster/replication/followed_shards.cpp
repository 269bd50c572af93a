#include "evershard/cluster/replication/followed_shards.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "evershard/protocol/check.hpp"

namespace evershard::cluster {

void FollowedShards::hold(ShardId id, ShardOffset ordered, ShardOffset tail,
                          std::vector<storage::UnorderedAppend> unordered) {
  forget(id);
  Shard& shard = shards_[id];
  shard = {ordered, std::max(ordered, tail)};
  unordered_ += shard.tail - shard.ordered;
  std::ranges::move(unordered, std::back_inserter(shard.unordered));
}

std::vector<ShardId> FollowedShards::all() const {
  std::vector<ShardId> all;
  for (const auto& [id, shard] : shards_) all.push_back(id);
  return all;
}

void FollowedShards::take(ShardId id, ShardOffset end, std::vector<storage::UnorderedAppend> appends) {
  Shard& shard = shards_.at(id);
  EVERSHARD_CHECK(end > shard.tail && (appends.empty() || appends.front().place.first == shard.tail),
                  "what is shipped joins on");
  for (auto& append : appends)
    if (append.place.end() > shard.ordered) shard.unordered.push_back(std::move(append));
  unordered_ += end - shard.tail;
  shard.tail = end;
}

void FollowedShards::cover(const sharding::Segment& segment) {
  Shard& shard = shards_.at(segment.shard);
  EVERSHARD_CHECK(segment.first == shard.ordered && segment.end <= shard.tail, "a cut covers what is here");
  unordered_ -= segment.end - shard.ordered;
  shard.ordered = segment.end;
  while (!shard.unordered.empty() && shard.unordered.front().place.end() <= shard.ordered) shard.unordered.pop_front();
}

void FollowedShards::cut_back(ShardId id, ShardOffset from) {
  Shard& shard = shards_.at(id);
  EVERSHARD_CHECK(from >= shard.ordered, "what cuts cover stays");
  if (from < shard.tail) unordered_ -= shard.tail - from;
  shard.tail = std::min(shard.tail, from);
  while (!shard.unordered.empty() && shard.unordered.back().place.end() > shard.tail) shard.unordered.pop_back();
}

std::vector<storage::UnorderedAppend> FollowedShards::release(ShardId id) {
  unordered_ -= shards_.at(id).tail - shards_.at(id).ordered;
  auto shard = shards_.extract(id);
  std::vector<storage::UnorderedAppend> unordered;
  std::ranges::move(shard.mapped().unordered, std::back_inserter(unordered));
  return unordered;
}

void FollowedShards::forget(ShardId id) {
  const auto shard = shards_.find(id);
  if (shard == shards_.end()) return;
  unordered_ -= shard->second.tail - shard->second.ordered;
  shards_.erase(shard);
}

}  // namespace evershard::cluster
