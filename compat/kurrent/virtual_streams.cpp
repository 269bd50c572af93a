#include "evershard/compat/kurrent/virtual_streams.hpp"

#include <utility>

#include "evershard/compat/kurrent/event_form.hpp"
#include "evershard/compat/kurrent/stream_metadata.hpp"
#include "evershard/compat/kurrent/stream_name.hpp"

namespace evershard::kurrent {
std::optional<Derived> Derived::from(std::string_view stream) {
  for (const auto& [mark, of] : {std::pair{category_mark, Of::category}, std::pair{event_type_mark, Of::event_type}}) {
    if (stream.size() > mark.size() && stream.starts_with(mark))
      return Derived{of, std::string(stream.substr(mark.size()))};
  }
  return std::nullopt;
}

Query Derived::query() const { return of == Of::event_type ? Query().types({value}) : Query::all(); }

bool Derived::takes(const RecordedEvent& event) const {
  if (of == Of::event_type) return event.type == value;
  return event.aggregate && event.aggregate->type == value && event.type != link_type &&
         event.type != stream_deleted_type;
}

bool Derived::takes(const RecordedView& event) const {
  if (of == Of::event_type) return event.type == value;
  return event.aggregate_type == value && event.type != link_type && event.type != stream_deleted_type;
}

EventId Derived::link_id(const EventId& of_event, GlobalPosition at) const {
  const auto high = static_cast<std::uint32_t>(at.value >> 32), low = static_cast<std::uint32_t>(at.value);
  return EventId::derived(EventId::derived(of_event, (static_cast<std::uint32_t>(of) | 0x4000'0000u) + (high << 1)),
                          low);
}

}  // namespace evershard::kurrent
