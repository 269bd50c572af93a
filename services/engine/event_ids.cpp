#include "evershard/services/engine/event_ids.hpp"

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "evershard/api/settled_place.hpp"

namespace evershard::cluster {

EventIdStanding event_ids_of(EventStore& events) {
  struct Last {
    std::mutex mutex;
    std::pair<GlobalPosition, EventId> known{};
  };
  return [standing = standing_in(events),
          last = std::make_shared<Last>()](GlobalPosition position) -> Result<std::optional<EventId>> {
    {
      const std::lock_guard lock(last->mutex);
      if (last->known.first == position) return std::optional(last->known.second);
    }
    auto found = standing(position);
    if (!found || !*found) return found;
    const std::lock_guard lock(last->mutex);
    last->known = {position, **found};
    return found;
  };
}

}  // namespace evershard::cluster
