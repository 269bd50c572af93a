#include "evershard/api/json/append_json.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "evershard/api/json/event_json.hpp"
#include "evershard/api/json/query_json.hpp"
#include "evershard/protocol/base64.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/reserved.hpp"

namespace evershard {
namespace {

template <class T>
Result<void> into(Result<T> from, T& to) {
  if (!from) return refuse(std::move(from).error());
  to = std::move(*from);
  return {};
}

template <class T>
Result<void> into(Result<T> from, std::optional<T>& to) {
  if (!from) return refuse(std::move(from).error());
  to = std::move(*from);
  return {};
}

/// A word, read by `parse`, which answers nothing where the word is wrong.
template <class T, class Parse>
Result<void> word(const JsonValue& value, const char* wanted, Parse parse, std::optional<T>& to) {
  auto text = value.string();
  if (!text) return refuse(std::move(text).error());
  to = parse(*text);
  if (!to) return value.wrong(in_quotes(*text) + " is no " + wanted);
  return {};
}

Result<void> encoding(const JsonValue& value, bool& base64) {
  auto text = value.string();
  if (!text) return refuse(std::move(text).error());
  if (*text != "base64") return value.wrong(in_quotes(*text) + " is not known; the only one is base64");
  base64 = true;
  return {};
}

Result<void> decoded(const JsonValue& value, std::string& bytes) {
  std::optional<std::string> read;
  EVERSHARD_TRY(word(value, "base64", from_base64, read));
  bytes = std::move(*read);
  return {};
}

/// The parts whose meaning hangs on another key of the same event.
struct PayloadParts {
  std::optional<JsonValue> payload{};
  bool base64 = false;
  std::optional<std::uint64_t> format{};
};

template <class Written>  // Event, Snapshot
Result<void> finish(const JsonValue& from, const PayloadParts& parts, Written& to) {
  if (parts.base64 && !parts.payload) return from.wrong("payload_encoding without payload");
  if (parts.payload && parts.base64) {
    EVERSHARD_TRY(decoded(*parts.payload, to.payload));
  } else if (parts.payload) {
    to.payload = parts.payload->raw();
    to.format = PayloadFormat::json;
  }
  if (!parts.format) return {};
  if (*parts.format > std::numeric_limits<std::uint32_t>::max()) return from.wrong("payload_format is out of range");
  to.format = PayloadFormat(static_cast<std::uint32_t>(*parts.format));
  return {};
}

struct EventParts {
  PayloadParts payload{};
  std::optional<JsonValue> metadata{};
  bool metadata_base64 = false;
};

Result<void> finish(const JsonValue& from, const EventParts& parts, Event& event) {
  if (parts.metadata_base64 && !parts.metadata) return from.wrong("metadata_encoding without metadata");
  EVERSHARD_TRY(finish(from, parts.payload, event));
  if (parts.metadata && parts.metadata_base64) return decoded(*parts.metadata, event.metadata.emplace());
  if (!parts.metadata) return {};
  if (parts.metadata->kind() != JsonValue::Kind::object) {
    return parts.metadata->wrong("must be an object, or base64 with metadata_encoding");
  }
  event.metadata = parts.metadata->raw();
  return {};
}

Result<void> read_state(const JsonValue& value, EventState& state) {
  auto text = value.string();
  if (!text) return refuse(std::move(text).error());
  if (*text == "removed")
    state = EventState::removed;
  else if (*text == "erased")
    state = EventState::erased;
  else if (*text != "live")
    return value.wrong(in_quotes(*text) + " is no state of an event: live, removed, erased");
  return {};
}

Result<void> read_event(const JsonValue& from, LineRules rules, Event& event, AppendLine::Place& place) {
  EventParts parts;
  std::uint64_t unused = 0;
  const auto see = [&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (key == "id") {
      std::optional<EventId> id;
      EVERSHARD_TRY(word(value, "UUID", EventId::parse, id));
      event.id = *id;
      return id->given() ? Result<void>{} : value.wrong("the id of all zeros is none");
    }
    if (key == "aggregate") return read_aggregate(value, event.aggregate);
    if (key == "type") return into(value.string(), event.type);
    if (key == "tags") return read_strings(value, event.tags);
    if (key == "also") return read_aggregates(value, event.also);
    if (key == "payload") return parts.payload.payload.emplace(value), Result<void>{};
    if (key == "payload_encoding") return encoding(value, parts.payload.base64);
    if (key == "payload_format") return into(value.number(), parts.payload.format);
    if (key == "metadata") return parts.metadata.emplace(value), Result<void>{};
    if (key == "metadata_encoding") return encoding(value, parts.metadata_base64);
    if (key == "occurred_at")
      return word(value, "time such as 2026-01-31T12:00:00.000000Z", Timestamp::parse, event.occurred_at);
    if (key == "subject") {
      EVERSHARD_TRY(into(value.string(), event.subject));
      return event.subject.empty()
                 ? value.wrong("is empty: nothing would be sealed; leave it out where the payload is nobody's")
                 : Result<void>{};
    }
    const bool of_the_store =
        key == "position" || key == "shard" || key == "offset" || key == "seq_nr" || key == "state";
    const bool of_the_display =
        key == "decoded" || key == "decoded_as" || key == "decode_error" || key == "unknown_fields";
    if ((of_the_store || of_the_display) && rules == LineRules::append) {
      return value.wrong("is the store's to give; `evershard import` takes exported events");
    }
    if (key == "position") return into(value.number(), place.position.value);
    if (key == "seq_nr") return into(value.number(), place.seq_nr.value);
    if (of_the_display) return {};
    if (key == "shard" || key == "offset") return into(value.number(), unused);
    if (key == "state") return read_state(value, event.state);
    return from.unknown_key(key, {"id", "aggregate", "type", "tags", "also", "payload", "payload_encoding",
                                  "payload_format", "metadata", "metadata_encoding", "occurred_at", "subject"});
  };
  EVERSHARD_TRY(from.for_each_member(see));
  EVERSHARD_TRY(finish(from, parts, event));
  if (event.state == EventState::removed) {
    if (event.type.empty() && event.occurred_at == Timestamp{})
      event.occurred_at.reset();  // as they were exported once
    return event.id.given() ? Result<void>{} : from.wrong("id is missing");
  }
  if (event.type.empty()) return from.wrong("type is missing, or empty");
  if (rules == LineRules::import && !event.id.given()) {
    return from.wrong(
        "id is missing: import needs one, so that it can be run again; `evershard append --jsonl` makes ids");
  }
  return {};
}

/// A number of 32 bits. Errors: invalid_argument
Result<void> number32(const JsonValue& value, std::uint32_t& to) {
  std::uint64_t number = 0;
  EVERSHARD_TRY(into(value.number(), number));
  if (number > std::numeric_limits<std::uint32_t>::max()) return value.wrong("is out of range");
  to = static_cast<std::uint32_t>(number);
  return {};
}

/// As export writes it, or as an append takes it: with how long older ones are kept. When it was taken is the store's
/// to say.
Result<void> read_snapshot(const JsonValue& from, LineRules rules, Snapshot& snapshot) {
  PayloadParts payload;
  std::optional<AggregateId> aggregate;
  std::uint64_t unused = 0;
  std::optional<std::uint32_t> ttl_seconds;
  EVERSHARD_TRY(from.for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (key == "aggregate") return read_aggregate(value, aggregate);
    if (key == "version") return into(value.number(), snapshot.version.value);
    if (key == "payload") return payload.payload.emplace(value), Result<void>{};
    if (key == "payload_encoding") return encoding(value, payload.base64);
    if (key == "payload_format") return into(value.number(), payload.format);
    if (key == "schema_revision") return number32(value, snapshot.schema_revision);
    if (key == "subject") return into(value.string(), snapshot.subject);
    if (rules == LineRules::append) {
      if (key == "keep") return number32(value, snapshot.keep.emplace());
      if (key == "ttl_seconds") return number32(value, ttl_seconds.emplace());
    } else {
      if (key == "position") return into(value.number(), unused);
      if (key == "taken_at" || key == "expires_at" || key == "latest") return {};
    }
    return from.unknown_key(key, {"aggregate", "version", "payload", "payload_encoding", "payload_format",
                                  "schema_revision", "keep", "ttl_seconds", "subject"});
  }));
  EVERSHARD_TRY(finish(from, payload, snapshot));
  if (!aggregate) return from.wrong("aggregate is missing");
  snapshot.aggregate = *std::move(aggregate);
  if (ttl_seconds) snapshot.ttl = std::chrono::seconds(*ttl_seconds);
  return {};
}

Result<void> read_expectation(const JsonValue& from, Expectation& expectation) {
  std::optional<AggregateId> aggregate;
  std::optional<ExpectedVersion> version;
  const auto see = [&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (key == "aggregate") return read_aggregate(value, aggregate);
    if (key != "version") return from.unknown_key(key, {"aggregate", "version"});
    if (value.kind() == JsonValue::Kind::number) {
      auto number = value.number();
      if (!number) return refuse(std::move(number).error());
      version = ExpectedVersion::exactly(*number);
      return {};
    }
    auto text = value.string();
    if (!text) return value.wrong("must be a number, \"any\", \"none\" or \"exists\"");
    if (*text != "any" && *text != "none" && *text != "exists") return value.wrong(in_quotes(*text) + " is no version");
    return into(read_expected(*text), version);
  };
  EVERSHARD_TRY(from.for_each_member(see));
  if (!aggregate || !version) return from.wrong("needs aggregate and version");
  expectation = {std::move(*aggregate), *version};
  return {};
}

Result<void> read_condition(const JsonValue& from, AppendCondition& condition) {
  bool asked = false;
  const auto see = [&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (key == "after") return into(value.number(), condition.after.value);
    if (key != "query") return from.unknown_key(key, {"query", "after"});
    asked = true;
    return into(read_query(value), condition.query);
  };
  EVERSHARD_TRY(from.for_each_member(see));
  return asked ? Result<void>{} : from.wrong("query is missing");
}

}  // namespace

Result<ExpectedVersion> read_expected(std::string_view text) {
  if (text == "any") return ExpectedVersion::any();
  if (text == "none") return ExpectedVersion::none();
  if (text == "exists") return ExpectedVersion::exists();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) return ExpectedVersion::exactly(number);
  return refuse(ErrorCode::invalid_argument,
                "expected version " + in_quotes(text) + " is none of any, none, exists and a number");
}

Result<AppendLine> read_append(std::string_view text, LineRules rules) {
  auto root = JsonValue::parse(text);
  if (!root) return refuse(std::move(root).error());
  AppendLine line;
  bool bare = true;
  if (root->kind() != JsonValue::Kind::object) return root->wrong("must be an object: an append or an event");
  // Cheap to ask first: the members of an append are few.
  bool known = true, snapshot = false;
  EVERSHARD_TRY(root->for_each_member([&](std::string_view key, const JsonValue&) -> Result<void> {
    if (key == "events") bare = false;
    if (key == "snapshot") snapshot = rules == LineRules::import;
    if (key == "expect" || key == "fail_if" || key == "snapshots" || key == "request_id") known = false;
    return {};
  }));
  if (bare && snapshot) {
    EVERSHARD_TRY(root->for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
      if (key == "snapshot") return read_snapshot(value, rules, line.snapshot.emplace());
      return root->unknown_key(key, {"snapshot"});
    }));
    return line;
  }
  if (bare && !known)
    return root->wrong("events is missing: expect, fail_if, snapshots and request_id stand beside a list of events");
  if (bare) {
    EVERSHARD_TRY(read_event(*root, rules, line.append.events.emplace_back(), line.places.emplace_back()));
    line.append.from_export = rules == LineRules::import && needs_export(line.append);
    return line;
  }

  EVERSHARD_TRY(root->for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (key == "events") {
      return value.for_each_element([&](const JsonValue& event) {
        return read_event(event, rules, line.append.events.emplace_back(), line.places.emplace_back());
      });
    }
    if (key == "expect") {
      return value.for_each_element(
          [&](const JsonValue& e) { return read_expectation(e, line.append.expectations.emplace_back()); });
    }
    if (key == "fail_if") {
      return value.for_each_element(
          [&](const JsonValue& c) { return read_condition(c, line.append.conditions.emplace_back()); });
    }
    if (key == "snapshots") {
      return value.for_each_element([&](const JsonValue& s) {
        return read_snapshot(s, LineRules::append, line.append.snapshots.emplace_back());
      });
    }
    if (key == "request_id") return word(value, "UUID", EventId::parse, line.append.request_id);
    return root->unknown_key(key, {"events", "expect", "fail_if", "snapshots", "request_id"});
  }));
  line.append.from_export = rules == LineRules::import && needs_export(line.append);
  return line;
}

namespace {

void write_expected(JsonText& json, const ExpectedVersion& version) {
  if (version.kind() == ExpectedVersion::Kind::exactly)
    json.number(version.number().value);
  else
    json.string(version.text());
}

}  // namespace

void write_append(JsonText& json, const Append& append) {
  json.begin_object().key("events").begin_array();
  for (const auto& event : append.events) write_event(json, event);
  json.end_array();
  if (!append.expectations.empty()) {
    json.key("expect").begin_array();
    for (const auto& [aggregate, version] : append.expectations) {
      json.begin_object().key("aggregate").string(aggregate.text()).key("version");
      write_expected(json, version);
      json.end_object();
    }
    json.end_array();
  }
  if (!append.conditions.empty()) {
    json.key("fail_if").begin_array();
    for (const auto& [query, after] : append.conditions) {
      json.begin_object().key("query");
      write_query(json, query);
      json.key("after").number(after.value).end_object();
    }
    json.end_array();
  }
  if (!append.snapshots.empty()) {
    json.key("snapshots").begin_array();
    for (const auto& snapshot : append.snapshots) write_snapshot(json, snapshot);
    json.end_array();
  }
  if (append.request_id) json.key("request_id").string(append.request_id->text());
  json.end_object();
}

void write_appended(JsonText& json, const Appended& appended) {
  json.begin_object();
  json.key("first_position")
      .number(appended.first_position.value)
      .key("last_position")
      .number(appended.last_position.value);
  json.key("versions").begin_object();
  for (const auto& [aggregate, version] : appended.versions) json.key(aggregate.text()).number(version.value);
  json.end_object().key("duplicate").boolean(appended.duplicate).end_object();
}

void write_error_members(JsonText& json, const Error& error, std::optional<std::uint64_t> line) {
  json.key("code").string(name_of(error.code)).key("message").string(error.what);
  if (line) json.key("line").number(*line);
  if (!error.details) return;
  const auto& details = *error.details;
  if (details.aggregate) json.key("aggregate").string(details.aggregate->text());
  if (details.expected) {
    json.key("expected");
    write_expected(json, *details.expected);
  }
  if (details.actual) json.key("actual").number(details.actual->value);
  if (details.condition) json.key("condition").number(*details.condition);
  if (details.position) json.key("position").number(details.position->value);
  if (details.shard) json.key("shard").number(details.shard->value);
  if (details.offset) json.key("offset").number(details.offset->value);
}

}  // namespace evershard
