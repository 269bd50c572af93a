#include "evershard/compat/kurrent/stream_states.hpp"

#include <nlohmann/json.hpp>

#include "evershard/compat/kurrent/stream_name.hpp"
#include "evershard/protocol/retention_events.hpp"

namespace evershard::kurrent {

namespace {

bool had_ended(const std::string& payload) {
  const auto json = nlohmann::json::parse(payload, nullptr, false);
  if (!json.is_object()) return false;
  const auto said = json.find(retention::stream_had_ended);
  return said != json.end() && said->is_boolean() && said->get<bool>();
}

}  // namespace

Query StreamStates::query() {
  return Query().types(
      {std::string(metadata_event_type), std::string(stream_deleted_type), std::string(retention::aggregate_removed)});
}

void StreamStates::apply(const RecordedEvent& event) {
  if (!event.aggregate || event.state != EventState::live) return;
  if (event.type == stream_deleted_type) {
    states_[*event.aggregate].tombstoned = true;
    return;
  }
  if (event.type == retention::aggregate_removed) return removed(event);
  if (event.type != metadata_event_type || !is_metadata(*event.aggregate)) return;
  const auto stream = stream_of_metadata(*event.aggregate);
  if (!stream) return;  // metadata of a name that no stream can have: nobody asks for it
  auto& state = states_[*stream];
  state.json = event.payload;
  state.metadata = metadata_from(event.payload);
  state.metadata_version = event.seq_nr;
  if (state.metadata.is_deleted()) state.deleted_at = event.position;
}

/// As if it had been deleted: its events are gone, and its numbers go on.
void StreamStates::removed(const RecordedEvent& event) {
  if (is_metadata(*event.aggregate)) {
    const auto stream = stream_of_metadata(*event.aggregate);
    if (!stream) return;  // as above
    auto& state = states_[*stream];
    state.json.clear();
    state.metadata = {};
    state.metadata_version = event.seq_nr;
    return;
  }
  auto& state = states_[*event.aggregate];
  state.deleted_at = event.position;
  state.removed_version = event.seq_nr;
  state.tombstoned = state.tombstoned || had_ended(event.payload);
}

std::optional<StreamState> StreamStates::find(const AggregateId& stream) const {
  const auto found = states_.find(stream);
  if (found == states_.end()) return std::nullopt;
  return found->second;
}

}  // namespace evershard::kurrent
