// Written: an append, or its part, in the journal of one shard of a node, until a cut covers it.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "evershard/actors/core/attempt.hpp"
#include "evershard/storage/journal/journal_append.hpp"

namespace evershard::actors {

struct Written {
  storage::JournalPlace place;
  std::shared_ptr<Attempt> attempt;  ///< of what was recovered: one without a client
  bool recovered = false;
  bool durable = false;
  bool dropped = false;  ///< the shard is another's now
  /// Undecided, on the same shard: the versions of this one count on theirs. 0: of one that was refused. Tentative.
  std::vector<ShardOffset> builds_on{};
  std::vector<std::shared_ptr<Written>> built_on_by{};  ///< those that name this one so

  // What a cut said:
  std::uint32_t covered = 0;  ///< events
  bool refused = false;
  GlobalPosition first_position;  ///< of the append's first event; refused: of the last event placed before it
  std::vector<GlobalPosition> positions{};  ///< of a part: of each of its events; else they are consecutive

  std::vector<std::shared_ptr<Attempt>> resting{};  ///< refusals that rest on this

  [[nodiscard]] GlobalPosition position(std::uint32_t event) const {
    return positions.empty() ? first_position + event : positions[event];
  }
};

}  // namespace evershard::actors
