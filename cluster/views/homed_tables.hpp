// HomedTables: the tables of a cluster, from one of its nodes: what is asked of one goes to its home.

#pragma once

#include "evershard/api/calls/tables_calls.hpp"
#include "evershard/api/projections.hpp"
#include "evershard/cluster/homes/home_calls.hpp"
#include "evershard/services/indexes/definition_fold.hpp"

namespace evershard::cluster {

/// A page is of one moment, as at its home; where that is here, it is read here. Errors beyond those of Tables:
/// unavailable: the home does not answer; timeout: what became of a change is not known. Owner: all outlive it.
class HomedTables final : public calls::AskedTables {
 public:
  /// `here`: the tables that are hosted by this node; `projections`: all of the cluster.
  HomedTables(HomeCalls& homes, Tables& here, Projections& projections);
  /// Other nodes are answered of what is hosted here. Shape: before the node joins.
  void serve();

  Result<TablePage> select(const std::string& table, TableSelect select, TableReading reading = {}) override;
  Result<std::vector<TableInfo>> list_tables() override;
  Result<std::vector<ParkedRow>> parked(const std::string& table, GlobalPosition after = {},
                                        std::size_t limit = 1'000) override;

 private:
  [[nodiscard]] bool is_here(const std::string& table) const;

  HomeCalls& homes_;
  Tables& here_;
  Projections& projections_;
  const actors::DefinitionNames names_{"projection"};
};

}  // namespace evershard::cluster
