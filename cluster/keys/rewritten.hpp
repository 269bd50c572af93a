// What was read before may not be handed out as it is: as one number, of a node.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "evershard/services/erasure/sealing.hpp"
#include "evershard/storage/journal/removal_mask.hpp"
#include "evershard/storage/node_store.hpp"

namespace evershard::cluster {

/// Returns: another number each time the node hears that a key was destroyed, or removes events of the shards that it
/// keeps. Any thread. Owner: the store outlives it.
[[nodiscard]] inline std::function<std::uint64_t()> rewritten_on(storage::NodeStore& store,
                                                                 std::shared_ptr<const Sealing> sealing) {
  return
      [&removals = store.removals(), sealing = std::move(sealing)] { return removals.changes() + sealing->erasures(); };
}

}  // namespace evershard::cluster
