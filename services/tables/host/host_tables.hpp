// HostTables: reading the tables of a store's projections, where they are.

#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "evershard/api/tables.hpp"
#include "evershard/services/engine/catalogue.hpp"
#include "evershard/services/engine/projection_host.hpp"
#include "evershard/services/tables/table_select.hpp"

namespace evershard::cluster {

/// What a projection's figures say of its table. `spec`: of that version; absent: not known
[[nodiscard]] TableInfo table_info(const ProjectionInfo& projection, const ProjectionVersion& version,
                                   const std::string* spec);

/// The tables among `projections`, each as `describe` tells it; one whose home does not answer is `waiting`, and says
/// why. Errors: of `describe`, but not_found
[[nodiscard]] Result<std::vector<TableInfo>> tables_among(
    const std::vector<ProjectionInfo>& projections,
    const std::function<Result<TableInfo>(const std::string&)>& describe);

/// Any thread. Owner: both outlive it; the events take reserved names.
class HostTables final : public Tables {
 public:
  HostTables(EventStore& events, ProjectionHost& host)
      : events_(events), host_(host), catalogue_(events, "projection") {}

  Result<TablePage> select(const std::string& table, TableSelect select, TableReading reading = {}) override;
  Result<TablePlan> explain(const std::string& table, TableSelect select, TableReading reading = {}) override;
  Result<TableInfo> describe_table(const std::string& table, TableReading reading = {}) override;
  Result<std::vector<TableInfo>> list_tables() override;
  Result<std::vector<ParkedRow>> parked(const std::string& table, GlobalPosition after = {},
                                        std::size_t limit = 1'000) override;
  Result<GlobalPosition> retry_parked(const std::string& table, std::vector<GlobalPosition> positions) override;
  Result<GlobalPosition> discard_parked(const std::string& table, std::vector<GlobalPosition> positions) override;

 private:
  struct Found {
    std::shared_ptr<const actors::TableShape> shape;
    ProjectionEngine::Opened rows;
  };
  [[nodiscard]] Result<Found> find(const std::string& table, const TableReading& reading);
  [[nodiscard]] Result<std::shared_ptr<const actors::TableShape>> shape_of(const RunOf& of);
  [[nodiscard]] Result<GlobalPosition> order(const std::string& table, std::string_view verb,
                                             const std::vector<GlobalPosition>& positions);

  EventStore& events_;
  ProjectionHost& host_;
  Catalogue catalogue_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const actors::TableShape>>
      shapes_;  ///< by name: of the version that was asked for last
};

}  // namespace evershard::cluster
