#include "evershard/services/tables/host/host_tables.hpp"

#include "evershard/api/json/json_text.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/services/indexes/part_name.hpp"
#include "evershard/services/tables/host/table_definition_json.hpp"
#include "evershard/services/tables/host/table_kind.hpp"
#include "evershard/services/tables/table_keys.hpp"
#include "evershard/services/tables/table_projection.hpp"

namespace evershard::cluster {
namespace {

constexpr std::size_t parked_at_once_max = 10'000;

Refused no_table(const std::string& name, const std::string& kind) {
  return refuse(ErrorCode::invalid_argument, "projection " + in_quotes(name) + " is no table, but of kind " + kind);
}

const std::string* spec_of(const actors::Definition& definition, SeqNr version) {
  for (const auto& each : definition.versions) {
    if (each.version == version) return &each.spec;
  }
  return nullptr;
}

bool home_is_away(const Error& error) {
  return error.code == ErrorCode::unavailable || error.code == ErrorCode::timeout;
}

/// What the list of projections has of it is all there is.
bool did_not_answer(const ProjectionVersion& version) {
  return version.state == "waiting" && version.error && home_is_away(*version.error);
}

}  // namespace

Result<std::vector<TableInfo>> tables_among(const std::vector<ProjectionInfo>& projections,
                                            const std::function<Result<TableInfo>(const std::string&)>& describe) {
  std::vector<TableInfo> tables;
  for (const auto& projection : projections) {
    if (projection.kind != table_kind || projection.versions.empty()) continue;
    auto newest = projection.versions.back();
    // What is known of a table in parts, `describe` puts together from its parts.
    if (did_not_answer(newest) && !newest.part) {
      tables.push_back(table_info(projection, newest, &projection.spec));
      continue;
    }
    auto info = describe(projection.name);
    if (info) {
      tables.push_back(std::move(*info));
    } else if (home_is_away(info.error())) {  // since it was listed
      newest.state = "waiting";
      newest.error = std::move(info).error();
      tables.push_back(table_info(projection, newest, &projection.spec));
    } else if (info.error().code != ErrorCode::not_found) {
      return refuse(std::move(info).error());
    }
  }
  return tables;
}

TableInfo table_info(const ProjectionInfo& projection, const ProjectionVersion& version, const std::string* spec) {
  TableInfo info;
  info.projection = projection.name;
  info.version = version.version;
  if (spec != nullptr) {
    if (auto read = read_table_definition(*spec, projection.name)) {
      info.definition = table_definition_json(*read);
      info.schema = std::move(read->schema);
    }
  }
  info.position = version.position;
  info.complete = version.complete;
  info.state = version.state;
  if (version.error) info.error = version.error->what;
  info.figures = version.figures;
  return info;
}

Result<std::shared_ptr<const actors::TableShape>> HostTables::shape_of(const RunOf& of) {
  // Parts are built anew each at its own pace: a page goes on in any rows of its version, which are the same.
  const std::uint64_t made_by = actors::parse_part_name(of.name) ? of.version.value : of.rows.value;
  const std::lock_guard lock(mutex_);
  auto& shape = shapes_[of.name];
  if (!shape || shape->version != made_by) {
    auto definition = read_table_definition(of.spec, of.name);
    if (!definition) return refuse(std::move(definition).error());
    shape = std::make_shared<const actors::TableShape>(std::move(definition->schema), made_by);
  }
  return shape;
}

Result<HostTables::Found> HostTables::find(const std::string& table, const TableReading& reading) {
  auto opened = host_.open(table, {reading.at_least, reading.timeout, reading.version});
  if (!opened) return refuse(std::move(opened).error());
  if (opened->of.kind != table_kind) return no_table(table, opened->of.kind);
  auto shape = shape_of(opened->of);
  if (!shape) return refuse(std::move(shape).error());
  return Found{std::move(*shape), std::move(*opened)};
}

Result<TablePage> HostTables::select(const std::string& table, TableSelect select, TableReading reading) {
  const auto found = find(table, reading);
  if (!found) return refuse(found.error());
  const auto prepared = actors::PreparedSelect::make(*found->shape, select);
  if (!prepared) return refuse(prepared.error());
  auto page = prepared->page(*found->rows.rows);
  if (page) page->position = std::max(page->position, found->rows.position);
  return page;
}

Result<TablePlan> HostTables::explain(const std::string& table, TableSelect select, TableReading reading) {
  const auto found = find(table, reading);
  if (!found) return refuse(found.error());
  const auto prepared = actors::PreparedSelect::make(*found->shape, select);
  if (!prepared) return refuse(prepared.error());
  return prepared->plan();
}

Result<TableInfo> HostTables::describe_table(const std::string& table, TableReading reading) {
  const auto definition = host_.definition(table, std::string(table_kind));
  if (!definition) return refuse(definition.error());
  if (!actors::parse_part_name(table) && table_parts(definition->newest().spec) > 1)
    return refuse(actors::lies_in_parts(table));
  const auto projection = host_.describe(table);
  if (!projection) return refuse(projection.error());
  for (auto version = projection->versions.rbegin(); version != projection->versions.rend(); ++version) {
    if (reading.version ? version->version == *reading.version : version->serving)
      return table_info(*projection, *version, spec_of(*definition, version->version));
  }
  if (reading.version || projection->versions.empty()) {
    return refuse(
        ErrorCode::not_found,
        "table " + in_quotes(table) +
            (reading.version ? " has no version " + std::to_string(reading.version->value) : " has no rows yet"));
  }
  return table_info(*projection, projection->versions.back(),
                    spec_of(*definition, projection->versions.back().version));
}

Result<std::vector<TableInfo>> HostTables::list_tables() {
  const auto projections = host_.list();
  if (!projections) return refuse(projections.error());
  return tables_among(*projections, [this](const std::string& name) { return describe_table(name, {}); });
}

Result<std::vector<ParkedRow>> HostTables::parked(const std::string& table, GlobalPosition after, std::size_t limit) {
  const auto found = find(table, {});
  if (!found) return refuse(found.error());
  auto range = storage::RowRange::prefix(actors::table_keys::part_prefix(actors::table_keys::Part::parked));
  range.from = actors::table_keys::parked(after + 1);
  std::vector<ParkedRow> rows;
  const auto cursor = found->rows.rows->cursor(range);
  while (rows.size() < std::min(limit, parked_at_once_max) && cursor->next()) {
    auto parked = actors::decode_parked(cursor->key(), cursor->value());
    if (!parked) return refuse(std::move(parked).error());
    rows.push_back({parked->position, std::string(name_of(parked->kind)), std::move(parked->type),
                    std::move(parked->aggregate), std::move(parked->reason), parked->attempts});
  }
  if (cursor->error()) return refuse(*cursor->error());
  return rows;
}

Result<GlobalPosition> HostTables::order(const std::string& table, std::string_view verb,
                                         const std::vector<GlobalPosition>& positions) {
  if (actors::parse_part_name(table))
    return refuse(ErrorCode::invalid_argument,
                  in_quotes(table) + " is a part of a table: what it parked is settled at the table");
  if (positions.size() > parked_at_once_max)
    return refuse(ErrorCode::too_large, "at most " + std::to_string(parked_at_once_max) + " parked events at once");
  const auto described = describe_table(table, {});
  if (!described) return refuse(described.error());
  if (positions.empty()) return GlobalPosition{};
  JsonText json;
  json.begin_object().key("positions").begin_array();
  for (const GlobalPosition position : positions) json.number(position.value);
  json.end_array().end_object();
  const auto noted = catalogue_.note(table, verb, json.take());
  if (!noted) return refuse(noted.error());
  const auto own = events_.aggregate(catalogue_.names().aggregate(table));
  if (!own) return refuse(own.error());
  return own->last_position;
}

Result<GlobalPosition> HostTables::retry_parked(const std::string& table, std::vector<GlobalPosition> positions) {
  return order(table, "Retried", positions);
}
Result<GlobalPosition> HostTables::discard_parked(const std::string& table, std::vector<GlobalPosition> positions) {
  return order(table, "Discarded", positions);
}

}  // namespace evershard::cluster
