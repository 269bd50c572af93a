// EventLocation: where an event's bytes are.

#pragma once

#include <cstdint>

#include "evershard/protocol/numbers.hpp"

namespace evershard::storage {

/// The record's key and the event's place in it: one exact get, no seek.
struct EventLocation {
  ShardId shard;
  ShardOffset record;       ///< the record's first offset
  std::uint16_t index = 0;  ///< in the record

  [[nodiscard]] ShardOffset offset() const { return record + index; }
  friend auto operator<=>(const EventLocation&, const EventLocation&) = default;
};

}  // namespace evershard::storage
