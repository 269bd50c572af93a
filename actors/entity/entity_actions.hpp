// EntityActions: what is to be done for entities now; each with the name its result comes back under.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "evershard/actors/entity/aggregate_journal.hpp"
#include "evershard/actors/entity/ask.hpp"
#include "evershard/actors/model/answer.hpp"
#include "evershard/actors/model/kind.hpp"

namespace evershard::actors {

/// Which entity of a table, and which of its lives: a slot is used again.
struct EntityPlace {
  std::uint32_t slot = 0;
  std::uint32_t life = 0;
  friend bool operator==(const EntityPlace&, const EntityPlace&) = default;
};

/// An operation under way. Its result comes back with it; one that nobody waits for any more is passed over.
struct EntityOp {
  EntityPlace place;
  std::uint64_t number = 0;
  friend bool operator==(const EntityOp&, const EntityOp&) = default;
};

struct EntityActions {
  /// replay(), then loaded().
  struct Load {
    EntityOp op;
    std::shared_ptr<const AggregateKind> kind;
    AggregateId aggregate;
  };
  /// read_decision(), then model_read().
  struct ReadModel {
    EntityOp op;
    std::shared_ptr<const AggregateKind> kind;
    CommandBytes command;
    DecisionModel decision;
    GlobalPosition at_least;
  };
  /// Asks outside, then prepared().
  struct Prepare {
    EntityOp op;
    std::shared_ptr<const AggregateKind> kind;
    AggregateId aggregate;
    std::string command_id;  ///< empty: none
    CommandBytes question;
    SteadyTime deadline;  ///< then nobody waits for the answer
  };
  /// AggregateJournal::command(), then looked_up().
  struct LookUp {
    EntityOp op;
    AggregateId aggregate;
    std::string command_id;
  };
  /// AggregateJournal::append(), those of an aggregate in this order, then appended().
  struct Send {
    EntityOp op;
    Append append;
    AppendChain chain;
    std::uint64_t loaded_at = 0;
  };
  /// AggregateJournal::put_snapshot(), then snapshot_written().
  struct PutSnapshot {
    EntityOp op;
    Snapshot snapshot;
    std::uint64_t loaded_at = 0;
  };
  struct Tell {
    AskTicket ticket;
    AnyAnswer answer;
  };

  std::vector<Load> loads;
  std::vector<ReadModel> reads;
  std::vector<Prepare> prepares;
  std::vector<LookUp> look_ups;
  std::vector<Send> sends;
  std::vector<PutSnapshot> snapshots;
  std::vector<Tell> answers;
  std::uint32_t permits_wanted = 0;  ///< of the node's RecoveryPermits; each comes back with permit()
  std::uint32_t permits_returned = 0;

  [[nodiscard]] bool empty() const {
    return loads.empty() && reads.empty() && prepares.empty() && look_ups.empty() && sends.empty() &&
           snapshots.empty() && answers.empty() && permits_wanted == 0 && permits_returned == 0;
  }
  void clear() {
    loads.clear();
    reads.clear();
    prepares.clear();
    look_ups.clear();
    sends.clear();
    snapshots.clear();
    answers.clear();
    permits_wanted = permits_returned = 0;
  }
};

}  // namespace evershard::actors
