// Whether events stand in a store already, with the same content and together: what import and copy ask of a
// `duplicate_event`.

#pragma once

#include <span>

#include "evershard/api/event_store.hpp"

namespace evershard::cluster {

/// Whether the event is stored already. Of one whose content is gone here, by a removal or an erasure, id and aggregate
/// say it: nobody brings it back.
[[nodiscard]] bool is_known(Event given, const RecordedEvent& stored);

/// Whether the events, in their order, are events of the append that has one at `position`, with the same content. A
/// store knows a request again by more than its events; whoever brings the same events again has nothing to add.
///
/// Errors: those of reading
[[nodiscard]] Result<bool> known_at(EventStore& store, std::span<const Event> events, GlobalPosition position);

}  // namespace evershard::cluster
