#include "evershard/cluster/exchange/projection_json.hpp"

#include <algorithm>

#include "evershard/cluster/exchange/event_json.hpp"

namespace evershard {
namespace {

void write_event_if(JsonText& json, const std::optional<RecordedEvent>& event, const PayloadTypes& types) {
  if (!event) return;
  json.key("event");
  write_event(json, *event, types);
}

}  // namespace

void write_projection(JsonText& json, const ProjectionInfo& info) {
  json.begin_object().key("name").string(info.name).key("kind").string(info.kind).key("spec").raw(info.spec.empty() ? "null" : info.spec);
  json.key("last").number(info.last.value).key("paused").boolean(info.paused).key("watermark").number(info.watermark.value);
  json.key("versions").begin_array();
  for (const auto& version : info.versions) {
    json.begin_object().key("version").number(version.version.value).key("rows").number(version.rows.value).key("state").string(version.state);
    json.key("complete").boolean(version.complete).key("serving").boolean(version.serving);
    json.key("position").number(version.position.value).key("lag").number(version.lag).key("events").number(version.events).key("errors").number(version.errors);
    if (version.error) {
      json.key("error").begin_object().key("code").string(name_of(version.error->code)).key("message").string(version.error->what);
      if (version.failed_at) json.key("position").number(version.failed_at->value);
      json.end_object();
    }
    if (version.busy_ms) json.key("busy_ms").number(*version.busy_ms);
    json.key("figures").begin_object();
    for (const auto& [name, value] : version.figures) json.key(name).number(value);
    json.end_object().end_object();
  }
  json.end_array().end_object();
}

void write_index_entry(JsonText& json, const IndexEntry& entry, const PayloadTypes& types) {
  json.begin_object().key("number").number(entry.number).key("position").number(entry.position.value);
  write_event_if(json, entry.event, types);
  json.end_object();
}

void write_value_entry(JsonText& json, const ValueEntry& entry, const PayloadTypes& types) {
  json.begin_object().key("value").raw(entry.value).key("position").number(entry.position.value);
  write_event_if(json, entry.event, types);
  json.end_object();
}

const ProjectionVersion* shown_version(const ProjectionInfo& info) {
  const auto serving = std::ranges::find_if(info.versions, &ProjectionVersion::serving);
  if (serving != info.versions.end()) return &*serving;
  return info.versions.empty() ? nullptr : &info.versions.back();
}

}  // namespace evershard
