// Identity: which store this is; written at creation, compared at every open.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard::storage {

/// Newer is refused, older is upgraded only when asked. A whole store has format 1, a node's has 2: programs that know
/// no nodes must not take it for a whole one.
inline constexpr std::uint32_t format_version = 2;
inline constexpr std::uint32_t format_of_whole_store = 1;

struct Identity {
  std::uint32_t format = format_of_whole_store;
  EventId store;  ///< random; a clone or restored copy is told apart by `fork`
  EventId fork;
  std::uint32_t shards = 16;
  std::uint32_t hash = 0;      ///< sharding::hash_id
  std::uint64_t term_key = 0;  ///< key of the term hashes; random
  Timestamp created_at;
  std::uint32_t node = 0;  ///< of a cluster: which part this is; 0: the whole store

  friend bool operator==(const Identity&, const Identity&) = default;
};

std::string encode(const Identity& identity);
/// Errors: corruption; invalid_argument: a newer format, named
Result<Identity> decode_identity(std::string_view bytes);

}  // namespace evershard::storage
