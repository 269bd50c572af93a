// /api/v1/processes, /api/v1/timers.

#include "evershard/api/json/process_json.hpp"
#include "evershard/doors/http/api.hpp"
#include "evershard/doors/http/read_asked.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::http {
namespace {

Result<Processes*> processes_of(Api& api) {
  if (api.served.processes == nullptr) return refuse(ErrorCode::unavailable, "this server shows no processes");
  return api.served.processes;
}

/// Of a list, without what a page of them needs.
template <class Value, class Write>
void write_list(JsonText& json, std::string_view key, const std::vector<Value>& values, Write write) {
  json.key(key).begin_array();
  for (const auto& value : values) write(json, value);
  json.end_array();
}

Result<Response> answer_processes(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  const auto offered = processes_of(api);
  if (!offered) return refuse(offered.error());
  const auto all = (*offered)->processes();
  if (!all) return refuse(all.error());
  JsonText json;
  json.begin_object();
  write_list(json, "processes", *all, write_process);
  json.end_object();
  return json_response(json.take());
}

Result<Response> answer_process(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  const auto offered = processes_of(api);
  if (!offered) return refuse(offered.error());
  const auto info = (*offered)->process(asked.argument);
  if (!info) return refuse(info.error());
  JsonText json;
  write_process(json, *info);
  return json_response(json.take());
}

Result<Response> answer_instances(Api& api, const Asked& asked) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"after", "limit"}));
  const auto after = parameters.text("after");
  if (!after) return refuse(after.error());
  const auto limit = limit_of(parameters);
  if (!limit) return refuse(limit.error());
  const auto offered = processes_of(api);
  if (!offered) return refuse(offered.error());
  const auto all = (*offered)->instances(asked.argument, after->value_or(""), *limit);
  if (!all) return refuse(all.error());
  JsonText json;
  json.begin_object();
  write_list(json, "instances", *all, write_process_instance);
  json.key("next");
  if (all->size() == *limit)
    json.string(all->back().instance);
  else
    json.raw("null");
  json.end_object();
  return json_response(json.take());
}

Result<Response> answer_parked_effects(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  const auto offered = processes_of(api);
  if (!offered) return refuse(offered.error());
  const auto all = (*offered)->parked_effects(asked.argument);
  if (!all) return refuse(all.error());
  JsonText json;
  json.begin_object();
  write_list(json, "effects", *all, write_parked_effect);
  json.end_object();
  return json_response(json.take());
}

Result<Response> answer_process_control(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  const auto offered = processes_of(api);
  if (!offered) return refuse(offered.error());
  const auto control = read_process_control(asked.request.body);
  if (!control) return refuse(control.error());
  const auto position = (*offered)->control(asked.argument, *control);
  if (!position) return refuse(position.error());
  JsonText json;
  json.begin_object().key("position").number(position->value).end_object();
  return json_response(json.take());
}

Result<Response> answer_timers(Api& api, const Asked& asked) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"type", "aggregate", "after", "limit"}));
  TimerListing listing;
  auto type = parameters.text("type");
  if (!type) return refuse(std::move(type).error());
  listing.type = *std::move(type);
  const auto aggregate = parameters.text("aggregate");
  if (!aggregate) return refuse(aggregate.error());
  if (*aggregate) {
    auto id = AggregateId::parse(**aggregate);
    if (!id) return refuse(std::move(id).error());
    listing.aggregate = *std::move(id);
  }
  const auto after = parameters.text("after");
  if (!after) return refuse(after.error());
  listing.after = after->value_or("");
  const auto limit = limit_of(parameters);
  if (!limit) return refuse(limit.error());
  listing.limit = *limit;
  const auto offered = processes_of(api);
  if (!offered) return refuse(offered.error());
  const auto page = (*offered)->timers(listing);
  if (!page) return refuse(page.error());
  JsonText json;
  json.begin_object();
  write_list(json, "timers", page->timers, write_pending_timer);
  json.key("pending").number(page->pending).key("next");
  if (page->next)
    json.string(*page->next);
  else
    json.raw("null");
  json.end_object();
  return json_response(json.take());
}

Result<Response> answer_cancel_timer(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({"name"}));
  const auto name = asked.target.parameters.text("name");
  if (!name) return refuse(name.error());
  if (!*name) return refuse(ErrorCode::invalid_argument, "name is missing: which timer of the aggregate");
  const auto offered = processes_of(api);
  if (!offered) return refuse(offered.error());
  const auto aggregate = AggregateId::parse(asked.argument);
  if (!aggregate) return refuse(aggregate.error());
  EVERSHARD_TRY((*offered)->cancel_timer(*aggregate, **name));
  return json_response("{}");
}

}  // namespace

std::span<const Route> process_routes() {
  using enum serving::Scope;
  static constexpr Route rows[] = {
      {"GET", "/api/v1/processes", read, answer_processes},
      {"GET", "/api/v1/processes/{name}", read, answer_process},
      {"GET", "/api/v1/processes/{name}/instances", read, answer_instances},
      {"GET", "/api/v1/processes/{name}/parked", read, answer_parked_effects},
      {"POST", "/api/v1/processes/{name}/control", admin, answer_process_control, Manner::uncompressed},
      {"GET", "/api/v1/timers", read, answer_timers},
      {"POST", "/api/v1/timers/{aggregate}/cancel", admin, answer_cancel_timer, Manner::uncompressed},
  };
  return rows;
}

}  // namespace evershard::http
