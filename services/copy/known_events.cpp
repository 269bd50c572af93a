#include "evershard/services/copy/known_events.hpp"

#include "evershard/protocol/validate.hpp"

namespace evershard::cluster {

bool is_known(Event given, const RecordedEvent& stored) {
  if (given.id != stored.id || given.aggregate != stored.aggregate) return false;
  if (stored.state != EventState::live) return true;
  if (given.state != EventState::live) return false;
  normalise(given);
  return given.type == stored.type && given.tags == stored.tags && given.also == stored.also &&
         given.payload == stored.payload && given.format == stored.format && given.metadata == stored.metadata &&
         (!given.occurred_at || *given.occurred_at == stored.occurred_at);
}

Result<bool> known_at(EventStore& store, std::span<const Event> events, GlobalPosition position) {
  const auto found = store.event_at(position);
  if (!found) return refuse(found.error());
  const GlobalPosition first = position - found->append_index;
  std::size_t next = 0;
  for (std::uint32_t index = 0; index < found->append_events && next < events.size(); ++index) {
    const auto stored = store.event_at(first + index);
    if (!stored) return refuse(stored.error());
    if (stored->id != events[next].id) continue;
    if (!is_known(events[next], *stored)) return false;
    ++next;
  }
  return next == events.size();
}

}  // namespace evershard::cluster
