#include "evershard/doors/remote/remote_tables.hpp"

#include <algorithm>
#include <limits>

#include "evershard/api/messages/table_messages.hpp"
#include "evershard/doors/remote/sendable.hpp"

namespace evershard::remote {

Result<TablePage> RemoteTables::select(const std::string& table, TableSelect select, TableReading reading) {
  pb::SelectRequest request;
  request.set_table(table);
  messages::put(select, *request.mutable_select());
  if (reading.version) request.set_version(reading.version->value);
  EVERSHARD_TRY(sendable(request));
  const auto at_least = connection_->at_least(reading.at_least);
  const auto until = Connection::Clock::now() + std::min(reading.timeout, Connection::time_max);
  const auto call_until = std::max(until, Connection::Clock::now() + connection_->options().timeout);
  for (;;) {
    pb::SelectResponse response;
    if (at_least) {
      request.mutable_at_least()->set_position(at_least->value);
      request.mutable_at_least()->set_timeout_ms(static_cast<std::uint32_t>(
          std::min<std::int64_t>(Connection::left(until).count(), std::numeric_limits<std::int32_t>::max())));
    }
    const auto asked = connection_->ask(
        Connection::left(call_until),
        [&](Door& door, grpc::ClientContext& context, std::chrono::milliseconds) {
          return door.tables->Select(&context, request, &response);
        },
        Connection::Again::not_served, Connection::answer_grace);
    if (asked) {
      connection_->see(GlobalPosition(response.position()));
      return messages::get(response);
    }
    // One that answers before the time is up is asked again.
    if (asked.error().code != ErrorCode::timeout || !at_least || Connection::left(until).count() == 0)
      return refuse(asked.error());
  }
}

Result<TablePlan> RemoteTables::explain(const std::string& table, TableSelect select, TableReading reading) {
  pb::ExplainRequest request;
  request.set_table(table);
  messages::put(select, *request.mutable_select());
  if (reading.version) request.set_version(reading.version->value);
  EVERSHARD_TRY(sendable(request));
  pb::ExplainResponse response;
  EVERSHARD_TRY(connection_->ask([&](Door& door, grpc::ClientContext& context, std::chrono::milliseconds) {
    return door.tables->Explain(&context, request, &response);
  }));
  return messages::get(response);
}

Result<TableInfo> RemoteTables::describe_table(const std::string& table, TableReading reading) {
  pb::DescribeTableRequest request;
  request.set_table(table);
  if (reading.version) request.set_version(reading.version->value);
  EVERSHARD_TRY(sendable(request));
  pb::TableInfo response;
  EVERSHARD_TRY(connection_->ask([&](Door& door, grpc::ClientContext& context, std::chrono::milliseconds) {
    return door.tables->DescribeTable(&context, request, &response);
  }));
  return messages::get(response);
}

Result<std::vector<TableInfo>> RemoteTables::list_tables() {
  pb::ListTablesResponse response;
  EVERSHARD_TRY(connection_->ask([&](Door& door, grpc::ClientContext& context, std::chrono::milliseconds) {
    return door.tables->ListTables(&context, {}, &response);
  }));
  std::vector<TableInfo> tables;
  for (const auto& each : response.tables()) {
    auto table = messages::get(each);
    if (!table) return refuse(std::move(table).error());
    tables.push_back(std::move(*table));
  }
  return tables;
}

Result<std::vector<ParkedRow>> RemoteTables::parked(const std::string& table, GlobalPosition after, std::size_t limit) {
  if (limit == 0) return std::vector<ParkedRow>();
  pb::ListParkedRowsRequest request;
  request.set_table(table);
  request.set_after(after.value);
  request.set_limit(
      static_cast<std::uint32_t>(std::min<std::size_t>(limit, std::numeric_limits<std::uint32_t>::max())));
  EVERSHARD_TRY(sendable(request));
  pb::ListParkedRowsResponse response;
  EVERSHARD_TRY(connection_->ask([&](Door& door, grpc::ClientContext& context, std::chrono::milliseconds) {
    return door.tables->ListParkedRows(&context, request, &response);
  }));
  std::vector<ParkedRow> rows;
  for (const auto& each : response.parked()) rows.push_back(messages::get(each));
  return rows;
}

Result<GlobalPosition> RemoteTables::settle(const std::string& table, const std::vector<GlobalPosition>& positions,
                                            bool discard) {
  if (positions.empty()) return GlobalPosition{};
  pb::SettleParkedRowsRequest request;
  request.set_table(table);
  for (const GlobalPosition position : positions) request.add_positions(position.value);
  request.set_discard(discard);
  EVERSHARD_TRY(sendable(request));
  pb::SettleParkedRowsResponse response;
  EVERSHARD_TRY(connection_->ask(
      [&](Door& door, grpc::ClientContext& context, std::chrono::milliseconds) {
        return door.tables->SettleParkedRows(&context, request, &response);
      },
      Connection::Again::not_sent));
  connection_->see(GlobalPosition(response.position()));
  return GlobalPosition(response.position());
}

}  // namespace evershard::remote
