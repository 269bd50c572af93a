// /api/v1/scheduled: appends that are made at a later time.

#include "evershard/api/json/scheduled_json.hpp"
#include "evershard/doors/http/api.hpp"
#include "evershard/doors/http/read_asked.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::http {
namespace {

Result<ScheduledAppends*> scheduled_of(Api& api) {
  if (api.served.scheduled == nullptr) return refuse(ErrorCode::unavailable, "this server offers no scheduled appends");
  return api.served.scheduled;
}

Result<Response> shown_scheduled(const Result<ScheduledAppend>& scheduled) {
  if (!scheduled) return refuse(scheduled.error());
  JsonText json;
  write_scheduled(json, *scheduled);
  return json_response(json.take());
}

Result<Response> answer_schedule(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  const auto offered = scheduled_of(api);
  if (!offered) return refuse(offered.error());
  auto order = read_schedule(asked.request.body);
  if (!order) return refuse(std::move(order).error());
  return shown_scheduled((*offered)->schedule(*std::move(order)));
}

Result<Response> answer_cancel_scheduled(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  const auto offered = scheduled_of(api);
  if (!offered) return refuse(offered.error());
  return shown_scheduled((*offered)->cancel(asked.argument));
}

Result<Response> read_scheduled(Api& api, const Asked& asked, std::chrono::milliseconds wait) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"at_least"}));
  const auto at_least = parameters.position("at_least");
  if (!at_least) return refuse(at_least.error());
  const auto offered = scheduled_of(api);
  if (!offered) return refuse(offered.error());
  if (*at_least)
    if (const auto there = api.served.store.wait_for(**at_least, wait); !there) return refuse(there.error());
  return shown_scheduled((*offered)->get(asked.argument));
}

Result<Response> list_scheduled(Api& api, const Asked& asked, std::chrono::milliseconds wait) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"state", "after", "limit", "at_least"}));
  const auto offered = scheduled_of(api);
  if (!offered) return refuse(offered.error());
  const auto state = parameters.text("state");
  if (!state) return refuse(state.error());
  const auto which = state->value_or("pending");
  if (which != "pending" && which != "all")
    return refuse(ErrorCode::invalid_argument, "state: " + in_quotes(which) + " is neither pending nor all");
  const auto after = parameters.text("after");
  if (!after) return refuse(after.error());
  const auto limit = limit_of(parameters);
  if (!limit) return refuse(limit.error());
  const auto at_least = parameters.position("at_least");
  if (!at_least) return refuse(at_least.error());
  const auto page = (*offered)->list(
      {.all = which == "all", .after = after->value_or(""), .limit = *limit, .at_least = *at_least, .timeout = wait});
  if (!page) return refuse(page.error());
  JsonText json;
  write_scheduled_page(json, *page);
  return json_response(json.take());
}

}  // namespace

std::span<const Route> scheduled_routes() {
  using enum serving::Scope;
  static constexpr Route rows[] = {
      {"POST", "/api/v1/scheduled", append, answer_schedule, Manner::uncompressed},
      {"GET", "/api/v1/scheduled", read, Rows{list_scheduled, true}},
      {"GET", "/api/v1/scheduled/{id}", read, Rows{read_scheduled}},
      {"POST", "/api/v1/scheduled/{id}/cancel", append, answer_cancel_scheduled, Manner::uncompressed},
  };
  return rows;
}

}  // namespace evershard::http
