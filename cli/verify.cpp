// `evershard verify`: everything looked at, against a rebuild.

#include "evershard/cli/commands.hpp"
#include "evershard/cli/long_work.hpp"
#include "evershard/cli/print.hpp"

namespace evershard::cli {
namespace {

Outcome run_verify(const Invocation& invocation) {
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  LongWork work(invocation, "verify");
  auto report = store->verify(work.progress());
  if (!report) return Failed(work.failure(std::move(report).error()));
  work.clear();

  JsonText json;
  json.begin_object().key("events").number(report->events).key("records").number(report->records);
  json.key("index_rows").number(report->index_rows).key("snapshots").number(report->snapshots).key("errors").number(report->errors);
  json.key("findings").begin_array();
  for (const auto& finding : report->findings) json.string(finding);
  json.end_array().end_object();
  std::vector<std::pair<std::string, std::string>> parts{{"events", grouped(report->events)},
                                                         {"records", grouped(report->records)},
                                                         {"index rows", grouped(report->index_rows)},
                                                         {"snapshots", grouped(report->snapshots)},
                                                         {"errors", grouped(report->errors)}};
  for (const auto& finding : report->findings) parts.emplace_back("", finding);
  print_one(invocation, json, parts);
  if (report->errors == 0) return {};
  return Failed(Failure(ErrorCode::corruption, std::to_string(report->errors) + (report->errors == 1 ? " error was found" : " errors were found"),
                        "docs/operations.md says what to do"));
}

}  // namespace

Command verify_command() {
  return {"verify", "store", "Checks every record, the order, and the indexes against a rebuild.", "evershard verify --data shop", store_options, run_verify};
}

}  // namespace evershard::cli
