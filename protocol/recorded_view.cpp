#include "evershard/protocol/recorded_view.hpp"

#include <utility>

namespace evershard {

RecordedEvent RecordedView::event() const {
  RecordedEvent made;
  made.position = position;
  made.shard = shard;
  made.offset = offset;
  made.id = id;
  if (!aggregate_type.empty())
    made.aggregate.emplace(AggregateId{std::string(aggregate_type), std::string(aggregate_value)});
  made.seq_nr = seq_nr;
  made.type = type;
  made.tags.assign(tags.begin(), tags.end());
  made.also.reserve(also.size());
  for (const auto& [also_type, also_value] : also)
    made.also.push_back({std::string(also_type), std::string(also_value)});
  made.payload = payload;
  made.format = format;
  made.metadata = metadata;
  made.occurred_at = occurred_at;
  made.state = state;
  made.append_index = append_index;
  made.append_events = append_events;
  made.subject = subject;
  return made;
}

RecordedEvent RecordedView::take() const { return built != nullptr ? std::move(*built) : event(); }

}  // namespace evershard
