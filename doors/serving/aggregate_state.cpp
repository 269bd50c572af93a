#include "evershard/doors/serving/aggregate_state.hpp"

#include <algorithm>
#include <utility>

#include "evershard/api/json/event_json.hpp"
#include "evershard/api/json/moment.hpp"
#include "evershard/api/json/own_events.hpp"
#include "evershard/protocol/base64.hpp"

namespace evershard::serving {
namespace {

void write_instance(JsonText& json, const RecordedSnapshot& snapshot, const PayloadTypes& types) {
  const auto instance = state_of_instance(snapshot.aggregate.type, snapshot.payload, types);
  if (!instance) {
    json.string(to_base64(snapshot.payload)).key("state_encoding").string("base64");
    json.key("decode_error").string(instance.error().what);
    return;
  }
  json.raw(instance->json);
  if (instance->base64) json.key("state_encoding").string("base64");
  if (!instance->message.empty()) json.key("decoded_as").string(instance->message);
  if (instance->unknown_fields) json.key("unknown_fields").boolean(true);
}

/// As JSON where it is some, or a message that is registered, or the user's part of a process's instance; else its
/// bytes, with the reason.
Result<void> write_state(JsonText& json, EventStore& store, const RecordedSnapshot& snapshot,
                         const PayloadTypes& types) {
  json.key("state");
  if (shown_as_json(snapshot.payload, snapshot.format)) {
    json.raw(snapshot.payload);
    return {};
  }
  if (snapshot.format == PayloadFormat::protobuf) {
    const auto of_process = is_of_process(store, snapshot.aggregate.type);
    if (!of_process) return refuse(of_process.error());
    if (*of_process) {
      write_instance(json, snapshot, types);
      return {};
    }
  }
  const auto read = decoded(snapshot, types);
  if (read && *read) {
    json.raw((*read)->json).key("decoded_as").string((*read)->message);
    if ((*read)->unknown_fields) json.key("unknown_fields").boolean(true);
    return {};
  }
  json.string(to_base64(snapshot.payload)).key("state_encoding").string("base64");
  if (read) json.key("decode_error").string(read->error().what);
  return {};
}

}  // namespace

Result<WrittenState> written_state(EventStore& store, const StateAsked& asked, const PayloadTypes& types) {
  if (asked.version && asked.up_to) return refuse(ErrorCode::invalid_argument, "either version or up_to");
  if (asked.version == std::uint64_t{0}) return refuse(ErrorCode::invalid_argument, "version: the first one is 1");
  const auto at = moment_of(store, asked.aggregate, asked.version, asked.up_to);
  if (!at) return refuse(at.error());
  const auto snapshot = store.snapshot(asked.aggregate, at->version);
  if (!snapshot) return refuse(snapshot.error());

  const std::uint64_t state_version = *snapshot ? (*snapshot)->version.value : 0,
                      events_after = at->version.value - state_version;
  JsonText json;
  json.begin_object()
      .key("aggregate")
      .string(asked.aggregate.text())
      .key("version")
      .number(at->version.value)
      .key("position")
      .number(at->position.value);
  if (*snapshot)
    EVERSHARD_TRY(write_state(json, store, **snapshot, types));
  else
    json.key("state").raw("null");
  json.key("state_version").number(state_version).key("exact").boolean(*snapshot && events_after == 0).key("snapshot");
  write_snapshot_facts(json, *snapshot);
  json.key("events_after").number(events_after).key("events").begin_array();
  std::uint64_t given = 0;
  auto stream =
      store.read(asked.aggregate, StreamOptions{.from = SeqNr(state_version + 1),
                                                .limit = std::min(asked.limit.value_or(events_after), events_after)});
  for (const auto& event : stream) {
    if (given > 0 && json.text().size() >= asked.bytes_max) break;
    write_event(json, event, types);
    ++given;
  }
  if (stream.error()) return refuse(*stream.error());
  json.end_array().end_object();
  return WrittenState{json.take(), given};
}

}  // namespace evershard::serving
