#include "evershard/api/json/hosted_json.hpp"

#include "evershard/protocol/base64.hpp"

namespace evershard {
namespace {

void write_hosted_type(JsonText& json, const HostedType& type) {
  json.begin_object().key("payload_format").number(static_cast<std::uint64_t>(type.format)).key("message");
  if (type.message.empty())
    json.raw("null");
  else
    json.string(type.message);
  json.end_object();
}

void write_hosted_command(JsonText& json, const HostedCommand& command) {
  json.begin_object().key("name").string(command.name).key("type");
  write_hosted_type(json, command.type);
  json.key("reply");
  if (command.replies)
    write_hosted_type(json, command.reply);
  else
    json.raw("null");
  json.key("query").boolean(command.query).end_object();
}

}  // namespace

void write_hosted_kinds(JsonText& json, const HostedKinds& kinds, Descriptors descriptors) {
  json.begin_object().key("kinds").begin_array();
  for (const auto& kind : kinds.kinds) {
    json.begin_object().key("type").string(kind.type).key("state");
    write_hosted_type(json, kind.state);
    json.key("commands").begin_array();
    for (const auto& command : kind.commands) write_hosted_command(json, command);
    json.end_array().key("events").begin_array();
    for (const auto& event : kind.events) {
      json.begin_object().key("name").string(event.name).key("type");
      write_hosted_type(json, event.type);
      json.key("old").boolean(event.old).end_object();
    }
    json.end_array().end_object();
  }
  json.end_array();
  if (descriptors == Descriptors::base64) json.key("descriptors").string(to_base64(kinds.descriptors));
  json.end_object();
}

}  // namespace evershard
