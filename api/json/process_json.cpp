#include "evershard/api/json/process_json.hpp"

#include <array>
#include <utility>

#include "evershard/api/json/event_json.hpp"
#include "evershard/api/json/json_value.hpp"
#include "evershard/protocol/base64.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/quantity.hpp"

namespace evershard {
namespace {

using Action = ProcessControl::Action;

constexpr std::array<std::pair<Action, std::string_view>, 5> actions{{{Action::stop, "stop"},
                                                                      {Action::resume, "resume"},
                                                                      {Action::retry, "retry"},
                                                                      {Action::skip, "skip"},
                                                                      {Action::replay, "replay"}}};

bool has_item(Action action) { return action == Action::skip || action == Action::replay; }

void write_failures(JsonText& json, const std::vector<ProcessFailing>& failures, bool instances) {
  json.key("failures").begin_array();
  for (const auto& failing : failures) {
    json.begin_object();
    if (instances) json.key("instance").string(failing.instance);
    json.key("item").string(failing.place.text()).key("type").string(failing.type);
    json.key("attempts").number(failing.attempts).key("why").string(failing.why).end_object();
  }
  json.end_array();
}

}  // namespace

void write_process(JsonText& json, const ProcessInfo& info) {
  const auto& state = info.state;
  const auto& figures = state.figures;
  json.begin_object().key("name").string(info.name).key("position").number(state.position.value);
  json.key("head").number(info.head.value).key("lag").number(info.lag()).key("stopped").boolean(state.stopped);
  json.key("running").boolean(info.running).key("stopped_instances").begin_array();
  for (const auto& instance : state.stopped_instances) json.string(instance);
  json.end_array();
  for (const auto& [name, figure] : {std::pair("waiting", figures.waiting),
                                     {"failing", figures.failing},
                                     {"reacted", figures.reacted},
                                     {"sent", figures.sent},
                                     {"rejected", figures.rejected},
                                     {"performed", figures.performed},
                                     {"given_up", figures.given_up},
                                     {"failed", figures.failed},
                                     {"damaged", figures.damaged}})
    json.key(name).number(figure);
  write_failures(json, state.failures, true);
  json.key("skipped").begin_array();
  for (const auto& place : state.skipped) json.string(place.text());
  json.end_array().key("replays").begin_array();
  for (const auto& replay : state.replays) json.string(replay.effect.text());
  json.end_array();
  if (!state.trouble.empty()) json.key("trouble").string(state.trouble);
  if (!state.runs_at.empty()) json.key("runs_at").string(state.runs_at);
  json.key("taken_at").string(info.taken_at.text());
  if (info.said_at) json.key("said_at").string(info.said_at->text());
  json.end_object();
}

void write_process_instance(JsonText& json, const ProcessInstance& instance) {
  json.begin_object().key("instance").string(instance.instance).key("version").number(instance.version.value);
  json.key("last_position").number(instance.last_position.value).key("stopped").boolean(instance.stopped);
  write_failures(json, instance.failures, false);
  json.end_object();
}

void write_parked_effect(JsonText& json, const ParkedEffect& effect) {
  json.begin_object().key("instance").string(effect.instance).key("item").string(effect.place.text());
  json.key("type").string(effect.type).key("reason").string(effect.reason);
  json.key("parked_at").string(effect.parked_at.text()).key("replaying").boolean(effect.replaying).end_object();
}

void write_pending_timer(JsonText& json, const PendingTimer& pending) {
  const auto& timer = pending.timer;
  json.begin_object().key("aggregate").string(pending.aggregate.text()).key("name").string(timer.name);
  json.key("due").string(pending.due.text()).key("command").string(timer.command);
  if (shown_as_json(timer.payload, PayloadFormat::unspecified))
    json.key("payload").raw(timer.payload);
  else if (!timer.payload.empty())
    json.key("payload").string(to_base64(timer.payload)).key("payload_encoding").string("base64");
  if (timer.every.count() != 0)
    json.key("every").string(text_of_duration(std::chrono::duration_cast<std::chrono::milliseconds>(timer.every)));
  if (timer.calendar) json.key("calendar").string(timer.calendar->times).key("zone").string(timer.calendar->zone);
  json.key("set_at").number(pending.set_at.value).end_object();
}

std::string_view name_of(Action action) {
  for (const auto& [known, name] : actions)
    if (known == action) return name;
  return "unknown";
}

Result<ProcessControl> process_control_of(std::string_view action, std::string instance, std::string_view item) {
  for (const auto& [known, name] : actions) {
    if (name != action) continue;
    ProcessControl control{known};
    if (has_item(known) != !item.empty())
      return refuse(ErrorCode::invalid_argument,
                    std::string(name) + (item.empty() ? " needs an item" : " has no item"));
    if (has_item(known) && !instance.empty())
      return refuse(ErrorCode::invalid_argument, std::string(name) + " has no instance: the item says which it is");
    if (!item.empty()) {
      const auto place = ProcessPlace::parse(item);
      if (!place) return refuse(place.error());
      control.place = *place;
    }
    control.instance = std::move(instance);
    return control;
  }
  return refuse(ErrorCode::invalid_argument,
                in_quotes(std::string(action)) + " is none of stop, resume, retry, skip and replay");
}

Result<ProcessControl> read_process_control(std::string_view text) {
  auto root = JsonValue::parse(text);
  if (!root) return refuse(std::move(root).error());
  if (root->kind() != JsonValue::Kind::object) return root->wrong("must be an object");
  std::string action, instance, item;
  EVERSHARD_TRY(root->for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    auto* const to = key == "action" ? &action : key == "instance" ? &instance : key == "item" ? &item : nullptr;
    if (to == nullptr) return root->unknown_key(key, {"action", "instance", "item"});
    auto word = value.string();
    if (!word) return refuse(std::move(word).error());
    *to = *std::move(word);
    return to->empty() ? value.wrong("is empty") : Result<void>{};
  }));
  return process_control_of(action, std::move(instance), item);
}

}  // namespace evershard
