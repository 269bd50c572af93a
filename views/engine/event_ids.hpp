// EventIds: which event is at a position, for the checkpoints of projections.

#pragma once

#include "evershard/protocol/kept_place.hpp"
#include "evershard/store/api/event_store.hpp"

namespace evershard::cluster {

/// standing_in() that remembers the last answer, since all live projections ask for the same one. Any thread. Owner:
/// the events outlive it.
[[nodiscard]] EventIdStanding event_ids_of(EventStore& events);

}  // namespace evershard::cluster
