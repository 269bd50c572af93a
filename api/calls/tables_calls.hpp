// The calls of Tables, and the tables that are asked for by them.

#pragma once

#include <memory>
#include <utility>

#include "evershard/api/calls/call.hpp"
#include "evershard/api/tables.hpp"

namespace evershard::calls {

[[nodiscard]] const Calls<Tables>& tables_calls();

/// Tables elsewhere.
class AskedTables : public Tables {
 public:
  explicit AskedTables(std::shared_ptr<Asker> asker) : asker_(std::move(asker)) {}

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
  Result<GlobalPosition> settle(const std::string& table, const std::vector<GlobalPosition>& positions, bool discard);

  const std::shared_ptr<Asker> asker_;
};

}  // namespace evershard::calls
