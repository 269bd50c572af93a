#include "evershard/api/json/scheduled_json.hpp"

#include <utility>

#include "evershard/api/json/append_json.hpp"
#include "evershard/api/json/json_value.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/quantity.hpp"

namespace evershard {

Result<ScheduleOrder> read_schedule(std::string_view text) {
  auto root = JsonValue::parse(text);
  if (!root) return refuse(std::move(root).error());
  if (root->kind() != JsonValue::Kind::object) return root->wrong("must be an object: when, and an append");
  ScheduleOrder order;
  bool appends = false;
  EVERSHARD_TRY(root->for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (key == "append") {
      auto line = read_append(value.raw(), LineRules::append);
      if (!line) return refuse(std::move(line).error());
      order.append = std::move(line->append);
      appends = true;
      return {};
    }
    if (key == "replace") {
      if (value.kind() != JsonValue::Kind::boolean) return value.wrong("must be true or false");
      order.replace = value.raw() == "true";
      return {};
    }
    if (key != "id" && key != "due" && key != "after")
      return root->unknown_key(key, {"id", "due", "after", "append", "replace"});
    auto word = value.string();
    if (!word) return refuse(std::move(word).error());
    if (key == "id") {
      order.id = *std::move(word);
      return order.id.empty() ? value.wrong("is empty: leave it out, and one is made") : Result<void>{};
    }
    if (key == "due") {
      order.due = Timestamp::parse(*word);
      if (!order.due) return value.wrong(in_quotes(*word) + " is no time such as 2026-01-31T12:00:00Z");
      return {};
    }
    const auto after = duration_from(*word, value.path(), {.most = scheduled_after_most});
    if (!after) return refuse(after.error());
    order.after = *after;
    return {};
  }));
  if (!appends) return root->wrong("append is missing");
  return order;
}

void write_scheduled(JsonText& json, const ScheduledAppend& scheduled) {
  json.begin_object().key("id").string(scheduled.id).key("state").string(name_of(scheduled.state));
  if (scheduled.append) json.key("due").string(scheduled.due.text());
  json.key("scheduled_at").string(scheduled.scheduled_at.text()).key("position").number(scheduled.position.value);
  if (scheduled.settled_at) json.key("settled_at").string(scheduled.settled_at->text());
  if (scheduled.state == ScheduledState::appended)
    json.key("first_position")
        .number(scheduled.first_position.value)
        .key("last_position")
        .number(scheduled.last_position.value);
  if (scheduled.refusal) {
    json.key("error").begin_object();
    write_error_members(json, *scheduled.refusal, std::nullopt);
    json.end_object();
  }
  if (scheduled.append) {
    json.key("append");
    write_append(json, *scheduled.append);
  }
  if (scheduled.duplicate) json.key("duplicate").boolean(true);
  json.end_object();
}

void write_scheduled_page(JsonText& json, const ScheduledPage& page) {
  json.begin_object().key("scheduled").begin_array();
  for (const auto& scheduled : page.scheduled) write_scheduled(json, scheduled);
  json.end_array().key("next");
  if (page.next)
    json.string(*page.next);
  else
    json.raw("null");
  json.end_object();
}

}  // namespace evershard
