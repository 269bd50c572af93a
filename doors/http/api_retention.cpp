// GET /api/v1/retention/policies, /api/v1/retention/log.

#include <algorithm>

#include "evershard/api/json/retention_json.hpp"
#include "evershard/doors/http/api.hpp"
#include "evershard/doors/http/read_asked.hpp"

namespace evershard::http {
namespace {

constexpr std::uint64_t entries_default = 100, entries_most = 1'000;

Refused no_retention() { return refuse(ErrorCode::unavailable, "this server offers no retention"); }

Result<Response> answer_retention_policies(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  if (api.served.retention == nullptr) return no_retention();
  const auto all = api.served.retention->retention_policies();
  if (!all) return refuse(all.error());
  JsonText json;
  json.begin_object().key("policies").begin_array();
  for (const auto& policy : *all) write_retention_policy(json, policy);
  json.end_array().end_object();
  return json_response(json.take());
}

Result<Response> answer_retention_log(Api& api, const Asked& asked) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"after", "limit"}));
  if (api.served.retention == nullptr) return no_retention();
  const auto after = parameters.number("after");
  if (!after) return refuse(after.error());
  const auto limit = parameters.number("limit");
  if (!limit) return refuse(limit.error());
  const auto most = std::min(limit->value_or(entries_default), entries_most);
  auto entries = api.served.retention->retention_log(SeqNr(after->value_or(0)), most + 1);
  if (!entries) return refuse(entries.error());
  const bool more = entries->size() > most;
  if (more) entries->pop_back();
  JsonText json;
  json.begin_object().key("log").begin_array();
  for (const auto& entry : *entries) write_retention_entry(json, entry);
  json.end_array().key("next");
  if (more)
    json.number(entries->empty() ? after->value_or(0) : entries->back().number.value);
  else
    json.raw("null");
  json.end_object();
  return json_response(json.take());
}

}  // namespace

std::span<const Route> retention_routes() {
  using enum serving::Scope;
  static constexpr Route rows[] = {
      {"GET", "/api/v1/retention/policies", read, answer_retention_policies},
      {"GET", "/api/v1/retention/log", read, answer_retention_log},
  };
  return rows;
}

}  // namespace evershard::http
