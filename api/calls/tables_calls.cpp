#include "evershard/api/calls/tables_calls.hpp"

#include <algorithm>
#include <limits>

#include "evershard/api/messages/table_messages.hpp"

namespace evershard::calls {
namespace {

using messages::get, messages::put;

constexpr std::uint32_t parked_rows_at_once = 1'000;

template <class Request>
TableReading table_reading_of(const Request& request, milliseconds wait = {}) {
  TableReading reading{.timeout = wait};
  if (request.has_version()) reading.version = SeqNr(request.version());
  if constexpr (requires { request.at_least(); })
    if (request.has_at_least()) reading.at_least = GlobalPosition(request.at_least().position());
  return reading;
}

const Row<Tables, pb::SelectRequest, pb::SelectResponse> select_call(
    "/evershard.v1.Tables/Select", Scope::read, Again::read, {"tables.select", &pb::SelectRequest::table},
    [](Tables& tables, auto& in, auto& out, milliseconds wait) {
      return told(tables.select(in.table(), get(in.select()), table_reading_of(in, wait)),
                  [&](const TablePage& page) { put(page, out); });
    });
const Row<Tables, pb::ExplainRequest, pb::ExplainResponse> explain_call(
    "/evershard.v1.Tables/Explain", Scope::read, Again::read, {"tables.explain", &pb::ExplainRequest::table},
    [](Tables& tables, auto& in, auto& out, milliseconds wait) {
      return told(tables.explain(in.table(), get(in.select()), table_reading_of(in, wait)),
                  [&](const TablePlan& plan) { put(plan, out); });
    });
const Row<Tables, pb::DescribeTableRequest, pb::TableInfo> describe_table_call(
    "/evershard.v1.Tables/DescribeTable", Scope::read, Again::read,
    {"tables.describe", &pb::DescribeTableRequest::table}, [](Tables& tables, auto& in, auto& out) {
      return told(tables.describe_table(in.table(), table_reading_of(in)),
                  [&](const TableInfo& info) { put(info, out); });
    });
const Row<Tables, pb::ListTablesRequest, pb::ListTablesResponse> list_tables_call(
    "/evershard.v1.Tables/ListTables", Scope::read, Again::read, {}, [](Tables& tables, auto&, auto& out) {
      return told(tables.list_tables(), [&](const auto& all) {
        for (const auto& table : all) put(table, *out.add_tables());
      });
    });
const Row<Tables, pb::ListParkedRowsRequest, pb::ListParkedRowsResponse> parked_rows_call(
    "/evershard.v1.Tables/ListParkedRows", Scope::read, Again::read,
    {"tables.parked", &pb::ListParkedRowsRequest::table, true}, [](Tables& tables, auto& in, auto& out) {
      const auto limit = in.limit() == 0 ? parked_rows_at_once : in.limit();
      return told(tables.parked(in.table(), GlobalPosition(in.after()), limit), [&](const auto& rows) {
        for (const auto& row : rows) put(row, *out.add_parked());
      });
    });
const Row<Tables, pb::SettleParkedRowsRequest, pb::SettleParkedRowsResponse> settle_parked_rows_call(
    "/evershard.v1.Tables/SettleParkedRows", Scope::admin, Again::not_done,
    {"tables.settle", &pb::SettleParkedRowsRequest::table}, [](Tables& tables, auto& in, auto& out) -> Result<void> {
      // Nodes of earlier releases meant all of them.
      if (in.positions().empty())
        return refuse(ErrorCode::invalid_argument,
                      "no parked events are named: their positions are (ListParkedRows), also where all are meant");
      std::vector<GlobalPosition> positions;
      for (const auto position : in.positions()) positions.emplace_back(position);
      return told(in.discard() ? tables.discard_parked(in.table(), std::move(positions))
                               : tables.retry_parked(in.table(), std::move(positions)),
                  [&](GlobalPosition done) { out.set_position(done.value); });
    });

}  // namespace

const Calls<Tables>& tables_calls() {
  static const Calls<Tables> all{&select_call,      &explain_call,     &describe_table_call,
                                 &list_tables_call, &parked_rows_call, &settle_parked_rows_call};
  return all;
}

Result<TablePage> AskedTables::select(const std::string& table, TableSelect select, TableReading reading) {
  pb::SelectRequest request;
  request.set_table(table);
  put(select, *request.mutable_select());
  if (reading.version) request.set_version(reading.version->value);
  pb::SelectResponse response;
  EVERSHARD_TRY(asker_->ask(select_call, request, response, {reading.at_least, reading.timeout}));
  asker_->see(GlobalPosition(response.position()));
  return get(response);
}

Result<TablePlan> AskedTables::explain(const std::string& table, TableSelect select, TableReading reading) {
  pb::ExplainRequest request;
  request.set_table(table);
  put(select, *request.mutable_select());
  if (reading.version) request.set_version(reading.version->value);
  pb::ExplainResponse response;
  EVERSHARD_TRY(asker_->ask(explain_call, request, response));
  return get(response);
}

Result<TableInfo> AskedTables::describe_table(const std::string& table, TableReading reading) {
  pb::DescribeTableRequest request;
  request.set_table(table);
  if (reading.version) request.set_version(reading.version->value);
  pb::TableInfo response;
  EVERSHARD_TRY(asker_->ask(describe_table_call, request, response));
  return get(response);
}

Result<std::vector<TableInfo>> AskedTables::list_tables() {
  pb::ListTablesRequest request;
  pb::ListTablesResponse response;
  EVERSHARD_TRY(asker_->ask(list_tables_call, request, response));
  std::vector<TableInfo> tables;
  for (const auto& each : response.tables()) {
    auto table = get(each);
    if (!table) return refuse(std::move(table).error());
    tables.push_back(*std::move(table));
  }
  return tables;
}

Result<std::vector<ParkedRow>> AskedTables::parked(const std::string& table, GlobalPosition after, std::size_t limit) {
  const std::size_t at_once = asker_->gives_parts() ? parked_rows_at_once : std::numeric_limits<std::uint32_t>::max();
  std::vector<ParkedRow> rows;
  while (rows.size() < limit) {
    pb::ListParkedRowsRequest request;
    request.set_table(table);
    request.set_after(rows.empty() ? after.value : rows.back().position.value);
    request.set_limit(static_cast<std::uint32_t>(std::min(limit - rows.size(), at_once)));
    pb::ListParkedRowsResponse response;
    EVERSHARD_TRY(asker_->ask(parked_rows_call, request, response));
    for (const auto& row : response.parked()) rows.push_back(get(row));
    if (response.parked().empty() || !asker_->gives_parts()) break;
  }
  return rows;
}

Result<GlobalPosition> AskedTables::settle(const std::string& table, const std::vector<GlobalPosition>& positions,
                                           bool discard) {
  if (positions.empty()) return GlobalPosition{};
  pb::SettleParkedRowsRequest request;
  request.set_table(table);
  for (const GlobalPosition position : positions) request.add_positions(position.value);
  request.set_discard(discard);
  pb::SettleParkedRowsResponse response;
  EVERSHARD_TRY(asker_->ask(settle_parked_rows_call, request, response));
  asker_->see(GlobalPosition(response.position()));
  return GlobalPosition(response.position());
}

}  // namespace evershard::calls
