// `evershard vacuum`: space back from what was removed.

#include "evershard/cli/command.hpp"
#include "evershard/cli/long_work.hpp"
#include "evershard/cli/print.hpp"

namespace evershard::cli {
namespace {

Outcome run_vacuum(const Invocation& invocation) {
  auto store = invocation.open();
  if (!store) return Failed(std::move(store).error());
  const std::uint64_t before = store->stats().value_or(StoreStats{}).disk_bytes;
  LongWork work(invocation, "vacuum");
  if (auto done = store->vacuum(work.progress()); !done) return Failed(work.failure(std::move(done).error()));
  work.clear();
  const std::uint64_t behind = store->stats().value_or(StoreStats{}).disk_bytes;
  JsonText json;
  json.begin_object().key("disk_bytes_before").number(before).key("disk_bytes").number(behind).end_object();
  print_one(invocation, json, {{"before", rounded_size(before)}, {"now", rounded_size(behind)}});
  return {};
}

}  // namespace

Command vacuum_command() {
  return {"vacuum",
          "store",
          "Gives back the disk space of what was removed or replaced.",
          "evershard vacuum --data shop",
          store_options,
          run_vacuum};
}

}  // namespace evershard::cli
