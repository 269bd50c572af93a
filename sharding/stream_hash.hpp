// The portable hash that places an aggregate on a shard. Frozen by test vectors (docs/internals/sharding.md).

#pragma once

#include <cstdint>
#include <string_view>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/numbers.hpp"

namespace evershard::sharding {

/// Written into every store and compared at open and at join: which hash over which bytes.
inline constexpr std::uint32_t hash_id = 1;  // 1: XXH64, seed 0, over the bytes named below

/// XXH64 with seed 0 over the UTF-8 bytes of the text form `type-value`.
std::uint64_t stream_hash(const AggregateId& aggregate);
std::uint64_t stream_hash(std::string_view aggregate_text);
/// XXH64 with seed 0 over the 16 bytes of the id, in text order.
std::uint64_t event_hash(const EventId& id);

/// hash mod shard count.
constexpr ShardId shard_of(std::uint64_t hash, std::uint32_t shard_count) {
  return ShardId{static_cast<std::uint16_t>(hash % shard_count)};
}

}  // namespace evershard::sharding
