// CellInbox: what comes in for one cell's aggregates, from any thread, taken out in batches.

#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "evershard/actors/entity/decision_read.hpp"
#include "evershard/actors/entity/entity_actions.hpp"
#include "evershard/actors/entity/hosted_kind.hpp"
#include "evershard/actors/entity/replay.hpp"
#include "evershard/actors/model/aggregate_door.hpp"

namespace evershard::actors {

namespace inputs {

struct Host {
  HostedKind kind;
  std::function<void(Result<void>)> done;
};
struct AskOne {
  AggregateId aggregate;
  Asked asked;  ///< its ticket is given by the caller
  AnswerDone done;
};
struct Cancel {
  AggregateId aggregate;
  AskTicket ticket;
};
struct Passivate {
  AggregateId aggregate;
};
/// Something was erased.
struct PassivateOfSubjects {};
/// Those of `which` live elsewhere now.
struct End {
  std::function<bool(const AggregateId&)> which;
};
struct Permit {};
struct Loaded {
  EntityOp op;
  Result<Replayed> result;
};
struct ModelRead {
  EntityOp op;
  Result<DecisionRead> result;
};
struct Prepared {
  EntityOp op;
  Result<std::string> answer;
};
struct LookedUp {
  EntityOp op;
  Result<std::optional<RecordedCommand>> result;
};
struct AppendDone {
  EntityOp op;
  Result<Appended> result;
};
struct SnapshotWritten {
  EntityOp op;
  Result<void> result;
};
struct Stop {};
struct Abandon {};

}  // namespace inputs

using CellInput =
    std::variant<inputs::Host, inputs::AskOne, inputs::Cancel, inputs::Passivate, inputs::PassivateOfSubjects,
                 inputs::End, inputs::Permit, inputs::Loaded, inputs::ModelRead, inputs::Prepared, inputs::LookedUp,
                 inputs::AppendDone, inputs::SnapshotWritten, inputs::Stop, inputs::Abandon>;

/// One message to the actor, however many inputs: a commit answers hundreds of appends at once.
class CellInbox {
 public:
  /// `wake` tells the actor that there is something. Before the first put().
  void open(std::function<void()> wake) { wake_ = std::move(wake); }
  void put(CellInput input);
  /// Everything so far, in order; empty: the next put() wakes again.
  void take(std::vector<CellInput>& out);
  /// The cell takes no more inputs: those inside, and those that still come, are dropped after `dropped` has seen them.
  void close(std::function<void(CellInput&&)> dropped);

 private:
  std::mutex mutex_;
  std::function<void()> wake_;  ///< holds the actor
  std::vector<CellInput> inputs_;
  bool awake_ = false;  ///< the actor was told and has not found the inbox empty since
  std::function<void(CellInput&&)> dropped_;
};

}  // namespace evershard::actors
