// The ids by which a request is known again: its own, those of its events that were given, and its command's.

#pragma once

#include "evershard/actors/core/prepared.hpp"
#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/numbers.hpp"

namespace evershard::actors {

/// Until `visit(id, shard)` returns true. Returns: whether it did.
///
/// A request that is not known by its first event's id, and a command, share the table with event ids, under the shard
/// of the event that carries them: the first one, the first one of the command's aggregate. Keys and ids are told apart
/// by their 128 bits.
template <class Visit>
bool any_named_id(const Prepared& prepared, Visit visit) {
  for (const auto& event : prepared.append.events) {
    if (event.id_given && visit(event.id, event.shard)) return true;
  }
  const auto& append = prepared.append;
  if (append.request_key.given() && visit(append.request_key, append.events.front().shard)) return true;
  return append.command.given() && visit(append.command, append.events[append.command_event].shard);
}

}  // namespace evershard::actors
