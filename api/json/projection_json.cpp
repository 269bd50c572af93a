#include "evershard/api/json/projection_json.hpp"

#include <algorithm>

#include "evershard/api/json/event_json.hpp"

namespace evershard {
namespace {

void write_event_if(JsonText& json, const std::optional<RecordedEvent>& event, const PayloadTypes& types) {
  if (!event) return;
  json.key("event");
  write_event(json, *event, types);
}

/// The least of both positions, and the state that most wants to be looked at.
void add_part(ProjectionVersion& to, const ProjectionVersion& part) {
  const auto weight = [](const std::string& state) {
    return state == "failed" ? 4 : state == "waiting" ? 3 : state == "paused" ? 2 : state == "building" ? 1 : 0;
  };
  if (weight(part.state) > weight(to.state)) to.state = part.state;
  to.position = std::min(to.position, part.position);
  to.lag = std::max(to.lag, part.lag);
  to.events += part.events;
  to.errors += part.errors;
  to.complete = to.complete && part.complete;
  to.serving = to.serving && part.serving;
  if (part.error && !to.error) {
    to.error = part.error;
    to.failed_at = part.failed_at;
  }
  for (const auto& [name, value] : part.figures) {
    const auto sum = std::ranges::find(to.figures, name, &std::pair<std::string, std::uint64_t>::first);
    if (sum == to.figures.end())
      to.figures.emplace_back(name, value);
    else
      sum->second += value;
  }
}

}  // namespace

void write_projection(JsonText& json, const ProjectionInfo& info) {
  json.begin_object().key("name").string(info.name).key("kind").string(info.kind).key("spec").raw(
      info.spec.empty() ? "null" : info.spec);
  json.key("last")
      .number(info.last.value)
      .key("paused")
      .boolean(info.paused)
      .key("watermark")
      .number(info.watermark.value);
  json.key("versions").begin_array();
  for (const auto& version : info.versions) {
    json.begin_object();
    if (version.part) json.key("part").number(*version.part);
    if (version.home != 0) json.key("home").number(version.home);
    json.key("version")
        .number(version.version.value)
        .key("rows")
        .number(version.rows.value)
        .key("state")
        .string(version.state);
    json.key("complete").boolean(version.complete).key("serving").boolean(version.serving);
    json.key("position")
        .number(version.position.value)
        .key("lag")
        .number(version.lag)
        .key("events")
        .number(version.events)
        .key("errors")
        .number(version.errors);
    if (version.error) {
      json.key("error")
          .begin_object()
          .key("code")
          .string(name_of(version.error->code))
          .key("message")
          .string(version.error->what);
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

std::optional<ProjectionVersion> shown_version(const ProjectionInfo& info) {
  if (info.versions.empty()) return std::nullopt;
  const bool any_serves = std::ranges::any_of(info.versions, &ProjectionVersion::serving);
  const auto is_shown = [&](const ProjectionVersion& one) {
    return any_serves && !info.versions.back().part ? one.serving : one.rows == info.versions.back().rows;
  };
  std::optional<ProjectionVersion> shown;
  for (const auto& one : info.versions) {
    if (!is_shown(one)) continue;
    if (!shown)
      shown = one;
    else if (one.part)
      add_part(*shown, one);
  }
  return shown;
}

}  // namespace evershard
