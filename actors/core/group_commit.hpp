// GroupCommit: appends in, batches and answers out. The committer's decisions, without its threads.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "evershard/actors/core/prepared.hpp"
#include "evershard/actors/core/writer_state.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/storage/journal/commit_batch.hpp"

namespace evershard::actors {

/// One request on its way through: an append, or rows alone. Stays where it is until it is answered.
struct Ticket {
  Prepared prepared;  ///< without events: rows alone
  std::vector<storage::PlacedSnapshot> snapshots;
  storage::RowWrites rows;  ///< of an append: written with its events, or not at all

  bool confirm = false;  ///< prepare it again by running its conditions
  std::uint32_t tries = 0;

  [[nodiscard]] bool is_append() const { return !prepared.append.events.empty(); }
};

/// What one commit writes, and who waits for it.
struct Batch {
  storage::CommitBatch commit;
  std::vector<Ticket*> tickets;
  std::vector<Ticket*> appends;  ///< of `tickets`, as in commit.appends
  GlobalPosition ends;           ///< shown once it is committed
  std::size_t bytes = 0;

  [[nodiscard]] bool empty() const { return tickets.empty(); }
  /// The answer to appends[i], once committed; takes the append's names with it.
  [[nodiscard]] Appended answer(std::size_t i);
};

/// What is to be done with tickets now. Each ticket comes out once: here, or with its batch.
struct Actions {
  std::vector<std::pair<Ticket*, Error>> refused;
  std::vector<Ticket*> again;  ///< to be looked up again (see `confirm`) and taken again

  [[nodiscard]] bool empty() const { return refused.empty() && again.empty(); }
  void clear() {
    refused.clear();
    again.clear();
  }
};

/// Takes appends one after another in the order given, decides each, and holds back what must not be answered yet.
///
/// Owner:  one thread at a time.
/// Source: docs/internals/architecture.md, "An append".
class GroupCommit {
 public:
  struct Options {
    WriterState::Options state{};
    std::size_t batch_events_max = 16'384;
    std::size_t batch_bytes_max = 8u << 20;
    std::uint32_t tries_max = 16;  ///< how often an append is prepared again before it is `overloaded`
  };
  GroupCommit(sharding::OrderState start, Options options);

  void take(Ticket& ticket, Actions& actions);
  /// The batch being made has enough: close it before taking more.
  [[nodiscard]] bool full() const;
  [[nodiscard]] bool any() const { return !batch_.empty(); }
  /// Everything placed since the last one. Shape: any().
  [[nodiscard]] Batch close();

  /// A batch is committed: readers see it, and what waited for it is answered.
  void show(GlobalPosition watermark, Actions& actions);
  /// Whether something waits for what is shown at `watermark`.
  [[nodiscard]] bool due(GlobalPosition watermark) const {
    return !waiting_.empty() && waiting_.front().position <= watermark;
  }
  [[nodiscard]] bool idle() const { return batch_.empty() && waiting_.empty(); }

  /// A commit has failed: nothing is decided any more. Everything held back is answered, and all that comes, with `io`;
  /// what joined another attempt as outcome unknown.
  void fail(const Error& cause, Actions& actions);
  /// What a ticket gets whose batch was being written, and one whose batch was not.
  [[nodiscard]] static Error outcome_unknown(const Error& cause);
  [[nodiscard]] static Error not_written(const Error& cause);

  [[nodiscard]] GlobalPosition window_from() const { return state_.window_from(); }

 private:
  /// Held back until `position` is shown.
  struct Waiting {
    GlobalPosition position;
    Ticket* ticket = nullptr;
    Decision decision;
  };
  static bool later(const Waiting& a, const Waiting& b) { return a.position > b.position; }

  void put(Ticket& ticket, GlobalPosition first, std::size_t first_event);
  void put_rows(Ticket& ticket);
  void settle(Ticket& ticket, Decision&& decision, Actions& actions);
  void again(Ticket& ticket, bool confirm, Actions& actions) const;

  const Options options_;
  WriterState state_;
  Batch batch_;
  std::vector<Waiting> waiting_;  ///< a heap, the earliest position first
  std::optional<Error> failed_;
};

}  // namespace evershard::actors
