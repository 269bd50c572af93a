#include "evershard/api/json/event_json.hpp"

#include "evershard/api/json/json_value.hpp"
#include "evershard/api/json/own_events.hpp"
#include "evershard/protocol/base64.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard {
namespace {

std::string_view name_of(EventState state) {
  switch (state) {
    case EventState::live:
      return "live";
    case EventState::removed:
      return "removed";
    case EventState::erased:
      return "erased";
  }
  return "unknown";
}

/// Absent where it is empty and of no format. The reader's defaults: 1 beside JSON, else 0.
void write_payload(JsonText& json, std::string_view payload, PayloadFormat format) {
  auto usual = PayloadFormat::unspecified;
  if (shown_as_json(payload, format)) {
    json.key("payload").raw(payload);
    usual = PayloadFormat::json;
  } else if (!payload.empty()) {
    json.key("payload").string(to_base64(payload)).key("payload_encoding").string("base64");
  }
  if (format != usual) json.key("payload_format").number(static_cast<std::uint32_t>(format));
}

void write_metadata(JsonText& json, const std::optional<std::string>& metadata) {
  if (!metadata) return;
  if (metadata->starts_with('{') && stands_in_a_line(*metadata)) {
    json.key("metadata").raw(*metadata);
  } else {
    json.key("metadata").string(to_base64(*metadata)).key("metadata_encoding").string("base64");
  }
}

template <class Any>  // Event, RecordedEvent
void write_type_and_lists(JsonText& json, const Any& event) {
  json.key("type").string(event.type);
  if (!event.tags.empty()) {
    json.key("tags").begin_array();
    for (const auto& tag : event.tags) json.string(tag);
    json.end_array();
  }
  if (!event.also.empty()) {
    json.key("also").begin_array();
    for (const auto& aggregate : event.also) json.string(aggregate.text());
    json.end_array();
  }
}

void write_decoded(JsonText& json, const std::optional<Result<ShownMessage>>& read) {
  if (!read) return;
  if (!*read) {
    json.key("decode_error").string(read->error().what);
    return;
  }
  json.key("decoded").raw((*read)->json).key("decoded_as").string((*read)->message);
  if ((*read)->unknown_fields) json.key("unknown_fields").boolean(true);
}

}  // namespace

std::optional<Result<ShownMessage>> decoded(const RecordedEvent& event, const PayloadTypes& types) {
  if (auto own = decoded_own(event)) return own;
  if (types.empty() || event.state != EventState::live) return std::nullopt;
  const PayloadTypes& known = event.aggregate ? types.of_event(event.aggregate->type, event.type) : types;
  // Whoever knows the event by its name reads it whatever it is called, as its `apply` does.
  const bool own =
      &known != &types && event.format == PayloadFormat::unspecified && !shown_as_json(event.payload, event.format);
  if (event.format != PayloadFormat::protobuf && !own) return std::nullopt;
  return known.read(known.message_of_event(event.type), event.payload);
}

std::optional<Result<ShownMessage>> decoded(const RecordedSnapshot& snapshot, const PayloadTypes& types) {
  if (auto own = decoded_own(snapshot)) return own;
  if (types.empty() || snapshot.format != PayloadFormat::protobuf) return std::nullopt;
  const std::string& type = snapshot.aggregate.type;
  const PayloadTypes& known = types.of_state(type);
  const auto message = known.message_of_state(type);
  if (!message)
    return refuse(ErrorCode::not_found, "no message is registered for the state of " + in_quotes(type, 200));
  return known.read(*message, snapshot.payload);
}

bool stands_in_a_line(std::string_view bytes) {
  if (bytes.empty() || bytes.find_first_of("\n\r") != std::string_view::npos) return false;
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  return !blank(bytes.front()) && !blank(bytes.back()) && is_json(bytes);
}

bool shown_as_json(std::string_view payload, PayloadFormat format) {
  return (format == PayloadFormat::json || format == PayloadFormat::unspecified) && stands_in_a_line(payload);
}

void write_event(JsonText& json, const Event& event) {
  json.begin_object();
  if (event.id.given()) json.key("id").string(event.id.text());
  if (event.aggregate) json.key("aggregate").string(event.aggregate->text());
  write_type_and_lists(json, event);
  write_payload(json, event.payload, event.format);
  write_metadata(json, event.metadata);
  if (event.occurred_at) json.key("occurred_at").string(event.occurred_at->text());
  if (!event.subject.empty()) json.key("subject").string(event.subject);
  json.end_object();
}

void write_event(JsonText& json, const RecordedEvent& event, const PayloadTypes& types) {
  json.begin_object();
  json.key("position").number(event.position.value);
  json.key("shard").number(event.shard.value).key("offset").number(event.offset.value);
  json.key("id").string(event.id.text());
  if (event.aggregate) json.key("aggregate").string(event.aggregate->text()).key("seq_nr").number(event.seq_nr.value);
  write_type_and_lists(json, event);
  write_payload(json, event.payload, event.format);
  write_decoded(json, decoded(event, types));
  write_metadata(json, event.metadata);
  json.key("occurred_at").string(event.occurred_at.text());
  if (!event.subject.empty()) json.key("subject").string(event.subject);
  if (event.state != EventState::live) json.key("state").string(name_of(event.state));
  json.end_object();
}

void write_snapshot(JsonText& json, const Snapshot& snapshot) {
  json.begin_object().key("aggregate").string(snapshot.aggregate.text());
  if (snapshot.version.value != 0) json.key("version").number(snapshot.version.value);
  write_payload(json, snapshot.payload, snapshot.format);
  if (snapshot.schema_revision != 0) json.key("schema_revision").number(snapshot.schema_revision);
  if (snapshot.keep) json.key("keep").number(*snapshot.keep);
  if (snapshot.ttl) json.key("ttl_seconds").number(static_cast<std::uint64_t>(snapshot.ttl->count()));
  if (!snapshot.subject.empty()) json.key("subject").string(snapshot.subject);
  json.end_object();
}

void write_snapshot(JsonText& json, const RecordedSnapshot& snapshot, const PayloadTypes& types) {
  json.begin_object();
  json.key("aggregate").string(snapshot.aggregate.text()).key("version").number(snapshot.version.value);
  json.key("position").number(snapshot.position.value);
  write_payload(json, snapshot.payload, snapshot.format);
  write_decoded(json, decoded(snapshot, types));
  json.key("schema_revision").number(snapshot.schema_revision);
  json.key("taken_at").string(snapshot.taken_at.text());
  if (snapshot.expires_at) json.key("expires_at").string(snapshot.expires_at->text());
  if (!snapshot.subject.empty()) json.key("subject").string(snapshot.subject);
  json.key("latest").boolean(snapshot.latest).end_object();
}

}  // namespace evershard
