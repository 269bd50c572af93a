// Ordering: what is durable gets its place; conditions get their verdict there. Plain arithmetic.
//
// Source: docs/internals/ordering.md. The rule numbers in the sources are that document's.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/sharding/cut_builder.hpp"
#include "evershard/sharding/reports.hpp"

namespace evershard::sharding {

/// One event of an append that is placed in the calling process.
struct EventToPlace {
  ShardId shard;
  std::span<const Term> terms;
};

/// The ordering class of one process and of the cluster's coordinator: two ways in, one way of placing and judging.
///
/// Owner: one thread. One Ordering is used in one of the two ways; a cut never mixes them.
class Ordering {
 public:
  struct Options {
    std::size_t window_events_max = 262'144;
    std::uint32_t cuts_held_max = 3;  ///< how many cuts a part waits for its siblings before it is refused
  };
  /// Begins with an empty window: window_from() is the watermark (rule 2).
  Ordering(OrderState start, Options options);
  ~Ordering();
  Ordering(Ordering&&) noexcept;
  Ordering& operator=(Ordering&&) noexcept;

  [[nodiscard]] const OrderState& state() const { return builder_.state(); }  ///< as of the last cut taken
  [[nodiscard]] GlobalPosition window_from() const { return builder_.window_from(); }
  /// Including what was placed since the last cut.
  [[nodiscard]] GlobalPosition next_position() const { return builder_.next_position(); }

  // -- in one process: decided here, before the write

  /// The verdict at the next position (rule 6).
  [[nodiscard]] Verdict judge(std::span<const TermCondition> conditions) const { return builder_.judge(conditions); }
  /// Gives the events the next offsets of their shards and the next positions, in the order given (I-Together).
  /// Returns: the first position; writes each event's offset to `offsets`.
  GlobalPosition place(std::span<const EventToPlace> events, std::span<ShardOffset> offsets);
  /// The cut of all that was placed since the last one. Shape: something was.
  [[nodiscard]] Cut cut();

  // -- at the coordinator: durable first, ordered afterwards

  using Reported = sharding::Reported;
  /// Rule 4. A report without appends asks for a cut: the one numbered state().last_cut + 1 was made since.
  Reported report(Report report);
  /// The first offset of the shard that was not reported.
  [[nodiscard]] ShardOffset known_end(ShardId shard) const;
  /// Opens a shard under the next epoch; goes into the next cut (rule 3). `tail`: the first offset the shard has not
  /// used. What was reported under older epochs is forgotten.
  /// Errors: corruption (its tail ends before the cuts do: it has lost data), invalid_argument (no such shard)
  Result<Epoch> open(ShardId shard, std::uint32_t node, ShardOffset tail);
  /// The same for a shard that has lost [lost_from, what cuts cover), which an operator accepted. It goes on where the
  /// cuts end; what its disk has from `lost_from` on is given up, also behind that: it may have come about beside what
  /// was lost. Returns: the opening, which names the loss. Errors: invalid_argument (no such shard, nothing is lost)
  Result<Opening> open_losing(ShardId shard, std::uint32_t node, ShardOffset lost_from);
  /// The next cut of everything reported, or nothing (rule 5).
  ///
  /// The cut is taken as made on return: state() stands behind it, its events are in the window. So it is stored
  /// before anything else is done with it; a refused put ends the coordinator and this object with it, and there is no
  /// undo. What is reported meanwhile goes into the cut after it: make that once the put has returned.
  /// Without segments and openings where all there is to do is to count a cut for what is held back (so that
  /// it is not held for ever), or to answer who asked for a cut.
  /// `in_any_case`: makes a cut even if nothing is reported, since the caller has something to say in it.
  [[nodiscard]] std::optional<Cut> make_cut(bool in_any_case = false);

 private:
  Reports& reports();

  CutBuilder builder_;
  std::uint32_t cuts_held_max_;
  std::unique_ptr<Reports> reports_;  ///< at the coordinator only
};

}  // namespace evershard::sharding
