#include "evershard/cli/removal/retention_flags.hpp"

#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include <unistd.h>

#include "evershard/cli/long_work.hpp"
#include "evershard/cli/store/store_info.hpp"

namespace evershard::cli {
namespace {

void print_result(const Invocation& invocation, const RetentionResult& result, bool done) {
  JsonText json;
  json.begin_object().key("done").boolean(done);
  if (!result.operation.empty()) json.key("operation").string(result.operation);
  json.key("aggregates")
      .number(result.aggregates)
      .key("events")
      .number(result.events)
      .key("snapshots")
      .number(result.snapshots);
  json.key("records")
      .number(result.records)
      .key("bytes_before")
      .number(result.bytes_before)
      .key("bytes_after")
      .number(result.bytes_after);
  if (result.before.value != 0)
    json.key("version").number(result.version.value).key("before").number(result.before.value);
  if (result.covered_by)
    json.key("covered_by").number(result.covered_by->value).key("covered_revision").number(result.covered_revision);
  json.end_object();

  const std::string go = done ? "removed" : "would be removed";
  Parts parts{{"events", grouped(result.events) + " " + go}, {"snapshots", grouped(result.snapshots) + " " + go}};
  if (result.aggregates != 0) parts.emplace_back("aggregates", grouped(result.aggregates));
  if (result.before.value != 0)
    parts.emplace_back("version", std::to_string(result.version.value) + "; what stands below " +
                                      std::to_string(result.before.value) + " is gone" + (done ? "" : " then"));
  if (result.covered_by)
    parts.emplace_back("stood for by", "the snapshot of version " + std::to_string(result.covered_by->value) +
                                           ", schema revision " + std::to_string(result.covered_revision));
  parts.emplace_back("records", grouped(result.records) + " rewritten: from " + rounded_size(result.bytes_before) +
                                    " to " + rounded_size(result.bytes_after));
  if (!result.operation.empty()) parts.emplace_back("operation", result.operation);
  print_one(invocation, json, parts);
}

/// Only from who sits there: a script says --yes.
bool confirmed_at_terminal(const Invocation& invocation) {
  if (!invocation.terminal.output || !invocation.terminal.error || isatty(STDIN_FILENO) == 0) return false;
  std::cerr << "This cannot be undone. Type yes to do it: " << std::flush;
  std::string typed;
  std::getline(std::cin, typed);
  return typed == "yes";
}

}  // namespace

void add_retention_flags(Options& options, bool removing) {
  options.value("by", "NAME", "who asked for it; kept in the log; else USER")
      .value("reason", "TEXT", "why; kept in the log")
      .flag("dry-run", "show what would be removed, and change nothing");
  if (!removing) return;
  options.flag("yes", "do it; without it, nothing changes unless somebody confirms at a terminal")
      .size("bytes-per-second", "how much is rewritten a second, at most; 0: no limit", {}, 0);
}

RetentionOrder retention_order(const Invocation& invocation) {
  RetentionOrder order;
  const char* user = std::getenv("USER");
  order.by = invocation.arguments.text("by").value_or(user != nullptr ? user : "");
  order.reason = invocation.arguments.text("reason").value_or("");
  order.dry_run = invocation.arguments.has("dry-run");
  return order;
}

Outcome look_then_do(const Invocation& invocation, const std::string& what, NothingFound nothing,
                     const std::function<Result<RetentionResult>(RetentionOrder, Progress)>& work) {
  auto order = retention_order(invocation);
  order.bytes_per_second = invocation.arguments.size("bytes-per-second").value_or(0);
  const bool only_look = std::exchange(order.dry_run, false);
  const bool yes = invocation.arguments.has("yes");
  if (only_look && yes) throw UsageError("--dry-run and --yes contradict each other");
  if (!yes) {
    auto looking = order;
    looking.dry_run = true;
    LongWork look(invocation, "look");
    auto would = work(looking, look.progress());
    if (!would) return Failed(look.failure(std::move(would).error()));
    look.clear();
    print_result(invocation, *would, false);
    const bool none = would->events == 0 && would->snapshots == 0 && would->aggregates == 0;
    if (only_look || (none && nothing == NothingFound::done)) return {};
    invocation.out.flush();
    if (!confirmed_at_terminal(invocation))
      return Failed(Failure(ErrorCode::invalid_argument, "nothing was changed: removing " + what + " cannot be undone",
                            "do it with --yes; only look with --dry-run"));
  }
  LongWork doing(invocation, "retention");
  auto done = work(order, doing.progress());
  if (!done) return Failed(doing.failure(std::move(done).error()));
  doing.clear();
  print_result(invocation, *done, true);
  return {};
}

}  // namespace evershard::cli
