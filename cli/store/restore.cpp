// `evershard restore`: the way back from a backup.

#include "evershard/cli/command.hpp"
#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/long_work.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/store/copy_lacks.hpp"
#include "evershard/local/maintenance.hpp"

namespace evershard::cli {
namespace {

Options restore_options() {
  Options options;
  options.argument("SOURCE", "a backup, or a store that is not open");
  options.argument("TARGET", "an empty directory, or one that does not exist yet");
  options.value("up-to", "POSITION", "end the store with this position; it must be the last one of an append");
  return options;
}

Outcome run_restore(const Invocation& invocation) {
  const std::string source = *invocation.arguments.text("SOURCE");
  const std::string target = *invocation.arguments.text("TARGET");
  RestoreOptions how;
  how.up_to = position_of(invocation.arguments, "up-to");
  CopyLacks lacks;
  lacks.gather(how);
  LongWork work(invocation, "restore");
  auto done = restore(source, target, how, work.progress());
  if (!done) return Failed(work.failure(std::move(done).error()));
  work.clear();
  JsonText json;
  json.begin_object().key("source").string(source).key("restored").string(target).key("up_to").number(done->value);
  lacks.put(json);
  json.end_object();
  std::vector<std::pair<std::string, std::string>> parts{
      {"restored", target}, {"from", source}, {"up to position", std::to_string(done->value)}};
  lacks.put(parts);
  print_one(invocation, json, parts);
  return {};
}

}  // namespace

Command restore_command() {
  return {"restore",
          "store",
          "Copies a backup into an empty directory and verifies it.",
          "evershard restore /backups/monday shop",
          restore_options,
          run_restore,
          nullptr,
          "It copies all of the backup, or up to a position with --up-to."};
}

}  // namespace evershard::cli
