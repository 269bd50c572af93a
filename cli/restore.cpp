// `evershard restore`: the way back from a backup.

#include "evershard/cli/commands.hpp"
#include "evershard/cli/long_work.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cluster/local/maintenance.hpp"

namespace evershard::cli {
namespace {

Options restore_options() {
  Options options;
  options.argument("SOURCE", "a backup, or a store that is not open");
  options.argument("TARGET", "an empty directory, or one that is not there yet");
  return options;
}

Outcome run_restore(const Invocation& invocation) {
  const std::string source = *invocation.arguments.text("SOURCE");
  const std::string target = *invocation.arguments.text("TARGET");
  LongWork work(invocation, "restore");
  if (auto done = restore(source, target, work.progress()); !done) return Failed(work.failure(std::move(done).error()));
  work.clear();
  JsonText json;
  json.begin_object().key("source").string(source).key("restored").string(target).end_object();
  print_one(invocation, json, {{"restored", target}, {"from", source}});
  return {};
}

}  // namespace

Command restore_command() {
  return {"restore", "store", "Copies a backup into an empty directory, and verifies it.", "evershard restore /backups/monday shop", restore_options, run_restore};
}

}  // namespace evershard::cli
