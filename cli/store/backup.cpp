// `evershard backup`: a copy that can be opened by itself.

#include "evershard/cli/command.hpp"
#include "evershard/cli/events/query_flags.hpp"
#include "evershard/cli/long_work.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/store/copy_lacks.hpp"

namespace evershard::cli {
namespace {

Options backup_options() {
  Options options = store_options();
  options.argument("TARGET", "an empty directory, or one that does not exist yet");
  options.flag("truth-only", "leave out the indexes, which is less than half of the size; `restore` builds them again")
      .value("up-to", "POSITION", "end the copy with this position; it must be the last one of an append");
  return options;
}

Outcome run_backup(const Invocation& invocation) {
  const std::string target = *invocation.arguments.text("TARGET");
  BackupOptions how{.truth_only = invocation.arguments.has("truth-only")};
  how.up_to = position_of(invocation.arguments, "up-to");
  CopyLacks lacks;
  lacks.gather(how);
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  LongWork work(invocation, "backup");
  auto done = store->backup(target, how, work.progress());
  if (!done) return Failed(work.failure(std::move(done).error()));
  work.clear();
  JsonText json;
  json.begin_object()
      .key("backup")
      .string(target)
      .key("truth_only")
      .boolean(how.truth_only)
      .key("up_to")
      .number(done->value);
  lacks.put(json);
  json.end_object();
  std::vector<std::pair<std::string, std::string>> parts{
      {"backup", target},
      {"holds", how.truth_only ? "the truth only: `evershard restore` makes a store of it" : "the whole store"},
      {"up to position", std::to_string(done->value)}};
  lacks.put(parts);
  print_one(invocation, json, parts);
  return {};
}

}  // namespace

Command backup_command() {
  return {"backup",
          "store",
          "Copies a store into an empty directory.",
          "evershard backup /backups/monday --data shop",
          backup_options,
          run_backup,
          nullptr,
          "The copy is the whole store, without its indexes with --truth-only, or up to a position with --up-to."};
}

}  // namespace evershard::cli
