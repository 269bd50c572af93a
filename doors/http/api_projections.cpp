// Reading projections: how they are, what indexes hold.

#include <algorithm>
#include <string>
#include <utility>

#include "evershard/api/json/projection_json.hpp"
#include "evershard/doors/http/api.hpp"
#include "evershard/doors/http/read_asked.hpp"
#include "evershard/doors/http/shown.hpp"

namespace evershard::http {
namespace {

using std::chrono::milliseconds;

Result<RowsAsked> rows_asked_of(const Parameters& parameters, milliseconds timeout) {
  RowsAsked rows;
  rows.timeout = timeout;
  auto at_least = parameters.position("at_least");
  if (!at_least) return refuse(std::move(at_least).error());
  rows.at_least = *at_least;
  const auto version = parameters.number("version");
  if (!version) return refuse(version.error());
  if (*version) rows.version = SeqNr{**version};
  const auto events = parameters.text("events");
  if (!events) return refuse(events.error());
  if (*events && **events != "true" && **events != "false")
    return refuse(ErrorCode::invalid_argument, "events: is true or false");
  rows.events = *events == "true";
  return rows;
}

Result<Response> answer_projections(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  const auto all = api.served.projections().list();
  if (!all) return refuse(all.error());
  JsonText json;
  json.begin_object().key("projections").begin_array();
  for (const auto& info : *all) write_projection(json, info);
  json.end_array().end_object();
  return json_response(json.take());
}

Result<Response> answer_projection(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  const auto info = api.served.projections().describe(asked.argument);
  if (!info) return refuse(info.error());
  JsonText json;
  write_projection(json, *info);
  return json_response(json.take());
}

Result<Response> read_index_entries(Api& api, const Asked& asked, milliseconds wait) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"start", "limit", "direction", "at_least", "version", "events"}));
  const auto start = parameters.number("start");
  if (!start) return refuse(start.error());
  const auto limit = limit_of(parameters);
  if (!limit) return refuse(limit.error());
  const auto direction = direction_of(parameters);
  if (!direction) return refuse(direction.error());
  auto rows = rows_asked_of(parameters, wait);
  if (!rows) return refuse(std::move(rows).error());
  const auto types = api.types.lease();
  if (!types) return refuse(types.error());
  const auto page = api.served.projections().read_index(asked.argument, {*start, *limit, *direction, *rows});
  if (!page) return refuse(page.error());
  JsonText json;
  json.begin_object().key("entries").begin_array();
  for (const auto& entry : page->entries) {
    const auto before = json.text().size();
    write_index_entry(json, entry, **types);
    EVERSHARD_TRY(spend_shown(json, before));
  }
  json.end_array().key("count").number(page->count).key("watermark").number(page->watermark.value).end_object();
  return json_response(json.take());
}

Result<Response> read_value_entries(Api& api, const Asked& asked, milliseconds wait) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only(
      {"equal", "from", "to", "until", "after", "limit", "direction", "at_least", "version", "events"}));
  ValueRead read;
  for (const auto& [name, to] : std::initializer_list<std::pair<const char*, std::optional<std::string>*>>{
           {"equal", &read.equal}, {"from", &read.from}, {"to", &read.to}, {"until", &read.until}}) {
    auto text = parameters.text(name);
    if (!text) return refuse(std::move(text).error());
    *to = *std::move(text);
  }
  const auto after = parameters.text("after");
  if (!after) return refuse(after.error());
  read.after = after->value_or("");
  const auto limit = limit_of(parameters);
  if (!limit) return refuse(limit.error());
  read.limit = *limit;
  const auto direction = direction_of(parameters);
  if (!direction) return refuse(direction.error());
  read.direction = *direction;
  auto rows = rows_asked_of(parameters, wait);
  if (!rows) return refuse(std::move(rows).error());
  read.rows = *rows;
  const auto types = api.types.lease();
  if (!types) return refuse(types.error());
  const auto page = api.served.projections().read_values(asked.argument, read);
  if (!page) return refuse(page.error());
  JsonText json;
  json.begin_object().key("entries").begin_array();
  for (const auto& entry : page->entries) {
    const auto before = json.text().size();
    write_value_entry(json, entry, **types);
    EVERSHARD_TRY(spend_shown(json, before));
  }
  json.end_array().key("next");
  if (page->next.empty())
    json.raw("null");
  else
    json.string(page->next);
  json.key("watermark").number(page->watermark.value).end_object();
  return json_response(json.take());
}

}  // namespace

std::span<const Route> projection_routes() {
  using enum serving::Scope;
  static constexpr Route rows[] = {
      {"GET", "/api/v1/projections", read, answer_projections},
      {"GET", "/api/v1/projections/{name}", read, answer_projection},
      {"GET", "/api/v1/indexes/{name}", read, Rows{read_index_entries}},
      {"GET", "/api/v1/values/{name}", read, Rows{read_value_entries, true}},
      {"POST", "/api/v1/values/{name}", read, Rows{read_value_entries, true}},
  };
  return rows;
}

}  // namespace evershard::http
