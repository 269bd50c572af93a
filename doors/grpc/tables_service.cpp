#include "evershard/doors/grpc/tables_service.hpp"

#include "evershard/api/messages/table_messages.hpp"
#include "evershard/api/no_tables.hpp"

namespace evershard::door {
namespace {

using std::chrono::milliseconds;

Tables& tables_of(Calls& calls) {
  static cluster::NoTables none("this server keeps no projections");
  return calls.served.tables == nullptr ? none : *calls.served.tables;
}

template <class Request>
TableReading reading_of(const Request& request, milliseconds wait = {}) {
  TableReading reading{.timeout = wait};
  if (request.has_version()) reading.version = SeqNr(request.version());
  if constexpr (requires { request.at_least(); }) {
    if (request.has_at_least()) reading.at_least = GlobalPosition(request.at_least().position());
  }
  return reading;
}

}  // namespace

TablesService::TablesService(Calls& calls) : ServiceOf(calls) {
  answers<pb::SelectRequest, pb::SelectResponse>(
      "Select", Scope::read,
      [this](pb::SelectRequest& request, pb::SelectResponse& response, milliseconds wait) -> Result<void> {
        const auto page =
            tables_of(calls_).select(request.table(), messages::get(request.select()), reading_of(request, wait));
        if (!page) return refuse(page.error());
        messages::put(*page, response);
        return {};
      });
  answers<pb::ExplainRequest, pb::ExplainResponse>(
      "Explain", Scope::read, [this](pb::ExplainRequest& request, pb::ExplainResponse& response) -> Result<void> {
        const auto plan =
            tables_of(calls_).explain(request.table(), messages::get(request.select()), reading_of(request));
        if (!plan) return refuse(plan.error());
        messages::put(*plan, response);
        return {};
      });
  answers<pb::DescribeTableRequest, pb::TableInfo>(
      "DescribeTable", Scope::read, [this](pb::DescribeTableRequest& request, pb::TableInfo& response) -> Result<void> {
        const auto info = tables_of(calls_).describe_table(request.table(), reading_of(request));
        if (!info) return refuse(info.error());
        messages::put(*info, response);
        return {};
      });
  answers<pb::ListTablesRequest, pb::ListTablesResponse>(
      "ListTables", Scope::read, [this](pb::ListTablesRequest&, pb::ListTablesResponse& response) -> Result<void> {
        const auto tables = tables_of(calls_).list_tables();
        if (!tables) return refuse(tables.error());
        for (const auto& table : *tables) messages::put(table, *response.add_tables());
        return {};
      });
  answers<pb::ListParkedRowsRequest, pb::ListParkedRowsResponse>(
      "ListParkedRows", Scope::read,
      [this](pb::ListParkedRowsRequest& request, pb::ListParkedRowsResponse& response) -> Result<void> {
        const auto parked = tables_of(calls_).parked(request.table(), GlobalPosition(request.after()),
                                                     request.limit() == 0 ? 1'000 : request.limit());
        if (!parked) return refuse(parked.error());
        for (const auto& each : *parked) messages::put(each, *response.add_parked());
        return {};
      });
  answers<pb::SettleParkedRowsRequest, pb::SettleParkedRowsResponse>(
      "SettleParkedRows", Scope::admin,
      [this](pb::SettleParkedRowsRequest& request, pb::SettleParkedRowsResponse& response) -> Result<void> {
        if (request.positions().empty())
          return refuse(ErrorCode::invalid_argument,
                        "no parked events are named: their positions are (ListParkedRows), also where all are meant");
        std::vector<GlobalPosition> positions;
        for (const auto position : request.positions()) positions.emplace_back(position);
        auto& tables = tables_of(calls_);
        const auto done = request.discard() ? tables.discard_parked(request.table(), std::move(positions))
                                            : tables.retry_parked(request.table(), std::move(positions));
        if (!done) return refuse(done.error());
        response.set_position(done->value);
        return {};
      });
}

}  // namespace evershard::door
