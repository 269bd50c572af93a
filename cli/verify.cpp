// `evershard verify`: everything looked at, against a rebuild.

#include "evershard/cli/commands.hpp"
#include "evershard/cli/long_work.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cluster/exchange/administration_json.hpp"

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
  write_verify_report(json, *report);
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
