#include "evershard/protocol/shown_event.hpp"

namespace evershard {

void show(const RecordedEvent& event, RecordedView& view) {
  view.position = event.position;
  view.shard = event.shard;
  view.offset = event.offset;
  view.id = event.id;
  view.aggregate_type = event.aggregate ? std::string_view(event.aggregate->type) : std::string_view();
  view.aggregate_value = event.aggregate ? std::string_view(event.aggregate->value) : std::string_view();
  view.seq_nr = event.seq_nr;
  view.type = event.type;
  view.tags.assign(event.tags.begin(), event.tags.end());
  view.also.clear();
  for (const auto& id : event.also) view.also.emplace_back(id.type, id.value);
  view.payload = event.payload;
  view.format = event.format;
  view.metadata = event.metadata;
  view.occurred_at = event.occurred_at;
  view.state = event.state;
  view.append_index = event.append_index;
  view.append_events = event.append_events;
  view.subject = event.subject;
  view.built = nullptr;
}

void show_to_take(RecordedEvent& event, RecordedView& view) {
  show(event, view);
  view.built = &event;
}

}  // namespace evershard
