#include "evershard/services/copy/copy_checkpoint.hpp"

#include "evershard/api/json/json_text.hpp"
#include "evershard/api/json/json_value.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cluster {
namespace {

void write_name(JsonText& json, const StoreName& name) {
  json.begin_object().key("store_id").string(name.store_id).key("fork_id").string(name.fork_id).end_object();
}

Result<void> read_text(const JsonValue& from, std::string& to) {
  auto text = from.string();
  if (!text) return refuse(std::move(text).error());
  to = *std::move(text);
  return {};
}

Result<void> read_count(const JsonValue& from, std::uint64_t& to) {
  auto number = from.number();
  if (!number) return refuse(std::move(number).error());
  to = *number;
  return {};
}

Result<void> read_id(const JsonValue& from, EventId& to) {
  std::string text;
  EVERSHARD_TRY(read_text(from, text));
  const auto id = EventId::parse(text);
  if (!id) return from.wrong("it is no id of an event");
  to = *id;
  return {};
}

Result<void> read_name(const JsonValue& from, StoreName& to) {
  return from.for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (key == "store_id") return read_text(value, to.store_id);
    if (key == "fork_id") return read_text(value, to.fork_id);
    return from.unknown_key(key, {"store_id", "fork_id"});
  });
}

Result<CopyCheckpoint> read_members(const JsonValue& root) {
  CopyCheckpoint to;
  int known = 0;
  EVERSHARD_TRY(root.for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    ++known;
    if (key == "source") return read_name(value, to.source);
    if (key == "target") return read_name(value, to.target);
    if (key == "filter") return to.filter = value.raw(), Result<void>{};
    if (key == "position") return read_count(value, to.position.value);
    if (key == "target_position") return read_count(value, to.target_position.value);
    if (key == "events") return read_count(value, to.events);
    if (key == "gone") return read_count(value, to.gone);
    --known;  // these two may be absent
    if (key == "event") return read_id(value, to.event);
    if (key == "target_event") return read_id(value, to.target_event);
    return root.unknown_key(
        key, {"source", "target", "filter", "position", "target_position", "events", "gone", "event", "target_event"});
  }));
  if (known != 7) return root.wrong("a part is missing");
  return to;
}

constexpr const char* way_out = "; --restart reads it from its first event again, and knows what is there by its id";

Result<void> check_fork(const char* which, const StoreName& was, const StoreName& is) {
  if (was == is) return {};
  return refuse(ErrorCode::invalid_argument, std::string("the ") + which + " was restored, or is a clone: store " +
                                                 is.store_id + " is fork " + is.fork_id +
                                                 " now, the checkpoint is of fork " + was.fork_id + way_out);
}

Result<void> check_reaches(const char* which, GlobalPosition was, GlobalPosition is) {
  if (was <= is) return {};
  return refuse(ErrorCode::unavailable, std::string("the ") + which + " ends at position " + std::to_string(is.value) +
                                            ", the copy had it up to " + std::to_string(was.value));
}

/// Where the position and the fork are as they were.
Result<void> check_event(const char* which, GlobalPosition position, const EventId& event, const CopySide& side) {
  if (!event.given() || !side.standing) return {};
  KeptPlace place(side.name.fork_id);
  place.add({position, event});
  const auto settled = place.settle(position, side.name.fork_id, side.head, side.standing);
  if (!settled) return refuse(settled.error());
  if (settled->stands) return {};
  return refuse(ErrorCode::invalid_argument, std::string("the ") + which +
                                                 " was put back to an earlier moment and "
                                                 "went another way: another event stands at position " +
                                                 std::to_string(position.value) + way_out);
}

}  // namespace

std::string to_json(const CopyCheckpoint& checkpoint) {
  JsonText json;
  json.begin_object().key("source");
  write_name(json, checkpoint.source);
  json.key("target");
  write_name(json, checkpoint.target);
  json.key("filter")
      .raw(checkpoint.filter)
      .key("position")
      .number(checkpoint.position.value)
      .key("target_position")
      .number(checkpoint.target_position.value);
  json.key("events").number(checkpoint.events).key("gone").number(checkpoint.gone);
  if (checkpoint.event.given()) json.key("event").string(checkpoint.event.text());
  if (checkpoint.target_event.given()) json.key("target_event").string(checkpoint.target_event.text());
  json.end_object();
  return json.take();
}

Result<CopyCheckpoint> read_copy_checkpoint(std::string_view json) {
  auto root = JsonValue::parse(json);
  auto read = root ? read_members(*root) : Result<CopyCheckpoint>(refuse(std::move(root).error()));
  if (!read) return refuse(ErrorCode::corruption, "the copy's checkpoint cannot be read: " + read.error().what);
  return read;
}

Result<void> check_begin(const CopySide& source, const CopySide& target) {
  if (source.name != target.name) return {};
  return refuse(ErrorCode::invalid_argument, "source and target are the same store, " + source.name.store_id);
}

Result<void> check_resume(const CopyCheckpoint& checkpoint, std::string_view filter, const CopySide& source,
                          const CopySide& target) {
  if (checkpoint.source.store_id != source.name.store_id) {
    return refuse(ErrorCode::invalid_argument, "this copy is one of store " + checkpoint.source.store_id +
                                                   ", the source is store " + source.name.store_id +
                                                   "; another --name begins another copy");
  }
  if (checkpoint.filter != filter) {
    return refuse(ErrorCode::invalid_argument, "this copy takes " + in_quotes(checkpoint.filter, 300) + ", not " +
                                                   in_quotes(filter, 300) + "; another --name begins another copy");
  }
  EVERSHARD_TRY(check_fork("source", checkpoint.source, source.name));
  EVERSHARD_TRY(check_fork("target", checkpoint.target, target.name));
  EVERSHARD_TRY(check_reaches("source", checkpoint.position, source.head));
  EVERSHARD_TRY(check_reaches("target", checkpoint.target_position, target.head));
  EVERSHARD_TRY(check_event("source", checkpoint.position, checkpoint.event, source));
  return check_event("target", checkpoint.target_position, checkpoint.target_event, target);
}

}  // namespace evershard::cluster
