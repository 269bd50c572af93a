// EventIds: which event is at a position, for the checkpoints of projections.

#pragma once

#include "evershard/api/event_store.hpp"
#include "evershard/protocol/kept_place.hpp"

namespace evershard::cluster {

/// standing_in() that remembers the last answer, since all live projections ask for the same one. Any thread. Owner:
/// the events outlive it.
[[nodiscard]] EventIdStanding event_ids_of(EventStore& events);

}  // namespace evershard::cluster
