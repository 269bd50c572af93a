#include "evershard/cli/events/append_flags.hpp"

#include <limits>

#include "evershard/api/json/append_json.hpp"
#include "evershard/api/json/query_json.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/events/payload_flags.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cli {

void add_append_flags(Options& options) {
  options.value("aggregate", "AGGREGATE", "the aggregate the event belongs to, such as order-1; without it, none")
      .value("type", "TYPE", "the event's type, such as OrderPlaced; needed, except with a file of appends")
      .values("tag", "TAG", "a tag, such as customer:42")
      .values("also", "AGGREGATE", "another aggregate that the event concerns");
  add_payload_flags(options);
  options.value("metadata", "JSON", "a JSON object, stored beside the payload")
      .value("subject", "NAME",
             "the person whose data the payload is; it is encrypted with a key that `retention erase` destroys")
      .value("id", "UUID", "the event's id; without it, a random one")
      .value("occurred-at", "TIME", "when it happened, such as 2026-01-31T12:00:00Z; without it, now")
      .value("expect", "VERSION",
             "the version the aggregate must have: any, none, exists or a number; else the append is refused")
      .such_as({"any", "none", "exists"})
      .values("fail-if", "JSON", "a query; the append is refused if an event matches it")
      .values("after", "POSITION",
              "for the --fail-if before it: only events after this position count; without it, all")
      .value("snapshot", "JSON", "the aggregate's state with this event, as JSON: stored with the event, or neither is")
      .value("schema-revision", "NUMBER",
             "the schema of --snapshot; a reader that knows another one replays the events instead; without it, 0");
}

EventId uuid_of(const Arguments& arguments, const char* name) {
  const std::string text = *arguments.text(name);
  const auto id = EventId::parse(text);
  if (!id || !id->given())
    throw UsageError("--" + std::string(name) + " is " + in_quotes(text) + ": it must be a UUID");
  return *id;
}

namespace {

Result<void> add_metadata(const Arguments& arguments, Event& event) {
  const auto text = arguments.text("metadata");
  if (!text) return {};
  auto value = JsonValue::parse(*text, "--metadata");
  if (!value) return refuse(std::move(value).error());
  if (value->kind() != JsonValue::Kind::object) return value->wrong("must be an object");
  event.metadata = value->raw();
  return {};
}

Result<Event> event_of(const Arguments& arguments) {
  Event event;
  event.aggregate = arguments.aggregate_if("aggregate");
  event.type = arguments.required("type");
  event.tags = arguments.texts("tag");
  event.subject = arguments.text("subject").value_or("");
  if (event.subject.empty() && arguments.has("subject"))
    throw UsageError("--subject is empty", "nothing would be sealed; leave it out where the payload is nobody's");
  for (const auto& text : arguments.texts("also")) {
    auto aggregate = AggregateId::parse(text);
    if (!aggregate) return refuse(aggregate.error().code, "--also: " + aggregate.error().what);
    event.also.push_back(std::move(*aggregate));
  }
  if (arguments.has("id")) event.id = uuid_of(arguments, "id");
  if (const auto text = arguments.text("occurred-at")) {
    event.occurred_at = Timestamp::parse(*text);
    if (!event.occurred_at)
      throw UsageError("--occurred-at is " + in_quotes(*text), "a time looks like 2026-01-31T12:00:00.000000Z");
  }
  auto payload = payload_of(arguments);
  if (!payload) return refuse(std::move(payload).error());
  event.payload = std::move(payload->bytes);
  event.format = payload->format;
  EVERSHARD_TRY(add_metadata(arguments, event));
  return event;
}

/// Whose data the event is, the snapshot is too.
Result<void> add_snapshot(const Arguments& arguments, const Event& event, Append& append) {
  const auto text = arguments.text("snapshot");
  if (!text) {
    if (arguments.has("schema-revision")) throw UsageError("--schema-revision needs --snapshot");
    return {};
  }
  if (!event.aggregate) throw UsageError("--snapshot needs --aggregate");
  auto value = JsonValue::parse(*text, "--snapshot");
  if (!value) return refuse(std::move(value).error());
  Snapshot snapshot;
  snapshot.aggregate = *event.aggregate;
  snapshot.payload = value->raw();
  snapshot.format = PayloadFormat::json;
  snapshot.subject = event.subject;
  if (const auto revision = arguments.text("schema-revision")) {
    const auto number = whole_number(*revision);
    if (!number || *number > std::numeric_limits<std::uint32_t>::max())
      throw UsageError("--schema-revision is " + in_quotes(*revision) + ": it must be a whole number below 4294967296");
    snapshot.schema_revision = static_cast<std::uint32_t>(*number);
  }
  append.snapshots.push_back(std::move(snapshot));
  return {};
}

/// Each --after belongs to the --fail-if in front of it.
Result<void> add_conditions(const Arguments& arguments, Append& append) {
  bool open = false;
  for (const auto& [name, text] : arguments.in_order()) {
    if (name == "fail-if") {
      auto query = read_query(text, "--fail-if");
      if (!query) return refuse(std::move(query).error());
      append.conditions.push_back({std::move(*query), GlobalPosition{0}});
      open = true;
    } else if (name == "after") {
      const auto after = whole_number(text);
      if (!open) throw UsageError("--after must follow a --fail-if, and only once");
      if (!after) throw UsageError("--after is " + in_quotes(text) + ": it must be a whole number, not negative");
      append.conditions.back().after = GlobalPosition(*after);
      open = false;
    }
  }
  return {};
}

}  // namespace

Result<Append> append_of(const Arguments& arguments) {
  auto event = event_of(arguments);
  if (!event) return refuse(std::move(event).error());
  Append append;
  if (const auto text = arguments.text("expect")) {
    auto version = read_expected(*text);
    if (!version) throw UsageError("--expect: " + version.error().what);
    if (!event->aggregate) throw UsageError("--expect needs --aggregate");
    append.expect(*event->aggregate, *version);
  }
  EVERSHARD_TRY(add_snapshot(arguments, *event, append));
  append.event(std::move(*event));
  EVERSHARD_TRY(add_conditions(arguments, append));
  return append;
}

}  // namespace evershard::cli
