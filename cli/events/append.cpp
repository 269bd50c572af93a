// `evershard append`: one event from flags, or a line of JSON an append.

#include <limits>

#include "evershard/cli/command.hpp"
#include "evershard/cli/events/append_lines.hpp"
#include "evershard/cli/events/payload_flags.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/store/json/query_json.hpp"

namespace evershard::cli {
namespace {

Options append_options() {
  Options options = store_options();
  options.value("aggregate", "AGGREGATE", "the aggregate the event belongs to, such as order-1; without it, none")
      .value("type", "TYPE", "the event's type, such as OrderPlaced; needed, except with --jsonl")
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
      .value("request-id", "UUID", "names the request; a request with the same id is stored once")
      .value("jsonl", "FILE", "read appends from a file, one JSON object a line; - is standard input");
  add_line_flags(options);
  return options;
}

EventId uuid(const Arguments& arguments, const char* name) {
  const std::string text = *arguments.text(name);
  const auto id = EventId::parse(text);
  if (!id || !id->given())
    throw UsageError("--" + std::string(name) + " is " + in_quotes(text) + ": it must be a UUID");
  return *id;
}

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
  if (arguments.has("id")) event.id = uuid(arguments, "id");
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
  append.event(std::move(*event));
  EVERSHARD_TRY(add_conditions(arguments, append));
  if (arguments.has("request-id")) append.request_id = uuid(arguments, "request-id");
  return append;
}

std::string versions_text(const Appended& appended) {
  std::string text;
  for (const auto& [aggregate, version] : appended.versions) {
    text += (text.empty() ? "" : ", ") + aggregate.text() + " is at version " + std::to_string(version.value);
  }
  return text;
}

std::string sentence(const Appended& appended) {
  std::string text = (appended.duplicate ? "was stored already at position " : "stored at position ") +
                     std::to_string(appended.first_position.value);
  if (appended.last_position != appended.first_position) text += " to " + std::to_string(appended.last_position.value);
  const std::string versions = versions_text(appended);
  return versions.empty() ? text : text + "; " + versions;
}

Outcome append_one(const Invocation& invocation) {
  auto append = append_of(invocation.arguments);
  if (!append) return Failed(Failure(std::move(append).error()));
  auto store = invocation.open(Invocation::Keys::created);
  if (!store) return Failed(std::move(store).error());
  auto appended = store->append(std::move(*append));
  if (!appended) return Failed(Failure(std::move(appended).error()));
  JsonText json;
  write_appended(json, *appended);
  invocation.out.write((invocation.for_people() ? sentence(*appended) : json.text()) + '\n');
  return {};
}

Outcome append_lines(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  arguments.refuse_beside("--jsonl", {"aggregate", "type", "tag", "also", "payload", "payload-file", "payload-format",
                                      "metadata", "id", "occurred-at", "expect", "fail-if", "after", "request-id"});
  const auto settings = line_settings_of(arguments);
  auto store = invocation.open(Invocation::Keys::created);
  if (!store) return Failed(std::move(store).error());

  AppendLines lines(invocation, *store, settings);
  ListPrinter printer(invocation, {});
  JsonText json;
  Outcome outcome = lines.run(
      arguments.required("jsonl"), [&](std::uint64_t line, const AppendLine&, const Result<Appended>& result) {
        if (invocation.for_people()) {
          const std::string text =
              result ? sentence(*result) : std::string(name_of(result.error().code)) + ": " + result.error().what;
          invocation.out.write("line " + std::to_string(line) + ": " + text + '\n');
          return;
        }
        json.clear();
        if (result) {
          write_appended(json, *result);
        } else {
          json.begin_object().key("error").begin_object();
          write_error_members(json, result.error(), line);
          json.end_object().end_object();
        }
        printer.json(json.text());
      });
  printer.finish();
  return outcome;
}

Outcome run_append(const Invocation& invocation) {
  if (invocation.arguments.has("jsonl")) return append_lines(invocation);
  invocation.arguments.refuse_beside("a single event", {"in-flight", "line-bytes-max", "continue"});
  return append_one(invocation);
}

}  // namespace

Command append_command() {
  return {"append",
          "data",
          "Stores events: one from flags, or many from JSON Lines.",
          R"(evershard append --data shop --aggregate order-1 --type OrderPlaced --payload '{"total":12}')",
          append_options,
          run_append};
}

}  // namespace evershard::cli
