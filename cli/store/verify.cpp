// `evershard verify`: everything looked at, against a rebuild.

#include <optional>

#include "evershard/api/json/administration_json.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/long_work.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/local/maintenance.hpp"

namespace evershard::cli {
namespace {

/// Of a running server, what it serves; of a directory, whatever lies there.
Result<DirectoryReport> look(OpenedStore& store, const Progress& progress) {
  auto report = store.verify(progress);
  if (!report) return refuse(std::move(report).error());
  return DirectoryReport{"a store in service", 0, std::move(*report)};
}

void print(const Invocation& invocation, const DirectoryReport& checked) {
  const auto& report = checked.report;
  JsonText json;
  json.begin_object().key("checked").string(checked.what);
  if (checked.node != 0) json.key("node").number(checked.node);
  write_verify_members(json, report);
  json.end_object();
  std::vector<std::pair<std::string, std::string>> parts{
      {"checked", checked.what + (checked.node == 0 ? "" : ", node " + std::to_string(checked.node) + "'s")},
      {"events", grouped(report.events)},
      {"records", grouped(report.records)},
      {"index rows", grouped(report.index_rows)},
      {"snapshots", grouped(report.snapshots)},
      {"errors", grouped(report.errors)}};
  for (const auto& finding : report.findings) parts.emplace_back("", finding);
  print_one(invocation, json, parts);
}

Outcome run_verify(const Invocation& invocation) {
  std::optional<OpenedStore> served;
  if (invocation.server()) {
    auto opened = invocation.open();
    if (!opened) return Failed(std::move(opened).error());
    served.emplace(std::move(*opened));
  } else if (auto there = invocation.look_for_store(); !there) {
    return there;
  }
  LongWork work(invocation, "verify");
  auto checked = served ? look(*served, work.progress()) : verify_directory(invocation.data_dir(), work.progress());
  if (!checked) return Failed(work.failure(std::move(checked).error()));
  work.clear();
  print(invocation, *checked);
  const auto errors = checked->report.errors;
  if (errors == 0) return {};
  return Failed(Failure(ErrorCode::corruption,
                        std::to_string(errors) + (errors == 1 ? " error was found" : " errors were found"),
                        "docs/operations.md says what to do"));
}

}  // namespace

Command verify_command() {
  return {"verify",
          "store",
          "Checks every record, the order and the indexes of a store or a backup.",
          "evershard verify --data shop",
          store_options,
          run_verify,
          nullptr,
          "It checks the indexes against a rebuild. --data may also be the directory of a cluster's node or "
          "coordinator, or a backup."};
}

}  // namespace evershard::cli
