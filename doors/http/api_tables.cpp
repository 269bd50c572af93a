// GET /api/v1/tables, /api/v1/tables/{name}, /api/v1/tables/{name}/rows, /api/v1/tables/{name}/parked.

#include <utility>

#include "evershard/api/json/table_json.hpp"
#include "evershard/api/no_tables.hpp"
#include "evershard/doors/http/api.hpp"
#include "evershard/doors/http/read_asked.hpp"

namespace evershard::http {
namespace {

Tables& tables_of(const serving::Served& served) {
  static cluster::NoTables none("this server keeps no tables");
  return served.tables == nullptr ? none : *served.tables;
}

Result<TableReading> table_reading_of(const Parameters& parameters, std::chrono::milliseconds timeout) {
  TableReading reading{.timeout = timeout};
  const auto at_least = parameters.position("at_least");
  if (!at_least) return refuse(at_least.error());
  reading.at_least = *at_least;
  const auto version = parameters.number("version");
  if (!version) return refuse(version.error());
  if (*version) reading.version = SeqNr(**version);
  return reading;
}

Result<TableSelect> table_select_of(const Parameters& parameters) {
  TableSelect select;
  auto where = parameters.text("where");
  if (!where) return refuse(std::move(where).error());
  select.where = where->value_or("");
  for (const auto& given : parameters.values("param")) EVERSHARD_TRY(cluster::add_parameter(given, select.parameters));
  for (const auto& given : parameters.values("field")) EVERSHARD_TRY(cluster::add_field(given, select.fields));
  for (const auto& given : parameters.values("order")) EVERSHARD_TRY(cluster::add_order(given, select.order_by));
  const auto limit = limit_of(parameters);
  if (!limit) return refuse(limit.error());
  select.limit = *limit;
  auto after = parameters.text("after");
  if (!after) return refuse(std::move(after).error());
  select.continue_from = after->value_or("");
  return select;
}

Result<Response> answer_tables(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({}));
  const auto all = tables_of(api.served).list_tables();
  if (!all) return refuse(all.error());
  JsonText json;
  json.begin_object().key("tables").begin_array();
  for (const auto& info : *all) cluster::write_table_info(json, info);
  json.end_array().end_object();
  return json_response(json.take());
}

Result<Response> answer_table(Api& api, const Asked& asked) {
  EVERSHARD_TRY(asked.target.parameters.only({"version"}));
  const auto reading = table_reading_of(asked.target.parameters, {});
  if (!reading) return refuse(reading.error());
  const auto info = tables_of(api.served).describe_table(asked.argument, *reading);
  if (!info) return refuse(info.error());
  JsonText json;
  cluster::write_table_info(json, *info);
  return json_response(json.take());
}

Result<Response> read_table_rows(Api& api, const Asked& asked, std::chrono::milliseconds wait) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"where", "param", "field", "order", "limit", "after", "at_least", "version"}));
  const auto select = table_select_of(parameters);
  if (!select) return refuse(select.error());
  const auto reading = table_reading_of(parameters, wait);
  if (!reading) return refuse(reading.error());
  const auto page = tables_of(api.served).select(asked.argument, *select, *reading);
  if (!page) return refuse(page.error());
  JsonText json;
  json.begin_object().key("rows").begin_array();
  for (const auto& row : page->rows) cluster::write_row(json, page->fields, page->types, row);
  json.end_array().key("next");
  if (page->next.empty())
    json.raw("null");
  else
    json.string(page->next);
  json.key("position").number(page->position.value).key("looked_at").number(page->looked_at).end_object();
  return json_response(json.take());
}

Result<Response> answer_table_parked(Api& api, const Asked& asked) {
  const auto& parameters = asked.target.parameters;
  EVERSHARD_TRY(parameters.only({"after", "limit"}));
  const auto after = parameters.position("after");
  if (!after) return refuse(after.error());
  const auto limit = limit_of(parameters);
  if (!limit) return refuse(limit.error());
  const auto parked = tables_of(api.served).parked(asked.argument, after->value_or(GlobalPosition{}), *limit);
  if (!parked) return refuse(parked.error());
  JsonText json;
  json.begin_object().key("parked").begin_array();
  for (const auto& each : *parked) cluster::write_parked(json, each);
  json.end_array().end_object();
  return json_response(json.take());
}

}  // namespace

std::span<const Route> table_routes() {
  using enum serving::Scope;
  static constexpr Route rows[] = {
      {"GET", "/api/v1/tables", read, answer_tables},
      {"GET", "/api/v1/tables/{name}", read, answer_table},
      {"GET", "/api/v1/tables/{name}/rows", read, Rows{read_table_rows}},
      {"POST", "/api/v1/tables/{name}/rows", read, Rows{read_table_rows}},
      {"GET", "/api/v1/tables/{name}/parked", read, answer_table_parked},
  };
  return rows;
}

}  // namespace evershard::http
