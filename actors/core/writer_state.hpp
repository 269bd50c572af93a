// WriterState: the decision on one append after another, in memory: duplicates, versions, conditions, places.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "evershard/actors/core/prepared.hpp"
#include "evershard/actors/core/recent.hpp"
#include "evershard/protocol/error.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/sharding/ordering.hpp"
#include "evershard/storage/journal/commit_batch.hpp"

namespace evershard::actors {

/// What becomes of an append.
struct Decision {
  enum class Kind : std::uint8_t {
    placed,
    refused,  ///< to be answered once what it rests on is shown, and only if known() still says no
    joins,    ///< its ids were decided and are not shown yet: whoever looks it up then finds the answer
    matched,  ///< an event seems to match a condition: to be confirmed by reading it, once it is shown
    beyond,   ///< memory does not reach back to what it was prepared with
  };
  Kind kind = Kind::placed;
  GlobalPosition position;  ///< placed: of its first event; refused: rests on; joins, matched: shown, prepare it again;
                            ///< beyond: now
  Error error{};            ///< refused

  [[nodiscard]] bool again() const { return kind >= Kind::joins; }
};

/// All shards of one process: the writers' state and the order.
///
/// Knows no thread, clock or disk. Decides on top of what is not written yet; so a failed write ends it.
/// Cost:   about a microsecond an append.
/// Source: docs/internals/architecture.md, "An append"; docs/internals/ordering.md, rules 6, 14 to 19.
class WriterState {
 public:
  struct Options {
    sharding::Ordering::Options ordering{};
    std::size_t recent_entries_max = 65'536;  ///< of each of two generations
    std::uint64_t key = 0;
  };
  WriterState(sharding::OrderState start, Options options);

  /// Decides at the next position. Placed: appends each event's place to `places`.
  [[nodiscard]] Decision decide(const Prepared& prepared, std::vector<storage::PlacedEvent>& places);

  /// Whether another attempt of a request was placed since this one was decided. Shape: asked when that decision's
  /// position is shown, before anything else is decided: what was placed behind it is not forgotten by then.
  [[nodiscard]] bool known(const Prepared& prepared) { return prepared.named && find_ids(prepared).has_value(); }

  /// The cut of all that was placed since the last one. Shape: something was.
  [[nodiscard]] sharding::Cut cut() { return ordering_.cut(); }
  /// Readers see everything up to here.
  void show(GlobalPosition watermark) { shown_ = watermark; }

  [[nodiscard]] GlobalPosition decided() const { return ordering_.next_position() - 1; }
  [[nodiscard]] GlobalPosition shown() const { return shown_; }
  [[nodiscard]] GlobalPosition window_from() const { return ordering_.window_from(); }

 private:
  [[nodiscard]] std::optional<GlobalPosition> find_ids(const Prepared& prepared);
  void find_heads(const Prepared& prepared);
  [[nodiscard]] Decision place(const Prepared& prepared, std::vector<storage::PlacedEvent>& places);

  sharding::Ordering ordering_;
  Recent recent_;
  GlobalPosition shown_;

  // Of the append being decided; kept for their memory.
  std::vector<storage::StreamHead> heads_;
  std::uint64_t last_writer_ = 0;  ///< of its chain's aggregate
  std::vector<sharding::EventToPlace> to_place_;
  std::vector<ShardOffset> offsets_;
};

}  // namespace evershard::actors
