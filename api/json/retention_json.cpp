#include "evershard/api/json/retention_json.hpp"

namespace evershard {

void write_retention_policy(JsonText& json, const RetentionPolicy& policy) {
  json.begin_object()
      .key("name")
      .string(policy.name)
      .key("kind")
      .string(name_of(policy.kind))
      .key("type")
      .string(policy.type);
  json.key("keep_seconds")
      .number(static_cast<std::uint64_t>(policy.keep.count()))
      .key("uncovered")
      .boolean(policy.uncovered)
      .end_object();
}

void write_retention_entry(JsonText& json, const RetentionEntry& entry) {
  json.begin_object()
      .key("number")
      .number(entry.number.value)
      .key("position")
      .number(entry.position.value)
      .key("at")
      .string(entry.at.text());
  json.key("what").string(entry.what).key("says").raw(entry.json.empty() ? "null" : entry.json).end_object();
}

}  // namespace evershard
