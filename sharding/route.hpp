// Which shard an event belongs to, and which shards an append visits.

#pragma once

#include <vector>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/numbers.hpp"

namespace evershard::sharding {

/// An event with an aggregate belongs to its aggregate's shard. Events without one belong, all those of an append
/// together, to the shard of the append's first event id: a retry reaches the same shard, and single ones spread.
ShardId shard_of(const Event& event, const EventId& first_event_id, std::uint32_t shard_count);

/// Ascending, each once. Shape: the append's event ids are given.
std::vector<ShardId> shards_of(const Append& append, std::uint32_t shard_count);

}  // namespace evershard::sharding
