// `evershard backup`: a copy that can be opened by itself.

#include "evershard/cli/commands.hpp"
#include "evershard/cli/long_work.hpp"
#include "evershard/cli/print.hpp"

namespace evershard::cli {
namespace {

Options backup_options() {
  Options options = store_options();
  options.argument("TARGET", "an empty directory, or one that is not there yet");
  return options;
}

Outcome run_backup(const Invocation& invocation) {
  const std::string target = *invocation.arguments.text("TARGET");
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  LongWork work(invocation, "backup");
  if (auto done = store->backup(target, work.progress()); !done) return Failed(work.failure(std::move(done).error()));
  work.clear();
  JsonText json;
  json.begin_object().key("backup").string(target).end_object();
  print_one(invocation, json, {{"backup", target}});
  return {};
}

}  // namespace

Command backup_command() {
  return {"backup", "store", "Copies the store into an empty directory.", "evershard backup /backups/monday --data shop", backup_options, run_backup};
}

}  // namespace evershard::cli
