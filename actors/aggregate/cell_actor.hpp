// The actor of a cell: the aggregates of a share of the shards.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include <caf/all.hpp>

#include "evershard/actors/aggregate/actor_system.hpp"
#include "evershard/actors/aggregate/cell_inbox.hpp"
#include "evershard/actors/aggregate/load_queue.hpp"
#include "evershard/actors/aggregate/prepare_desk.hpp"
#include "evershard/actors/aggregate/reading_threads.hpp"
#include "evershard/actors/entity/aggregate_journal.hpp"
#include "evershard/actors/entity/entity_table.hpp"
#include "evershard/actors/entity/recovery_permits.hpp"

namespace evershard::actors {

/// There is something in the inbox.
using WakeAtom = caf::atom_constant<caf::atom("wake")>;
/// Time to look at the clock.
using TickAtom = caf::atom_constant<caf::atom("tick")>;
using CellActor = caf::typed_actor<caf::reacts_to<WakeAtom>, caf::reacts_to<TickAtom>>;

/// The node's permits, asked from any cell (whose number goes in place of a shard's).
struct SharedPermits {
  std::mutex mutex;
  RecoveryPermits permits;
};

/// What the cells have in common, and where each finds the others' inboxes. Outlives the actors.
struct CellSurroundings {
  AggregateJournal& journal;
  ReadingThreads& reading;
  LoadQueue& loads;
  SharedPermits& permits;
  PrepareDesk& desk;
  std::function<CellInbox&(std::uint32_t cell)> inbox;
};

/// Figures of one cell, as of its last step.
struct CellFigures {
  EntityCounters counters{};
  std::size_t known = 0;
  std::size_t live = 0;
};

/// What its host sees of an actor without asking it.
struct CellWindow {
  std::mutex mutex;
  CellFigures figures;
  bool stopped = false;
};

/// With threads, each in one of its own: waking it is a condition variable, not a worker that polls.
CellActor spawn_cell(ActorSystem& system, std::uint32_t cell, EntityTable::Options options,
                     std::shared_ptr<const CellSurroundings> around, std::shared_ptr<CellInbox> inbox,
                     std::shared_ptr<CellWindow> window);

}  // namespace evershard::actors
