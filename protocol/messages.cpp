#include "evershard/protocol/messages.hpp"

#include <algorithm>
#include <limits>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/utf8.hpp"

namespace evershard::messages {

// ---- values into messages

void put(const AggregateId& from, pb::AggregateId& to) {
  to.set_type(from.type);
  to.set_value(from.value);
}

void put(const EventId& from, std::string& to) {
  if (from.given()) to.assign(reinterpret_cast<const char*>(from.bytes.data()), from.bytes.size());
}

template <class Message>
void put_tags_and_also(const std::vector<Tag>& tags, const std::vector<AggregateId>& also, Message& to) {
  for (const auto& tag : tags) to.add_tags(tag);
  for (const auto& aggregate : also) put(aggregate, *to.add_also());
}

template <class Message>
void put_payload(const std::string& payload, PayloadFormat format, Message& to) {
  to.set_payload(payload);
  to.set_payload_format(static_cast<std::uint32_t>(format));
}

void put(const Event& from, pb::Event& to) {
  put(from.id, *to.mutable_id());
  if (from.aggregate) put(*from.aggregate, *to.mutable_aggregate());
  if (from.state == EventState::erased)
    to.set_erased_type(from.type);
  else
    to.set_type(from.type);
  to.set_state(static_cast<pb::EventState>(from.state));
  put_tags_and_also(from.tags, from.also, to);
  put_payload(from.payload, from.format, to);
  if (from.metadata) to.set_metadata(*from.metadata);
  if (from.occurred_at) to.set_occurred_at_us(from.occurred_at->micros);
  to.set_subject(from.subject);
}

void put(const RecordedEvent& from, pb::RecordedEvent& to) {
  to.set_position(from.position.value);
  to.set_shard(from.shard.value);
  to.set_offset(from.offset.value);
  put(from.id, *to.mutable_id());
  if (from.aggregate) put(*from.aggregate, *to.mutable_aggregate());
  to.set_seq_nr(from.seq_nr.value);
  to.set_type(from.type);
  put_tags_and_also(from.tags, from.also, to);
  put_payload(from.payload, from.format, to);
  if (from.metadata) to.set_metadata(*from.metadata);
  to.set_occurred_at_us(from.occurred_at.micros);
  to.set_state(static_cast<pb::EventState>(from.state));
  to.set_append_index(from.append_index);
  if (from.append_events != 1) to.set_append_events(from.append_events);
  to.set_subject(from.subject);
}

void put(const Query& from, pb::Query& to) {
  to.set_all(from.is_all());
  for (const auto& item : from.items()) {
    auto& message = *to.add_items();
    for (const auto& type : item.types) message.add_types(type);
    for (const auto& tag : item.tags) message.add_tags(tag);
    for (const auto& aggregate : item.concerning) put(aggregate, *message.add_concerning());
  }
}

static void put(ExpectedVersion from, pb::ExpectedVersion& to) {
  using Kind = ExpectedVersion::Kind;
  switch (from.kind()) {
    case Kind::any:
      return to.set_kind(pb::ExpectedVersion::KIND_ANY);
    case Kind::none:
      return to.set_kind(pb::ExpectedVersion::KIND_NONE);
    case Kind::exists:
      return to.set_kind(pb::ExpectedVersion::KIND_EXISTS);
    case Kind::exactly:
      break;
  }
  to.set_kind(pb::ExpectedVersion::KIND_EXACTLY);
  to.set_number(from.number().value);
}

void put(const Snapshot& from, pb::Snapshot& to) {
  put(from.aggregate, *to.mutable_aggregate());
  to.set_version(from.version.value);
  put_payload(from.payload, from.format, to);
  to.set_schema_revision(from.schema_revision);
  if (from.keep) to.set_keep(*from.keep);
  if (from.ttl) to.set_ttl_s(from.ttl->count());
  to.set_subject(from.subject);
}

void put(const RecordedSnapshot& from, pb::RecordedSnapshot& to) {
  put(from.aggregate, *to.mutable_aggregate());
  to.set_version(from.version.value);
  to.set_position(from.position.value);
  put_payload(from.payload, from.format, to);
  to.set_schema_revision(from.schema_revision);
  to.set_taken_at_us(from.taken_at.micros);
  if (from.expires_at) to.set_expires_at_us(from.expires_at->micros);
  to.set_latest(from.latest);
  to.set_subject(from.subject);
}

void put(const Append& from, pb::AppendRequest& to) {
  for (const auto& event : from.events) put(event, *to.add_events());
  put_without_events(from, to);
}

void put_without_events(const Append& from, pb::AppendRequest& to) {
  EVERSHARD_CHECK(!from.malformed, "a malformed append is refused, never sent");
  // Also one of zeros: it is refused where it arrives, and none is another request.
  if (from.request_id) to.set_request_id(from.request_id->bytes.data(), from.request_id->bytes.size());
  for (const auto& expectation : from.expectations) {
    auto& message = *to.add_expectations();
    put(expectation.aggregate, *message.mutable_aggregate());
    put(expectation.version, *message.mutable_version());
  }
  for (const auto& condition : from.conditions) {
    auto& message = *to.add_conditions();
    put(condition.query, *message.mutable_query());
    message.set_after(condition.after.value);
  }
  for (const auto& snapshot : from.snapshots) put(snapshot, *to.add_snapshots());
  if (from.command) {
    auto& message = *to.mutable_command();
    put(from.command->aggregate, *message.mutable_aggregate());
    message.set_id(from.command->id);
    message.set_reply(from.command->reply);
  }
  to.set_ack(static_cast<pb::Ack>(from.ack));
  to.set_from_export(from.from_export);
}

void put(const Appended& from, pb::AppendResponse& to) {
  to.set_first_position(from.first_position.value);
  to.set_last_position(from.last_position.value);
  for (const auto& version : from.versions) {
    auto& message = *to.add_versions();
    put(version.aggregate, *message.mutable_aggregate());
    message.set_version(version.version.value);
  }
  to.set_duplicate(from.duplicate);
}

void put(const Error& from, pb::Error& to) {
  to.set_code(static_cast<pb::ErrorCode>(from.code));
  // What the operating system says of a path may be any bytes; the wire takes text.
  to.set_message(is_utf8(from.what) ? from.what : in_quotes(from.what, from.what.size()));
  if (!from.details) return;
  const auto& details = *from.details;
  if (details.aggregate) put(*details.aggregate, *to.mutable_aggregate());
  if (details.expected) put(*details.expected, *to.mutable_expected());
  if (details.actual) to.set_actual(details.actual->value);
  if (details.condition) to.set_condition(*details.condition);
  if (details.position) to.set_position(details.position->value);
  if (details.shard) to.set_shard(details.shard->value);
  if (details.offset) to.set_offset(details.offset->value);
  to.set_lasting(details.lasting);
}

void put(const ReadOptions& from, pb::ReadOptions& to) {
  to.set_after(from.after.value);
  if (from.before) to.set_before(from.before->value);
  if (from.up_to) to.set_up_to(from.up_to->value);
  if (from.limit) to.set_limit(*from.limit);
  to.set_direction(static_cast<pb::Direction>(from.direction));
  if (from.at_least) to.set_at_least(from.at_least->value);
  if (from.per_aggregate) to.set_per_aggregate(*from.per_aggregate);
  if (from.per_aggregate_from) to.set_per_aggregate_from(from.per_aggregate_from->value);
}

void put(const StreamOptions& from, pb::StreamOptions& to) {
  if (from.from) to.set_from(from.from->value);
  if (from.limit) to.set_limit(*from.limit);
  to.set_direction(static_cast<pb::Direction>(from.direction));
  if (from.up_to) to.set_up_to(from.up_to->value);
}

void put(const Page& from, pb::Page& to) {
  for (const auto& event : from.events) put(event, *to.add_events());
  to.set_watermark(from.watermark.value);
  to.set_complete(from.complete);
}

// ---- messages into values: strings are moved out of the message, an error says in which field it is

static Refused wrong(const char* field, const std::string& how) {
  return refuse(ErrorCode::invalid_argument, std::string(field) + ": " + how);
}

/// Puts the field before what is wrong inside of it: `aggregate: ...` becomes `events[2].aggregate: ...`.
static Result<void> inside(const char* field, Result<void> result) {
  if (!result) result.error().what = std::string(field) + "." + result.error().what;
  return result;
}
static Result<void> inside(const char* field, int index, Result<void> result) {
  if (result) return result;
  return inside((std::string(field) + "[" + std::to_string(index) + "]").c_str(), std::move(result));
}

template <class Enum>
Result<void> get_enum(const char* field, int number, Enum last, Enum& to) {
  if (number < 0 || number > static_cast<int>(last))
    return wrong(field, "unknown enumerator " + std::to_string(number));
  to = static_cast<Enum>(number);
  return {};
}

static Result<void> get_aggregate(const char* field, pb::AggregateId& from, AggregateId& to) {
  to.type = std::move(*from.mutable_type());
  to.value = std::move(*from.mutable_value());
  if (auto ok = AggregateId::check(to); !ok) return wrong(field, ok.error().what);
  return {};
}

template <class Message>
Result<void> get_required_aggregate(Message& from, AggregateId& to) {
  if (!from.has_aggregate()) return wrong("aggregate", "is missing");
  return get_aggregate("aggregate", *from.mutable_aggregate(), to);
}

template <class Message>
Result<void> get_optional_aggregate(Message& from, std::optional<AggregateId>& to) {
  if (!from.has_aggregate()) return {};
  return get_aggregate("aggregate", *from.mutable_aggregate(), to.emplace());
}

template <class Messages>
Result<void> get_aggregates(const char* field, Messages& from, std::vector<AggregateId>& to) {
  to.resize(static_cast<std::size_t>(from.size()));
  for (int i = 0; i < from.size(); ++i) {
    auto& id = to[static_cast<std::size_t>(i)];
    id.type = std::move(*from[i].mutable_type());
    id.value = std::move(*from[i].mutable_value());
    if (auto ok = AggregateId::check(id); !ok) {
      return wrong((std::string(field) + "[" + std::to_string(i) + "]").c_str(), ok.error().what);
    }
  }
  return {};
}

template <class Strings>
void get_strings(Strings& from, std::vector<std::string>& to) {
  to.assign(std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

static Result<void> get_id(const char* field, const std::string& from, EventId& to) {
  if (from.size() != to.bytes.size()) {
    return wrong(field, "has " + std::to_string(from.size()) + " bytes, an id has " + std::to_string(to.bytes.size()));
  }
  std::memcpy(to.bytes.data(), from.data(), to.bytes.size());
  return {};
}

static Result<void> get_shard(std::uint32_t from, ShardId& to) {
  if (from > std::numeric_limits<ShardId::rep>::max()) return wrong("shard", std::to_string(from) + " is out of range");
  to = ShardId(static_cast<ShardId::rep>(from));
  return {};
}

/// What events given and events recorded have in common.
template <class Message, class Value>
Result<void> get_event_parts(Message& from, Value& to) {
  if (!from.id().empty()) EVERSHARD_TRY(get_id("id", from.id(), to.id));
  EVERSHARD_TRY(get_optional_aggregate(from, to.aggregate));
  to.type = std::move(*from.mutable_type());
  get_strings(*from.mutable_tags(), to.tags);
  EVERSHARD_TRY(get_aggregates("also", *from.mutable_also(), to.also));
  to.payload = std::move(*from.mutable_payload());
  to.format = PayloadFormat{from.payload_format()};
  if (from.has_metadata()) to.metadata = std::move(*from.mutable_metadata());
  to.subject = std::move(*from.mutable_subject());
  return {};
}

Result<void> get(pb::Event& from, Event& to) {
  EVERSHARD_TRY(get_event_parts(from, to));
  if (from.has_occurred_at_us()) to.occurred_at = Timestamp{from.occurred_at_us()};
  EVERSHARD_TRY(get_enum("state", from.state(), EventState::erased, to.state));
  if (to.state == EventState::erased ? !to.type.empty() : !from.erased_type().empty())
    return wrong("erased_type", "is the type of an erased event, and of no other");
  if (to.state == EventState::erased) to.type = std::move(*from.mutable_erased_type());
  return {};
}

Result<void> get(pb::RecordedEvent& from, RecordedEvent& to) {
  EVERSHARD_TRY(get_event_parts(from, to));
  to.position = GlobalPosition(from.position());
  EVERSHARD_TRY(get_shard(from.shard(), to.shard));
  to.offset = ShardOffset(from.offset());
  to.seq_nr = SeqNr(from.seq_nr());
  to.occurred_at = Timestamp{from.occurred_at_us()};
  to.append_index = from.append_index();
  to.append_events = std::max(from.append_events(), 1u);
  return get_enum("state", from.state(), EventState::erased, to.state);
}

Result<void> get(pb::Query& from, Query& to) {
  if (from.all()) {
    if (from.items_size() != 0)
      return wrong("items", "a query for all has none, this one has " + std::to_string(from.items_size()));
    to = Query::all();
    return {};
  }
  std::vector<QueryItem> items(static_cast<std::size_t>(from.items_size()));
  for (int i = 0; i < from.items_size(); ++i) {
    auto& message = *from.mutable_items(i);
    auto& item = items[static_cast<std::size_t>(i)];
    get_strings(*message.mutable_types(), item.types);
    get_strings(*message.mutable_tags(), item.tags);
    EVERSHARD_TRY(inside("items", i, get_aggregates("concerning", *message.mutable_concerning(), item.concerning)));
  }
  to = Query::of(std::move(items));
  return {};
}

Result<void> get(const pb::ExpectedVersion& from, ExpectedVersion& to) {
  if (from.kind() != pb::ExpectedVersion::KIND_EXACTLY && from.number() != 0) {
    return wrong("number", std::to_string(from.number()) + " is given, and the kind is not `exactly`");
  }
  switch (from.kind()) {
    case pb::ExpectedVersion::KIND_ANY:
      to = ExpectedVersion::any();
      return {};
    case pb::ExpectedVersion::KIND_NONE:
      to = ExpectedVersion::none();
      return {};
    case pb::ExpectedVersion::KIND_EXISTS:
      to = ExpectedVersion::exists();
      return {};
    case pb::ExpectedVersion::KIND_EXACTLY:
      to = ExpectedVersion::exactly(from.number());
      return {};
    default:
      return wrong("kind", "unknown enumerator " + std::to_string(from.kind()));
  }
}

template <class Message, class Value>
void get_payload(Message& from, Value& to) {
  to.payload = std::move(*from.mutable_payload());
  to.format = PayloadFormat{from.payload_format()};
  to.subject = std::move(*from.mutable_subject());
}

Result<void> get(pb::Snapshot& from, Snapshot& to) {
  EVERSHARD_TRY(get_required_aggregate(from, to.aggregate));
  to.version = SeqNr(from.version());
  get_payload(from, to);
  to.schema_revision = from.schema_revision();
  if (from.has_keep()) to.keep = from.keep();
  if (from.has_ttl_s()) to.ttl = std::chrono::seconds(from.ttl_s());
  return {};
}

Result<void> get(pb::RecordedSnapshot& from, RecordedSnapshot& to) {
  EVERSHARD_TRY(get_required_aggregate(from, to.aggregate));
  to.version = SeqNr(from.version());
  to.position = GlobalPosition(from.position());
  get_payload(from, to);
  to.schema_revision = from.schema_revision();
  to.taken_at = Timestamp{from.taken_at_us()};
  if (from.has_expires_at_us()) to.expires_at = Timestamp{from.expires_at_us()};
  to.latest = from.latest();
  return {};
}

Result<void> get(pb::Expectation& from, Expectation& to) {
  EVERSHARD_TRY(get_required_aggregate(from, to.aggregate));
  if (!from.has_version()) return wrong("version", "is missing");
  return inside("version", get(from.version(), to.version));
}

Result<void> get(pb::AppendCondition& from, AppendCondition& to) {
  if (!from.has_query()) return wrong("query", "is missing");
  to.after = GlobalPosition(from.after());
  return inside("query", get(*from.mutable_query(), to.query));
}

Result<void> get(pb::CommandRecord& from, CommandRecord& to) {
  EVERSHARD_TRY(get_required_aggregate(from, to.aggregate));
  to.id = std::move(*from.mutable_id());
  to.reply = std::move(*from.mutable_reply());
  return {};
}

Result<void> get(pb::AggregateVersion& from, AggregateVersion& to) {
  to.version = SeqNr(from.version());
  return get_required_aggregate(from, to.aggregate);
}

template <class Messages, class Value>
Result<void> get_each(const char* field, Messages& from, std::vector<Value>& to) {
  to.resize(static_cast<std::size_t>(from.size()));
  for (int i = 0; i < from.size(); ++i) EVERSHARD_TRY(inside(field, i, get(from[i], to[static_cast<std::size_t>(i)])));
  return {};
}

Result<void> get(pb::AppendRequest& from, Append& to) {
  if (!from.request_id().empty()) EVERSHARD_TRY(get_id("request_id", from.request_id(), to.request_id.emplace()));
  EVERSHARD_TRY(get_each("events", *from.mutable_events(), to.events));
  EVERSHARD_TRY(get_each("expectations", *from.mutable_expectations(), to.expectations));
  EVERSHARD_TRY(get_each("conditions", *from.mutable_conditions(), to.conditions));
  EVERSHARD_TRY(get_each("snapshots", *from.mutable_snapshots(), to.snapshots));
  if (from.has_command()) EVERSHARD_TRY(inside("command", get(*from.mutable_command(), to.command.emplace())));
  to.from_export = from.from_export();
  return get_enum("ack", from.ack(), Ack::durable, to.ack);
}

Result<void> get(pb::AppendResponse& from, Appended& to) {
  to.first_position = GlobalPosition(from.first_position());
  to.last_position = GlobalPosition(from.last_position());
  to.duplicate = from.duplicate();
  return get_each("versions", *from.mutable_versions(), to.versions);
}

Result<void> get(pb::Error& from, Error& to) {
  if (from.code() == pb::ERROR_CODE_UNSPECIFIED) return wrong("code", "is missing");
  EVERSHARD_TRY(get_enum("code", from.code(), error_code_last, to.code));
  to.what = std::move(*from.mutable_message());

  ErrorDetails details;
  EVERSHARD_TRY(get_optional_aggregate(from, details.aggregate));
  if (from.has_expected()) EVERSHARD_TRY(inside("expected", get(from.expected(), details.expected.emplace())));
  if (from.has_actual()) details.actual = SeqNr(from.actual());
  if (from.has_condition()) details.condition = from.condition();
  if (from.has_position()) details.position = GlobalPosition(from.position());
  if (from.has_shard()) EVERSHARD_TRY(get_shard(from.shard(), details.shard.emplace()));
  if (from.has_offset()) details.offset = ShardOffset(from.offset());
  details.lasting = from.lasting();
  if (details != ErrorDetails{}) to.details = std::make_shared<const ErrorDetails>(std::move(details));
  return {};
}

Result<void> get(pb::ReadOptions& from, ReadOptions& to) {
  to.after = GlobalPosition(from.after());
  if (from.has_before()) to.before = GlobalPosition(from.before());
  if (from.has_up_to()) to.up_to = GlobalPosition(from.up_to());
  if (from.has_limit()) to.limit = from.limit();
  if (from.has_at_least()) to.at_least = GlobalPosition(from.at_least());
  if (from.has_per_aggregate()) to.per_aggregate = from.per_aggregate();
  if (from.has_per_aggregate_from()) to.per_aggregate_from = GlobalPosition(from.per_aggregate_from());
  return get_enum("direction", from.direction(), Direction::backwards, to.direction);
}

Result<void> get(pb::StreamOptions& from, StreamOptions& to) {
  if (from.has_from()) to.from = SeqNr(from.from());
  if (from.has_limit()) to.limit = from.limit();
  if (from.has_up_to()) to.up_to = GlobalPosition(from.up_to());
  return get_enum("direction", from.direction(), Direction::backwards, to.direction);
}

Result<void> get(pb::Page& from, Page& to) {
  to.watermark = GlobalPosition(from.watermark());
  to.complete = from.complete();
  return get_each("events", *from.mutable_events(), to.events);
}

}  // namespace evershard::messages
