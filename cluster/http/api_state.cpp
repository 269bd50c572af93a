// An aggregate's state as far as it is written down: its newest snapshot, and the events behind it, which only the aggregate's own program
// can fold into it.

#include <utility>

#include "evershard/cluster/exchange/base64.hpp"
#include "evershard/cluster/exchange/event_json.hpp"
#include "evershard/cluster/http/api.hpp"
#include "evershard/cluster/http/read_asked.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::http {
namespace {

/// The point in an aggregate's life that is looked at.
struct MomentAsked {
  SeqNr version;
  GlobalPosition position;
};

Result<MomentAsked> moment_asked(EventStore& store, const AggregateId& aggregate, std::optional<std::uint64_t> version, std::optional<GlobalPosition> up_to) {
  auto info = store.aggregate(aggregate, up_to);
  if (!info) return refuse(std::move(info).error());
  if (!version || *version == info->version.value) return MomentAsked{info->version, info->last_position};
  const auto name = in_quotes(aggregate.text(), 700);
  if (*version > info->version.value) {
    return refuse(ErrorCode::not_found, "aggregate " + name + " is at version " + std::to_string(info->version.value) + "; it has no version " +
                                            std::to_string(*version) + " yet");
  }
  auto stream = store.read(aggregate, StreamOptions{.from = SeqNr(*version), .limit = 1});
  auto event = stream.next();
  if (!event) return refuse(std::move(event).error());
  if (!*event) return refuse(ErrorCode::not_found, "there is no version " + std::to_string(*version) + " of " + name);
  return MomentAsked{SeqNr(*version), (*event)->position};
}

/// As JSON where it is some, or a message that is registered; else its bytes, with the reason.
void write_state(JsonText& json, const RecordedSnapshot& snapshot, const PayloadTypes& types) {
  json.key("state");
  if (shown_as_json(snapshot.payload, snapshot.format)) {
    json.raw(snapshot.payload);
    return;
  }
  const auto read = decoded(snapshot, types);
  if (read && *read) {
    json.raw((*read)->json).key("decoded_as").string((*read)->message);
    if ((*read)->unknown_fields) json.key("unknown_fields").boolean(true);
    return;
  }
  json.string(to_base64(snapshot.payload)).key("state_encoding").string("base64");
  if (read) json.key("decode_error").string(read->error().what);
}

}  // namespace

Result<Response> Api::aggregate_state(const Asked& asked) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"version", "up_to", "limit"}));
  const auto id = AggregateId::parse(asked.argument);
  if (!id) return refuse(id.error());
  const auto version = parameters.number("version");
  if (!version) return refuse(version.error());
  const auto up_to = parameters.position("up_to");
  if (!up_to) return refuse(up_to.error());
  if (*version && *up_to) return refuse(ErrorCode::invalid_argument, "either version or up_to");
  if (*version == std::uint64_t{0}) return refuse(ErrorCode::invalid_argument, "version: the first one is 1");
  const auto limit = limit_of(parameters);
  if (!limit) return refuse(limit.error());

  const auto at = moment_asked(served_.store, *id, *version, *up_to);
  if (!at) return refuse(at.error());
  const auto snapshot = served_.store.snapshot(*id, at->version);
  if (!snapshot) return refuse(snapshot.error());
  const auto types = types_.lease();
  if (!types) return refuse(types.error());

  const std::uint64_t state_version = *snapshot ? (*snapshot)->version.value : 0, events_after = at->version.value - state_version;
  JsonText json;
  json.begin_object().key("aggregate").string(id->text()).key("version").number(at->version.value).key("position").number(at->position.value);
  if (*snapshot) write_state(json, **snapshot, **types);
  else json.key("state").raw("null");
  json.key("state_version").number(state_version).key("exact").boolean(*snapshot && events_after == 0).key("snapshot");
  if (*snapshot) {
    json.begin_object().key("position").number((*snapshot)->position.value).key("schema_revision").number((*snapshot)->schema_revision);
    json.key("payload_format").number(static_cast<std::uint32_t>((*snapshot)->format)).key("taken_at").string((*snapshot)->taken_at.text());
    json.key("latest").boolean((*snapshot)->latest).end_object();
  } else {
    json.raw("null");
  }
  json.key("events_after").number(events_after).key("events").begin_array();
  std::size_t given = 0;
  auto stream = served_.store.read(*id, StreamOptions{.from = SeqNr(state_version + 1), .limit = std::min(*limit, events_after)});
  for (const auto& event : stream) {
    if (given > 0 && json.text().size() >= options_.limits.response_bytes) break;
    write_event(json, event, **types);
    ++given;
  }
  if (stream.error()) return refuse(*stream.error());
  served_.metrics->events_read("http", given);
  json.end_array().end_object();
  return json_response(json.take());
}

}  // namespace evershard::http
