// HomedTables: the tables of a cluster, from one of its nodes: what is asked of one goes to its home.

#pragma once

#include "evershard/api/projections.hpp"
#include "evershard/api/tables.hpp"
#include "evershard/cluster/homes/home_calls.hpp"
#include "evershard/services/indexes/definition_fold.hpp"

namespace evershard::cluster {

/// A page is of one moment, as at its home. Errors beyond those of Tables: unavailable: the home does not answer;
/// timeout: what became of a change is not known. Owner: all outlive it.
class HomedTables final : public Tables {
 public:
  /// `here`: the tables that are hosted by this node; `projections`: all of the cluster.
  HomedTables(HomeCalls& homes, Tables& here, Projections& projections)
      : homes_(homes), here_(here), projections_(projections) {}
  /// Other nodes are answered of what is hosted here. Shape: before the node joins.
  void serve();

  Result<TablePage> select(const std::string& table, TableSelect select, TableReading reading = {}) override;
  Result<TablePlan> explain(const std::string& table, TableSelect select, TableReading reading = {}) override;
  Result<TableInfo> describe_table(const std::string& table, TableReading reading = {}) override;
  Result<std::vector<TableInfo>> list_tables() override;
  Result<std::vector<ParkedRow>> parked(const std::string& table, GlobalPosition after = {},
                                        std::size_t limit = 1'000) override;
  Result<GlobalPosition> retry_parked(const std::string& table, std::vector<GlobalPosition> positions) override {
    return settle(table, positions, false);
  }
  Result<GlobalPosition> discard_parked(const std::string& table, std::vector<GlobalPosition> positions) override {
    return settle(table, positions, true);
  }

 private:
  [[nodiscard]] AggregateId of(const std::string& table) const { return names_.aggregate(table); }
  [[nodiscard]] Result<bool> is_here(const std::string& table) const;
  [[nodiscard]] Result<GlobalPosition> settle(const std::string& table, const std::vector<GlobalPosition>& positions,
                                              bool discard);

  HomeCalls& homes_;
  Tables& here_;
  Projections& projections_;
  const actors::DefinitionNames names_{"projection"};
};

}  // namespace evershard::cluster
