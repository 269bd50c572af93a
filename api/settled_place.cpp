#include "evershard/api/settled_place.hpp"

namespace evershard {

EventIdStanding standing_in(EventStore& events) {
  return [&events](GlobalPosition position) -> Result<std::optional<EventId>> {
    const auto event = events.event_at(position);
    if (event) return std::optional(event->id);
    const auto why = event.error().code;
    if (why == ErrorCode::not_found || why == ErrorCode::corruption) return std::optional<EventId>();
    return refuse(event.error());
  };
}

Result<KeptPlace::Settled> settle_place(EventStore& events, const KeptPlace& place, GlobalPosition reached,
                                        std::string_view fork, const EventIdStanding& standing) {
  auto head = events.head();
  if (!head) return refuse(std::move(head).error());
  if (reached > *head && place.fork() == fork) {
    if (auto there = events.wait_for(reached, behind_itself_max); there) head = there;
  }
  return place.settle(reached, fork, *head, standing);
}

}  // namespace evershard
