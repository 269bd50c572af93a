// GET /api/v1/groups, /api/v1/groups/{name}, /api/v1/groups/{name}/parked.

#include <algorithm>

#include "evershard/api/json/group_json.hpp"
#include "evershard/doors/http/api.hpp"
#include "evershard/doors/http/read_asked.hpp"

namespace evershard::http {
namespace {

constexpr std::uint64_t parked_default = 100, parked_most = 1'000;

Refused no_groups() { return refuse(ErrorCode::unavailable, "this server offers no consumer groups"); }

Result<Response> answer_groups(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  if (api.served.groups == nullptr) return no_groups();
  const auto all = api.served.groups->list_groups();
  if (!all) return refuse(all.error());
  JsonText json;
  json.begin_object().key("groups").begin_array();
  for (const auto& group : *all) write_group(json, group);
  json.end_array().end_object();
  return json_response(json.take());
}

Result<Response> answer_group(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  if (api.served.groups == nullptr) return no_groups();
  const auto group = api.served.groups->group(asked.argument);
  if (!group) return refuse(group.error());
  JsonText json;
  write_group(json, *group);
  return json_response(json.take());
}

Result<Response> answer_group_parked(Api& api, const Asked& asked) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"after", "limit"}));
  if (api.served.groups == nullptr) return no_groups();
  const auto after = parameters.position("after");
  if (!after) return refuse(after.error());
  const auto limit = parameters.number("limit");
  if (!limit) return refuse(limit.error());
  const auto most = std::min(limit->value_or(parked_default), parked_most);
  auto parked = api.served.groups->parked_events(asked.argument, after->value_or(GlobalPosition{0}), most + 1);
  if (!parked) return refuse(parked.error());
  const bool more = parked->size() > most;
  if (more) parked->pop_back();
  JsonText json;
  json.begin_object().key("parked").begin_array();
  for (const auto& one : *parked) write_parked_event(json, one);
  json.end_array().key("next");
  if (more)
    json.number(parked->empty() ? after->value_or(GlobalPosition{0}).value : parked->back().position.value);
  else
    json.raw("null");
  json.end_object();
  return json_response(json.take());
}

}  // namespace

std::span<const Route> group_routes() {
  using enum serving::Scope;
  static constexpr Route rows[] = {
      {"GET", "/api/v1/groups", read, answer_groups},
      {"GET", "/api/v1/groups/{name}", read, answer_group},
      {"GET", "/api/v1/groups/{name}/parked", read, answer_group_parked},
  };
  return rows;
}

}  // namespace evershard::http
