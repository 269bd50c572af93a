// The ids by which a request is known again: its own, those of its events that were given, and its command's.

#pragma once

#include <cstddef>

#include "evershard/actors/core/prepared.hpp"
#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/numbers.hpp"

namespace evershard::actors {

/// Those that are one event's, or one request's, over the whole store: until `visit(event, id)` returns true. `event`:
/// in the append. Returns: whether it did.
template <class Visit>
bool any_name_of_the_store(const storage::EncodedAppend& append, Visit visit) {
  for (std::size_t i = 0; i != append.events.size(); ++i) {
    if (append.events[i].id_given && visit(i, append.events[i].id)) return true;
  }
  return append.request_key.given() && visit(std::size_t{0}, append.request_key);
}

/// Until `visit(id, shard)` returns true. Returns: whether it did.
///
/// A request that is not known by its first event's id, and a command, share the table with event ids, under the shard
/// of the event that carries them: the first one, the first one of the command's aggregate. Keys and ids are told apart
/// by their 128 bits.
template <class Visit>
bool any_named_id(const Prepared& prepared, Visit visit) {
  const auto& append = prepared.append;
  if (any_name_of_the_store(
          append, [&](std::size_t event, const EventId& id) { return visit(id, append.events[event].shard); }))
    return true;
  return append.command.given() && visit(append.command, append.events[append.command_event].shard);
}

}  // namespace evershard::actors
