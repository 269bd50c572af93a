// The checksums of stored values: XXH3, 64 bits, seed 0.

#pragma once

#include <cstdint>
#include <string_view>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/numbers.hpp"

namespace evershard::storage {

/// XXH3_64bits.
[[nodiscard]] std::uint64_t checksum(std::string_view bytes);

/// What stands before an event's body: binds the body to its state, its seq_nr and its place.
///
/// Shape:  the low 32 bits of XXH3 over: body hash (8), state (1), seq_nr (8), shard (2), offset (8), little-endian.
[[nodiscard]] std::uint32_t event_checksum(std::uint64_t body_hash, EventState state, SeqNr seq_nr, ShardId shard,
                                           ShardOffset offset);

/// What stands in a record's head: binds head and table to the record's key.
///
/// Shape:  the low 32 bits of XXH3 over: XXH3 of the table (8), head without checksum (4), shard (2), first offset (8).
[[nodiscard]] std::uint32_t record_checksum(std::string_view head, std::string_view table, ShardId shard,
                                            ShardOffset first);

}  // namespace evershard::storage
