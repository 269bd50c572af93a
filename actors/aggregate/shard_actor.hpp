// The actor of one shard's aggregates.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include <caf/all.hpp>

#include "evershard/actors/aggregate/reading_threads.hpp"
#include "evershard/actors/aggregate/shard_inbox.hpp"
#include "evershard/actors/entity/aggregate_journal.hpp"
#include "evershard/actors/entity/entity_table.hpp"
#include "evershard/actors/entity/recovery_permits.hpp"

namespace evershard::actors {

/// There is something in the inbox.
using WakeAtom = caf::atom_constant<caf::atom("wake")>;
/// Time to look at the clock.
using TickAtom = caf::atom_constant<caf::atom("tick")>;
using ShardActor = caf::typed_actor<caf::reacts_to<WakeAtom>, caf::reacts_to<TickAtom>>;

/// The node's permits, asked from any shard.
struct SharedPermits {
  std::mutex mutex;
  RecoveryPermits permits;
};

/// What the shards have in common, and where each finds the others' inboxes. Outlives the actors.
struct ShardSurroundings {
  AggregateJournal& journal;
  ReadingThreads& reading;
  SharedPermits& permits;
  std::function<ShardInbox&(ShardId)> inbox;
};

/// Figures of one shard, as of its last step.
struct ShardFigures {
  EntityCounters counters{};
  std::size_t known = 0;
  std::size_t live = 0;
};

/// What its host sees of an actor without asking it.
struct ShardWindow {
  std::mutex mutex;
  ShardFigures figures;
  bool stopped = false;
};

ShardActor spawn_shard(caf::actor_system& system, ShardId shard, EntityTable::Options options, std::shared_ptr<const ShardSurroundings> around,
                       std::shared_ptr<ShardInbox> inbox, std::shared_ptr<ShardWindow> window);

}  // namespace evershard::actors
