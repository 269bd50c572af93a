// NoTables: where there are none, each call says why.

#pragma once

#include <string>
#include <utility>

#include "evershard/api/tables.hpp"

namespace evershard::cluster {

class NoTables final : public Tables {
 public:
  explicit NoTables(std::string why = "projections are switched off here") : why_(std::move(why)) {}

  Result<TablePage> select(const std::string&, TableSelect, TableReading) override { return no(); }
  Result<TablePlan> explain(const std::string&, TableSelect, TableReading) override { return no(); }
  Result<TableInfo> describe_table(const std::string&, TableReading) override { return no(); }
  Result<std::vector<TableInfo>> list_tables() override { return no(); }
  Result<std::vector<ParkedRow>> parked(const std::string&, GlobalPosition, std::size_t) override { return no(); }
  Result<GlobalPosition> retry_parked(const std::string&, std::vector<GlobalPosition>) override { return no(); }
  Result<GlobalPosition> discard_parked(const std::string&, std::vector<GlobalPosition>) override { return no(); }

 private:
  [[nodiscard]] Refused no() const { return refuse(ErrorCode::unavailable, why_); }
  const std::string why_;
};

}  // namespace evershard::cluster
