#include "evershard/cluster/views/homed_tables.hpp"

#include <algorithm>
#include <utility>

#include "evershard/api/messages/table_messages.hpp"
#include "evershard/cluster/views/homed_ask.hpp"
#include "evershard/services/tables/host/host_tables.hpp"

namespace evershard::cluster {
namespace {

using std::chrono::milliseconds;
using Again = HomeCalls::Again;

constexpr milliseconds table_read_time = std::chrono::seconds(10);
constexpr std::uint32_t parked_at_once = 1'000;

template <class Request>
TableReading reading_at_home(const Request& request) {
  TableReading reading{.timeout = home_wait};
  if (request.has_version()) reading.version = SeqNr(request.version());
  if constexpr (requires { request.at_least(); }) {
    if (request.has_at_least()) {
      reading.at_least = GlobalPosition(request.at_least().position());
      reading.timeout = milliseconds(request.at_least().timeout_ms());
    }
  }
  return reading;
}

template <class Found, class Response>
Result<void> told_of_table(const Result<Found>& found, Response& response) {
  if (!found) return refuse(found.error());
  messages::put(*found, response);
  return {};
}

}  // namespace

void HomedTables::serve() {
  serve_home<v1::SelectRequest, v1::SelectResponse>(
      homes_, "tables.select", [this](auto& request, auto& response) -> Result<void> {
        return told_of_table(here_.select(request.table(), messages::get(request.select()), reading_at_home(request)),
                             response);
      });
  serve_home<v1::ExplainRequest, v1::ExplainResponse>(
      homes_, "tables.explain", [this](auto& request, auto& response) -> Result<void> {
        return told_of_table(here_.explain(request.table(), messages::get(request.select()), reading_at_home(request)),
                             response);
      });
  serve_home<v1::DescribeTableRequest, v1::TableInfo>(
      homes_, "tables.describe", [this](auto& request, auto& response) -> Result<void> {
        return told_of_table(here_.describe_table(request.table(), reading_at_home(request)), response);
      });
  serve_home<v1::ListParkedRowsRequest, v1::ListParkedRowsResponse>(
      homes_, "tables.parked", [this](auto& request, auto& response) -> Result<void> {
        for (auto limit = std::min(request.limit(), parked_at_once);; limit /= 2) {
          const auto rows = here_.parked(request.table(), GlobalPosition(request.after()), limit);
          if (!rows) return refuse(rows.error());
          response.Clear();
          for (const auto& row : *rows) messages::put(row, *response.add_parked());
          if (limit <= 1 || response.ByteSizeLong() <= HomeCalls::answer_bytes_max) return {};
        }
      });
  serve_home<v1::SettleParkedRowsRequest, v1::SettleParkedRowsResponse>(
      homes_, "tables.settle", [this](auto& request, auto& response) -> Result<void> {
        if (request.positions().empty())
          return refuse(ErrorCode::invalid_argument,
                        "a node names no parked events: earlier releases meant all of them");
        std::vector<GlobalPosition> positions;
        for (const auto position : request.positions()) positions.emplace_back(position);
        const auto done = request.discard() ? here_.discard_parked(request.table(), std::move(positions))
                                            : here_.retry_parked(request.table(), std::move(positions));
        if (!done) return refuse(done.error());
        response.set_position(done->value);
        return {};
      });
}

Result<bool> HomedTables::is_here(const std::string& table) const {
  EVERSHARD_TRY(actors::check_definition_name(names_.category(), table));
  return homes_.is_home(of(table));
}

Result<TablePage> HomedTables::select(const std::string& table, TableSelect select, TableReading reading) {
  const auto here = is_here(table);
  if (!here) return refuse(here.error());
  if (*here) {
    if (auto page = here_.select(table, select, reading); page || !has_just_gone(page.error())) return page;
  }
  v1::SelectRequest request;
  request.set_table(table);
  messages::put(select, *request.mutable_select());
  if (reading.version) request.set_version(reading.version->value);
  return wait_in_parts(reading.at_least ? reading.timeout : milliseconds(0),
                       [&](milliseconds time) -> Result<TablePage> {
                         if (reading.at_least) {
                           request.mutable_at_least()->set_position(reading.at_least->value);
                           request.mutable_at_least()->set_timeout_ms(static_cast<std::uint32_t>(time.count()));
                         }
                         v1::SelectResponse response;
                         EVERSHARD_TRY(ask_home(homes_, "tables.select", of(table), request, response,
                                                std::max(time, table_read_time), Again::read));
                         return messages::get(response);
                       });
}

Result<TablePlan> HomedTables::explain(const std::string& table, TableSelect select, TableReading reading) {
  EVERSHARD_TRY(is_here(table));
  v1::ExplainRequest request;
  request.set_table(table);
  messages::put(select, *request.mutable_select());
  if (reading.version) request.set_version(reading.version->value);
  v1::ExplainResponse response;
  EVERSHARD_TRY(ask_home(homes_, "tables.explain", of(table), request, response, table_read_time, Again::read));
  return messages::get(response);
}

Result<TableInfo> HomedTables::describe_table(const std::string& table, TableReading reading) {
  EVERSHARD_TRY(is_here(table));
  v1::DescribeTableRequest request;
  request.set_table(table);
  if (reading.version) request.set_version(reading.version->value);
  v1::TableInfo response;
  EVERSHARD_TRY(ask_home(homes_, "tables.describe", of(table), request, response, table_read_time, Again::read));
  return messages::get(response);
}

Result<std::vector<TableInfo>> HomedTables::list_tables() {
  const auto all = projections_.list();
  if (!all) return refuse(all.error());
  return tables_among(*all, [this](const std::string& name) { return describe_table(name); });
}

Result<std::vector<ParkedRow>> HomedTables::parked(const std::string& table, GlobalPosition after, std::size_t limit) {
  const auto here = is_here(table);
  if (!here) return refuse(here.error());
  if (*here) {
    if (auto found = here_.parked(table, after, limit); found || !has_just_gone(found.error())) return found;
  }
  std::vector<ParkedRow> rows;
  while (rows.size() < limit) {
    v1::ListParkedRowsRequest request;
    request.set_table(table);
    request.set_after(rows.empty() ? after.value : rows.back().position.value);
    request.set_limit(static_cast<std::uint32_t>(std::min<std::size_t>(limit - rows.size(), parked_at_once)));
    v1::ListParkedRowsResponse response;
    EVERSHARD_TRY(ask_home(homes_, "tables.parked", of(table), request, response, table_read_time, Again::read));
    if (response.parked_size() == 0) break;
    for (const auto& row : response.parked()) rows.push_back(messages::get(row));
  }
  return rows;
}

Result<GlobalPosition> HomedTables::settle(const std::string& table, const std::vector<GlobalPosition>& positions,
                                           bool discard) {
  EVERSHARD_TRY(is_here(table));
  if (positions.empty()) return GlobalPosition{};
  v1::SettleParkedRowsRequest request;
  request.set_table(table);
  for (const auto position : positions) request.add_positions(position.value);
  request.set_discard(discard);
  v1::SettleParkedRowsResponse response;
  EVERSHARD_TRY(ask_home(homes_, "tables.settle", of(table), request, response, home_change_time, Again::not_done));
  return GlobalPosition(response.position());
}

}  // namespace evershard::cluster
