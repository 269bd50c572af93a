// A kept place, settled in the store that keeps it: when it is loaded, before anything is read for its owner.

#pragma once

#include <chrono>
#include <string_view>

#include "evershard/api/event_store.hpp"
#include "evershard/protocol/kept_place.hpp"

namespace evershard {

/// A node that starts may be a moment behind what it wrote itself.
inline constexpr auto behind_itself_max = std::chrono::seconds(5);

/// What stands where. Nobody can say which event a damaged record was: it stops nobody who read it once. Owner: the
/// store outlives it.
[[nodiscard]] EventIdStanding standing_in(EventStore& events);

/// KeptPlace::settle() in this store. A place of its own fork that lies beyond the head is waited for: for
/// behind_itself_max. Errors: those of reading
[[nodiscard]] Result<KeptPlace::Settled> settle_place(EventStore& events, const KeptPlace& place,
                                                      GlobalPosition reached, std::string_view fork,
                                                      const EventIdStanding& standing);

}  // namespace evershard
