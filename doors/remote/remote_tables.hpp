// RemoteTables: the tables of a server.

#pragma once

#include <memory>

#include "evershard/api/tables.hpp"
#include "evershard/doors/remote/connection.hpp"

namespace evershard::remote {

class RemoteTables final : public Tables {
 public:
  explicit RemoteTables(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

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

  std::shared_ptr<Connection> connection_;
};

}  // namespace evershard::remote
