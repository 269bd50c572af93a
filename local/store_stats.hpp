// What the store of a process says of itself, the same in one process and on a node.

#pragma once

#include <utility>

#include "evershard/api/administration.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::cluster {

/// Which store it is, without figures.
[[nodiscard]] inline StoreStats only_named(const storage::Identity& identity) {
  StoreStats stats;
  stats.info = {identity.store.text(), identity.shards,     identity.format,
                identity.hash,         identity.created_at, identity.fork.text()};
  return stats;
}

[[nodiscard]] inline StoreStats stats_of(const storage::Identity& identity, storage::StoreStats store) {
  auto stats = only_named(identity);
  stats.watermark = store.watermark;
  stats.sealed = store.mark;
  stats.tail_events = store.tail_events;
  stats.commits = store.commits;
  stats.disk_bytes = store.disk_bytes;
  stats.disk_free_bytes = store.disk_free_bytes;
  stats.memory_bytes = store.memory_bytes;
  stats.backend_assertions = store.backend_assertions;
  stats.details = std::move(store.details);
  return stats;
}

}  // namespace evershard::cluster
