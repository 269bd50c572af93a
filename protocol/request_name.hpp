// What an append is known by when it is sent again.

#pragma once

#include "evershard/protocol/append.hpp"

namespace evershard {

/// The request's id, else the first id that an event of it was given: the ids of its other events follow from it
/// (`EventId::derived`), the same at every attempt.
///
/// Returns: null: it has no name, and nothing of it can be told from another.
[[nodiscard]] inline const EventId* request_name(const Append& append) {
  if (append.request_id) return &*append.request_id;
  for (const auto& event : append.events)
    if (event.id.given()) return &event.id;
  return nullptr;
}

}  // namespace evershard
