// GET /api/v1/aggregates/{id}/state.

#include <utility>

#include "evershard/doors/http/api.hpp"
#include "evershard/doors/http/read_asked.hpp"
#include "evershard/doors/serving/aggregate_state.hpp"

namespace evershard::http {
namespace {

Result<Response> answer_aggregate_state(Api& api, const Asked& asked) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"version", "up_to", "limit"}));
  auto id = AggregateId::parse(asked.argument);
  if (!id) return refuse(std::move(id).error());
  const auto version = parameters.number("version");
  if (!version) return refuse(version.error());
  const auto up_to = parameters.position("up_to");
  if (!up_to) return refuse(up_to.error());
  const auto limit = limit_of(parameters);
  if (!limit) return refuse(limit.error());
  const auto types = api.types.lease();
  if (!types) return refuse(types.error());
  auto state = serving::written_state(
      api.served.store, {*std::move(id), *version, *up_to, *limit, api.options.limits.response_bytes}, **types);
  if (!state) return refuse(std::move(state).error());
  api.served.metrics->events_read("http", state->events);
  return json_response(std::move(state->json));
}

}  // namespace

std::span<const Route> state_routes() {
  using enum serving::Scope;
  static constexpr Route rows[] = {
      {"GET", "/api/v1/aggregates/{id}/state", read, answer_aggregate_state},
  };
  return rows;
}

}  // namespace evershard::http
