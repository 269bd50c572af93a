// GET /api/v1/aggregates/{id}/state.

#include <utility>

#include "evershard/doors/http/api.hpp"
#include "evershard/doors/http/read_asked.hpp"
#include "evershard/doors/serving/aggregate_state.hpp"

namespace evershard::http {

Result<Response> Api::aggregate_state(const Asked& asked) {
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
  const auto types = types_.lease();
  if (!types) return refuse(types.error());
  auto state = serving::written_state(
      served_.store, {*std::move(id), *version, *up_to, *limit, options_.limits.response_bytes}, **types);
  if (!state) return refuse(std::move(state).error());
  served_.metrics->events_read("http", state->events);
  return json_response(std::move(state->json));
}

}  // namespace evershard::http
