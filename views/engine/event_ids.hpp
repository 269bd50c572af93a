// EventIds: which event is at a position, for the checkpoints of projections.

#pragma once

#include "evershard/store/api/event_store.hpp"
#include "evershard/views/rows/projection_store.hpp"

namespace evershard::cluster {

/// Asks the store; it remembers the last answer, since all live projections ask for the same one. Any thread.
/// Owner: the events outlive it.
[[nodiscard]] storage::EventIdAt event_ids_of(EventStore& events);

}  // namespace evershard::cluster
