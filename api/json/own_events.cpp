#include "evershard/api/json/own_events.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "evershard/api/json/event_json.hpp"
#include "evershard/api/json/json_text.hpp"
#include "evershard/protocol/base64.hpp"
#include "evershard/protocol/prepared.hpp"
#include "evershard/protocol/processes.hpp"
#include "evershard/protocol/scheduled.hpp"
#include "evershard/protocol/timers.hpp"
#include "evershard/protocol/utf8.hpp"
#include "evershard/v1/prepared.pb.h"
#include "evershard/v1/processes.pb.h"
#include "evershard/v1/scheduled.pb.h"
#include "evershard/v1/timers.pb.h"

namespace evershard {
namespace {

namespace pb = google::protobuf;
using Field = pb::FieldDescriptor;

const pb::Message* message_of_own(std::string_view type) {
  if (type == process_reacted_type) return &v1::ProcessReacted::default_instance();
  if (type == process_controlled_type) return &v1::ProcessControl::default_instance();
  if (type == timers_changed_type) return &v1::TimersChanged::default_instance();
  if (type == command_prepared_type) return &v1::CommandPrepared::default_instance();
  if (type == append_scheduled_type) return &v1::StoredSchedule::default_instance();
  if (type == schedule_settled_type) return &v1::StoredSettlement::default_instance();
  return nullptr;
}

/// Names of types, reasons, ids of aggregates: bytes to the protocol, since they are compared as such.
bool is_text(std::string_view bytes) {
  return is_utf8(bytes) && std::ranges::none_of(bytes, [](char c) { return static_cast<unsigned char>(c) < 0x20; });
}

void write_own_message(JsonText& json, const pb::Message& message);

void write_own_bytes(JsonText& json, const std::string& name, const std::string& bytes) {
  static constexpr std::string_view given[] = {"payload", "answer", "question"};  // what users gave
  const bool users = std::ranges::find(given, name) != std::end(given);
  if (users && stands_in_a_line(bytes))
    json.key(name).raw(bytes);
  else if (!users && is_text(bytes))
    json.key(name).string(bytes);
  else
    json.key(name).string(to_base64(bytes)).key(name + "_encoding").string("base64");
}

/// One value, or one of a list: `at` < 0: no list.
void write_own_value(JsonText& json, const pb::Message& message, const Field& field, int at) {
  const auto& reflection = *message.GetReflection();
  const bool one = at < 0;
  switch (field.cpp_type()) {
    case Field::CPPTYPE_MESSAGE:
      return write_own_message(
          json, one ? reflection.GetMessage(message, &field) : reflection.GetRepeatedMessage(message, &field, at));
    case Field::CPPTYPE_ENUM: {
      const auto& value =
          *(one ? reflection.GetEnum(message, &field) : reflection.GetRepeatedEnum(message, &field, at));
      // CAUSE_NOT_PERFORMED of the enum Cause: not_performed.
      std::string name = value.name();
      std::ranges::transform(name, name.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
      std::string prefix;
      for (const char c : field.enum_type()->name()) {
        if (c >= 'A' && c <= 'Z') prefix += prefix.empty() ? "" : "_";
        prefix += c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
      }
      if (name.starts_with(prefix + "_")) name.erase(0, prefix.size() + 1);
      json.string(name);
      return;
    }
    case Field::CPPTYPE_BOOL:
      json.boolean(one ? reflection.GetBool(message, &field) : reflection.GetRepeatedBool(message, &field, at));
      return;
    case Field::CPPTYPE_UINT64:
      json.number(one ? reflection.GetUInt64(message, &field) : reflection.GetRepeatedUInt64(message, &field, at));
      return;
    case Field::CPPTYPE_UINT32:
      json.number(one ? reflection.GetUInt32(message, &field) : reflection.GetRepeatedUInt32(message, &field, at));
      return;
    case Field::CPPTYPE_INT64:
      json.raw(std::to_string(one ? reflection.GetInt64(message, &field)
                                  : reflection.GetRepeatedInt64(message, &field, at)));
      return;
    case Field::CPPTYPE_INT32:
      json.raw(std::to_string(one ? reflection.GetInt32(message, &field)
                                  : reflection.GetRepeatedInt32(message, &field, at)));
      return;
    case Field::CPPTYPE_STRING: {
      const auto text = one ? reflection.GetString(message, &field) : reflection.GetRepeatedString(message, &field, at);
      json.string(is_text(text) ? text : to_base64(text));
      return;
    }
    case Field::CPPTYPE_DOUBLE:
    case Field::CPPTYPE_FLOAT:
      break;  // there are none
  }
  json.raw("null");
}

/// As everywhere in our JSON: what is empty, or 0, is absent.
void write_own_message(JsonText& json, const pb::Message& message) {
  json.begin_object();
  std::vector<const Field*> fields;
  message.GetReflection()->ListFields(message, &fields);
  for (const auto* field : fields) {
    const std::string name(field->name());
    if (field->is_repeated()) {
      json.key(name).begin_array();
      for (int i = 0; i < message.GetReflection()->FieldSize(message, field); ++i)
        write_own_value(json, message, *field, i);
      json.end_array();
    } else if (field->type() == Field::TYPE_BYTES) {
      write_own_bytes(json, name, message.GetReflection()->GetString(message, field));
    } else {
      json.key(name);
      write_own_value(json, message, *field, -1);
    }
  }
  json.end_object();
}

/// These two say what they say without a message: whose they are, and who has come after.
std::optional<ShownMessage> shown_without_message(const RecordedEvent& event) {
  const bool retired = event.type == process_retired_type;
  if ((!retired && event.type != process_taken_type) || !event.aggregate || event.aggregate->type != process_log_type)
    return std::nullopt;
  JsonText json;
  json.begin_object();
  write_own_bytes(json, "process", event.aggregate->value);
  if (retired) write_own_bytes(json, "successor", event.payload);
  json.end_object();
  return ShownMessage{event.type, json.take()};
}

Result<ShownMessage> shown_as(const pb::Message& type, const std::string& bytes, const char* what) {
  const std::unique_ptr<pb::Message> message(type.New());
  const auto name = type.GetDescriptor()->full_name();
  if (!message->ParseFromString(bytes))
    return refuse(ErrorCode::invalid_argument, std::string(what) + " is no " + name);
  JsonText json;
  write_own_message(json, *message);
  return ShownMessage{name, json.take()};
}

}  // namespace

std::optional<Result<ShownMessage>> decoded_own(const RecordedEvent& event) {
  if (event.state != EventState::live || !event.type.starts_with('$')) return std::nullopt;
  if (auto shown = shown_without_message(event)) return *std::move(shown);
  const auto* const type = message_of_own(event.type);
  if (type == nullptr || shown_as_json(event.payload, event.format)) return std::nullopt;
  return shown_as(*type, event.payload, "the payload");
}

std::optional<Result<ShownMessage>> decoded_own(const RecordedSnapshot& snapshot) {
  if (snapshot.aggregate.type != process_log_type || shown_as_json(snapshot.payload, snapshot.format))
    return std::nullopt;
  return shown_as(v1::ProcessCheckpoint::default_instance(), snapshot.payload, "the state");
}

Result<bool> is_of_process(EventStore& store, std::string_view aggregate_type) {
  const auto log = process_log(aggregate_type);
  if (!AggregateId::check(log)) return false;  // no process is called that
  const auto taken = store.aggregate(log);
  if (!taken && taken.error().code != ErrorCode::not_found) return refuse(taken.error());
  return taken.has_value();
}

Result<InstanceState> state_of_instance(std::string_view aggregate_type, std::string_view bytes,
                                        const PayloadTypes& types) {
  const auto instance = decode_process_state(bytes);
  if (!instance) return refuse(instance.error());
  const std::string& state = instance->state;
  std::string line = json_on_one_line(state);
  const bool is_json = stands_in_a_line(line);
  // A message first: its bytes may be JSON by chance.
  const auto& known = types.of_state(aggregate_type);
  if (const auto message = known.message_of_state(aggregate_type)) {
    auto read = known.read(*message, state);
    if (read) return InstanceState{std::move(read->json), *message, false, read->unknown_fields};
    if (!is_json) return refuse(std::move(read).error());
  }
  if (is_json) return InstanceState{std::move(line)};
  JsonText json;
  const bool text = is_utf8(state);
  json.string(text ? state : to_base64(state));
  return InstanceState{json.take(), {}, !text};
}

}  // namespace evershard
