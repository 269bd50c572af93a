#include "evershard/views/engine/event_ids.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace evershard::cluster {

storage::EventIdAt event_ids_of(EventStore& events) {
  struct Last {
    std::mutex mutex;
    std::pair<GlobalPosition, EventId> known{};
  };
  return [&events, last = std::make_shared<Last>()](GlobalPosition position) -> EventId {
    {
      const std::lock_guard lock(last->mutex);
      if (last->known.first == position) return last->known.second;
    }
    const auto event = events.event_at(position);
    if (!event) return {};  // not known: the next checkpoint names it
    const std::lock_guard lock(last->mutex);
    last->known = {position, event->id};
    return event->id;
  };
}

}  // namespace evershard::cluster
