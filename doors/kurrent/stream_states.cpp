#include "evershard/doors/kurrent/stream_states.hpp"

#include "evershard/doors/kurrent/stream_name.hpp"

namespace evershard::kurrent {

Query StreamStates::query() {
  return Query().types({std::string(metadata_event_type), std::string(stream_deleted_type)});
}

void StreamStates::apply(const RecordedEvent& event) {
  if (!event.aggregate || event.state != EventState::live) return;
  if (event.type == stream_deleted_type) {
    states_[*event.aggregate].tombstoned = true;
    return;
  }
  if (event.type != metadata_event_type || !is_metadata(*event.aggregate)) return;
  const auto stream = stream_of_metadata(*event.aggregate);
  if (!stream) return;
  auto& state = states_[*stream];
  state.json = event.payload;
  state.metadata = metadata_from(event.payload);
  state.metadata_version = event.seq_nr;
  if (state.metadata.is_deleted()) state.deleted_at = event.position;
}

std::optional<StreamState> StreamStates::find(const AggregateId& stream) const {
  const auto found = states_.find(stream);
  if (found == states_.end()) return std::nullopt;
  return found->second;
}

}  // namespace evershard::kurrent
