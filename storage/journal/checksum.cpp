#define XXH_INLINE_ALL
#include "evershard/storage/journal/checksum.hpp"

#include <xxhash.h>

#include <array>

#include "evershard/storage/journal/varint.hpp"

namespace evershard::storage {

std::uint64_t checksum(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

std::uint32_t event_checksum(std::uint64_t body_hash, EventState state, SeqNr seq_nr, ShardId shard,
                             ShardOffset offset) {
  std::array<char, 27> bound;
  char* at = put_fixed(bound.data(), body_hash);
  at = put_fixed(at, static_cast<std::uint8_t>(state));
  at = put_fixed(at, seq_nr.value);
  at = put_fixed(at, shard.value);
  put_fixed(at, offset.value);
  return static_cast<std::uint32_t>(XXH3_64bits(bound.data(), bound.size()));
}

std::uint32_t record_checksum(std::string_view head, std::string_view table, ShardId shard, ShardOffset first) {
  std::array<char, 22> bound;
  char* at = put_fixed(bound.data(), checksum(table));
  at = put_bytes(at, head.substr(0, 4));
  at = put_fixed(at, shard.value);
  put_fixed(at, first.value);
  return static_cast<std::uint32_t>(XXH3_64bits(bound.data(), bound.size()));
}

}  // namespace evershard::storage
