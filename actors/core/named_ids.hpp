// The ids by which a request is known again: those of its events that were given, and its command's.

#pragma once

#include <optional>

#include "evershard/actors/core/prepared.hpp"
#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/numbers.hpp"

namespace evershard::actors {

/// A command shares the table with event ids. The shard it is looked up under is its aggregate's; a command's key and an
/// event's id are told apart by their 128 bits.
inline std::optional<ShardId> command_shard(const Prepared& prepared) {
  if (!prepared.append.command.given() || !prepared.command) return std::nullopt;
  for (const auto& aggregate : prepared.append.aggregates) {
    if (aggregate.id == prepared.command->aggregate) return aggregate.shard;
  }
  return std::nullopt;
}

/// Until `visit(id, shard)` returns true. Returns: whether it did.
template <class Visit>
bool any_named_id(const Prepared& prepared, Visit visit) {
  for (const auto& event : prepared.append.events) {
    if (event.id_given && visit(event.id, event.shard)) return true;
  }
  const auto shard = command_shard(prepared);
  return shard && visit(prepared.append.command, *shard);
}

}  // namespace evershard::actors
