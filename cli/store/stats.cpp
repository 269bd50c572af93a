// `evershard stats`: which store it is, how full, on what backend.

#include "evershard/api/json/administration_json.hpp"
#include "evershard/cli/command.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/store/store_info.hpp"

namespace evershard::cli {
namespace {

Outcome run_stats(const Invocation& invocation) {
  auto store = invocation.look();
  if (!store) return Failed(std::move(store).error());
  const auto read = store->stats();
  if (!read) return Failed(Failure(read.error()));
  const StoreStats& stats = *read;

  JsonText json;
  write_stats(json, stats);

  Parts parts;
  add_info_parts(parts, stats.info);
  parts.insert(parts.end(), {{"events", grouped(stats.watermark.value)},
                             {"indexed in files up to", grouped(stats.sealed.value)},
                             {"indexed in memory", grouped(stats.tail_events) + " events"},
                             {"on disk", rounded_size(stats.disk_bytes)},
                             {"free on disk", rounded_size(stats.disk_free_bytes)},
                             {"in memory", rounded_size(stats.memory_bytes)},
                             {"backend", stats.backend_assertions
                                             ? "with assertions: 1.6 to 1.8 times slower than a release build of it"
                                             : "release build"}});
  for (const auto& [name, value] : stats.details) parts.emplace_back(name, grouped(value));
  print_one(invocation, json, parts);
  return {};
}

}  // namespace

Command stats_command() {
  return {"stats",
          "store",
          "Shows a store's identity, its figures and what it runs on.",
          "evershard stats --data shop",
          store_options,
          run_stats};
}

}  // namespace evershard::cli
