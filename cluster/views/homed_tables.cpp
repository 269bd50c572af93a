#include "evershard/cluster/views/homed_tables.hpp"

#include "evershard/cluster/homes/home_asker.hpp"
#include "evershard/services/tables/host/host_tables.hpp"

namespace evershard::cluster {

HomedTables::HomedTables(HomeCalls& homes, Tables& here, Projections& projections)
    : AskedTables(std::make_shared<HomeAsker>(homes, "projection")),
      homes_(homes),
      here_(here),
      projections_(projections) {}

void HomedTables::serve() { serve_calls(homes_, calls::tables_calls(), here_); }

bool HomedTables::is_here(const std::string& table) const {
  return actors::check_definition_name(names_.category(), table) && homes_.is_home(names_.aggregate(table));
}

Result<TablePage> HomedTables::select(const std::string& table, TableSelect select, TableReading reading) {
  if (is_here(table)) {
    if (auto page = here_.select(table, select, reading); page || !has_just_gone(page.error())) return page;
  }
  return AskedTables::select(table, std::move(select), reading);
}

Result<std::vector<TableInfo>> HomedTables::list_tables() {
  const auto all = projections_.list();
  if (!all) return refuse(all.error());
  return tables_among(*all, [this](const std::string& name) { return describe_table(name); });
}

Result<std::vector<ParkedRow>> HomedTables::parked(const std::string& table, GlobalPosition after, std::size_t limit) {
  if (is_here(table)) {
    if (auto found = here_.parked(table, after, limit); found || !has_just_gone(found.error())) return found;
  }
  return AskedTables::parked(table, after, limit);
}

}  // namespace evershard::cluster
