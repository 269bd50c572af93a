#include "evershard/sharding/route.hpp"

#include <algorithm>

#include "evershard/protocol/check.hpp"
#include "evershard/sharding/stream_hash.hpp"

namespace evershard::sharding {

ShardId shard_of(const Event& event, const EventId& first_event_id, std::uint32_t shard_count) {
  EVERSHARD_CHECK(shard_count > 0, "a store has at least one shard");
  return shard_of(event.aggregate ? stream_hash(*event.aggregate) : event_hash(first_event_id), shard_count);
}

std::vector<ShardId> shards_of(const Append& append, std::uint32_t shard_count) {
  std::vector<ShardId> shards;
  if (append.events.empty()) return shards;
  const EventId& first = append.events.front().id;
  for (const Event& event : append.events) {
    EVERSHARD_CHECK(event.aggregate || first.given(), "an append is routed after its event ids are given");
    const ShardId shard = shard_of(event, first, shard_count);
    if (shards.empty() || shards.back() != shard) shards.push_back(shard);
  }
  std::sort(shards.begin(), shards.end());
  shards.erase(std::unique(shards.begin(), shards.end()), shards.end());
  return shards;
}

}  // namespace evershard::sharding
