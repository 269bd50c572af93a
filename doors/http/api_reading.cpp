// Reading one thing: the head, the position at a time, an event, a condition, aggregates, their events and snapshots.

#include <chrono>
#include <utility>

#include "evershard/api/json/event_json.hpp"
#include "evershard/api/json/query_json.hpp"
#include "evershard/doors/http/api.hpp"
#include "evershard/doors/http/read_asked.hpp"
#include "evershard/doors/http/shown.hpp"
#include "evershard/doors/serving/beyond_head.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::http {
namespace {

void write_aggregate(JsonText& json, const AggregateInfo& info) {
  json.begin_object().key("aggregate").string(info.aggregate.text()).key("version").number(info.version.value);
  json.key("last_position").number(info.last_position.value).key("shard").number(info.shard.value).end_object();
}

struct ConditionAsked {
  Query query;
  GlobalPosition after{0};
};

Result<ConditionAsked> condition_of(std::string_view body) {
  auto root = JsonValue::parse(body);
  if (!root) return refuse(std::move(root).error());
  ConditionAsked condition;
  bool asked = false;
  EVERSHARD_TRY(root->for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (key == "after") {
      auto number = value.number();
      if (!number) return refuse(std::move(number).error());
      condition.after = GlobalPosition{*number};
      return {};
    }
    if (key != "query") return root->unknown_key(key, {"query", "after"});
    auto query = read_query(value);
    if (!query) return refuse(std::move(query).error());
    condition.query = *std::move(query);
    asked = true;
    return {};
  }));
  if (!asked) return root->wrong("query is missing");
  return condition;
}

Result<Response> answer_head(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  auto head = api.served.store.head();
  if (!head) return refuse(std::move(head).error());
  return json_response(R"({"head":)" + std::to_string(head->value) + '}');
}

Result<Response> answer_position(Api& api, const Asked& asked) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"at"}));
  const auto text = parameters.text("at");
  if (!text) return refuse(text.error());
  if (!*text) return refuse(ErrorCode::invalid_argument, "at is missing: a time such as 2026-01-31T12:00:00Z");
  const auto at = Timestamp::parse(**text);
  if (!at)
    return refuse(ErrorCode::invalid_argument,
                  "at is " + in_quotes(**text) + ", no time such as 2026-01-31T12:00:00Z; a + in it is written %2B");
  const auto found = api.served.store.position_at(*at);
  if (!found) return refuse(found.error());
  return json_response(R"({"position":)" + std::to_string(found->value) + '}');
}

Result<Response> answer_event(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  const auto position = read_number(asked.argument, "position");
  if (!position) return refuse(position.error());
  auto event = api.served.store.event_at(GlobalPosition{*position});
  if (!event) return refuse(std::move(event).error());
  const auto types = api.types.lease();
  if (!types) return refuse(types.error());
  JsonText json;
  write_event(json, *event, **types);
  api.served.metrics->events_read("http", 1);
  return json_response(json.take());
}

Result<Response> answer_condition(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  auto condition = condition_of(asked.request.body);
  if (!condition) return refuse(std::move(condition).error());
  const auto types = api.types.lease();
  if (!types) return refuse(types.error());
  const auto beyond = serving::beyond_head(api.served, condition->after);
  if (!beyond) return refuse(beyond.error());
  if (*beyond && api.served.cluster == nullptr) return refuse(**beyond);
  const auto began = std::chrono::steady_clock::now();
  auto stream = api.served.store.read(condition->query, ReadOptions{.after = condition->after, .limit = 1});
  auto page = stream.next_page();
  while (page && page->events.empty() && !page->complete) page = stream.next_page();
  if (!page) return refuse(std::move(page).error());
  const auto micros =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began).count();
  JsonText json;
  json.begin_object()
      .key("holds")
      .boolean(page->events.empty())
      .key("head")
      .number(page->watermark.value)
      .key("first_conflict");
  if (page->events.empty())
    json.raw("null");
  else
    write_event(json, page->events.front(), **types);
  json.key("micros").number(static_cast<std::uint64_t>(micros)).end_object();
  return json_response(json.take());
}

Result<Response> answer_aggregates(Api& api, const Asked& asked) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"type", "after", "limit"}));
  auto type = parameters.text("type");
  if (!type) return refuse(std::move(type).error());
  auto text = parameters.text("after");
  if (!text) return refuse(std::move(text).error());
  std::optional<AggregateId> after;
  if (*text) {
    auto id = AggregateId::parse(**text);
    if (!id) return refuse(id.error().code, "after: " + id.error().what);
    after = *std::move(id);
  }
  const auto limit = limit_of(parameters);
  if (!limit) return refuse(limit.error());
  auto found = api.served.store.aggregates(*std::move(type), after, *limit + 1);
  if (!found) return refuse(std::move(found).error());
  const bool more = found->size() > *limit;
  if (more) found->resize(*limit);
  JsonText json;
  json.begin_object().key("aggregates").begin_array();
  for (const auto& info : *found) write_aggregate(json, info);
  json.end_array().key("next");
  if (!more)
    json.raw("null");
  else
    json.string(found->empty() ? text->value_or("") : found->back().aggregate.text());
  json.end_object();
  return json_response(json.take());
}

Result<Response> answer_aggregate(Api& api, const Asked& asked) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"up_to"}));
  const auto up_to = parameters.position("up_to");
  if (!up_to) return refuse(up_to.error());
  const auto id = AggregateId::parse(asked.argument);
  if (!id) return refuse(id.error());
  auto info = api.served.store.aggregate(*id, *up_to);
  if (!info) return refuse(std::move(info).error());
  JsonText json;
  write_aggregate(json, *info);
  return json_response(json.take());
}

Result<Response> answer_aggregate_events(Api& api, const Asked& asked) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"from", "limit", "direction", "up_to"}));
  auto id = AggregateId::parse(asked.argument);
  if (!id) return refuse(std::move(id).error());
  const auto from = parameters.number("from");
  if (!from) return refuse(from.error());
  const auto up_to = parameters.position("up_to");
  if (!up_to) return refuse(up_to.error());
  const auto limit = limit_of(parameters);
  if (!limit) return refuse(limit.error());
  const auto direction = direction_of(parameters);
  if (!direction) return refuse(direction.error());
  auto known = api.served.store.aggregate(*id, *up_to);
  if (!known) return refuse(std::move(known).error());
  const auto types = api.types.lease();
  if (!types) return refuse(types.error());

  StreamAsked read{*std::move(id), {}, *limit};
  if (*from) read.options.from = SeqNr{**from};
  read.options.direction = *direction;
  read.options.up_to = *up_to;
  auto given = give_events(api.served.store, read, **types, api.options.limits.response_bytes);
  if (!given) return refuse(std::move(given).error());
  api.served.metrics->events_read("http", given->events);
  return json_response(std::move(given->json));
}

Result<Response> answer_aggregate_snapshots(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  const auto id = AggregateId::parse(asked.argument);
  if (!id) return refuse(id.error());
  auto known = api.served.store.aggregate(*id);
  if (!known) return refuse(std::move(known).error());
  const auto snapshots = api.served.store.snapshots(*id);
  if (!snapshots) return refuse(snapshots.error());
  const auto types = api.types.lease();
  if (!types) return refuse(types.error());
  JsonText json;
  json.begin_object().key("aggregate").string(id->text()).key("snapshots").begin_array();
  for (const auto& snapshot : *snapshots) {
    const auto before = json.text().size();
    write_snapshot(json, snapshot, **types);
    EVERSHARD_TRY(spend_shown(json, before));
  }
  json.end_array().end_object();
  return json_response(json.take());
}

}  // namespace

std::span<const Route> reading_routes() {
  using enum serving::Scope;
  static constexpr Route rows[] = {
      {"GET", "/api/v1/head", read, answer_head},
      {"GET", "/api/v1/position", read, answer_position},
      {"GET", "/api/v1/events/{position}", read, answer_event},
      {"POST", "/api/v1/condition", read, answer_condition},
      {"GET", "/api/v1/aggregates", read, answer_aggregates},
      {"GET", "/api/v1/aggregates/{id}", read, answer_aggregate},
      {"GET", "/api/v1/aggregates/{id}/events", read, answer_aggregate_events},
      {"GET", "/api/v1/aggregates/{id}/snapshots", read, answer_aggregate_snapshots},
  };
  return rows;
}

}  // namespace evershard::http
