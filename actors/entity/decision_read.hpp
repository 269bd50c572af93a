// DecisionRead: a command's decision model, folded from what the store has up to one position.

#pragma once

#include "evershard/actors/entity/aggregate_journal.hpp"
#include "evershard/actors/model/kind.hpp"

namespace evershard::actors {

/// A folded model, and up to where: the append that rests on it fails if an event that matches stands behind.
struct DecisionRead {
  DecisionModel decision;
  GlobalPosition position;
};

/// Reads all matches up to the watermark of the first page, which is at least `at_least`. Blocks on the disk: a reader
/// thread's work. Errors: as AggregateJournal::query; what the user's fold failed with
[[nodiscard]] Result<DecisionRead> read_decision(const AggregateKind& kind, const AggregateJournal& journal,
                                                 const CommandBytes& command, DecisionModel decision,
                                                 GlobalPosition at_least);

}  // namespace evershard::actors
