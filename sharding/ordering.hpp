// Ordering: what is durable gets its place; conditions get their verdict there. Plain arithmetic.
//
// Source: docs/ordering.md. The rule numbers in ordering.cpp are that document's.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/sharding/window.hpp"

namespace evershard::sharding {

/// "No match after `from`."
struct TermCondition {
  TermQuery query;
  GlobalPosition from;
};

/// What ordering says of an append's conditions at its place.
struct Verdict {
  enum class Kind : std::uint8_t {
    placed,
    matched,  ///< an event after `from` has the terms (to be confirmed by reading it: it may be a collision)
    stale,    ///< the window does not reach back to `from`
  };
  Kind kind = Kind::placed;
  std::uint32_t condition = 0;  ///< which, where not placed
  GlobalPosition position;      ///< matched: where
};

/// Where the order stands: what the last cut left behind.
struct OrderState {
  Epoch coordinator{1};
  CutNumber last_cut;
  GlobalPosition watermark;
  struct Shard {
    Epoch epoch{1};
    ShardOffset next{1};  ///< the first offset no cut covers
    friend bool operator==(const Shard&, const Shard&) = default;
  };
  std::vector<Shard> shards;
  friend bool operator==(const OrderState&, const OrderState&) = default;
};

/// One event of an append that is placed in the calling process.
struct EventToPlace {
  ShardId shard;
  std::span<const Term> terms;
};

/// A part of an append over several shards: which append, and its events in order.
struct PartOf {
  EventId append;
  std::vector<std::pair<ShardId, std::uint32_t>> runs;  ///< (shard, event count) in the append's order, same in all parts
};

/// An append as a shard reports it (cluster).
struct ReportedAppend {
  std::uint32_t events = 1;
  bool tentative = false;
  std::vector<TermCondition> conditions;
  std::vector<std::vector<Term>> terms;  ///< an entry an event; empty: reported without digests
  std::optional<PartOf> part;
};

/// What is durable of one shard, from `first` on (rule 9: whole appends only).
struct Report {
  ShardId shard;
  Epoch epoch;
  ShardOffset first;
  std::vector<ReportedAppend> appends;
};

/// The ordering class of one process and of the cluster's coordinator: two ways in, one way of placing and judging.
class Ordering {
 public:
  struct Options {
    std::size_t window_events_max = 262'144;
    std::uint32_t cuts_held_max = 3;  ///< how many cuts a part waits for its siblings before it is refused
  };
  Ordering(OrderState start, Options options);
  ~Ordering();
  Ordering(Ordering&&) noexcept;

  [[nodiscard]] const OrderState& state() const;  ///< as of the last cut taken
  [[nodiscard]] GlobalPosition window_from() const;
  [[nodiscard]] GlobalPosition next_position() const;  ///< including what was placed since the last cut

  // -- in one process: decided here, before the write

  /// The verdict at the next position (rule 6).
  [[nodiscard]] Verdict judge(std::span<const TermCondition> conditions) const;
  /// Gives the events the next offsets of their shards and the next positions, in the order given (I-Together).
  /// Returns: the first position; writes each event's offset to `offsets`.
  GlobalPosition place(std::span<const EventToPlace> events, std::span<ShardOffset> offsets);
  /// The cut of all that was placed since the last one. Shape: something was.
  [[nodiscard]] Cut cut();

  // -- at the coordinator: durable first, ordered afterwards

  enum class Reported : std::uint8_t {
    taken,
    stale,     ///< of an older shard epoch, or nothing new
    gap,       ///< does not join on to what is known: ask again from `known_end(shard)`
    replaced,  ///< an append twice behind the last cut known: a newer coordinator leads (rule 4)
  };
  /// Rule 4.
  Reported report(Report report);
  [[nodiscard]] ShardOffset known_end(ShardId shard) const;
  /// Opens a shard under the next epoch; goes into the next cut (rule 3). Errors: corruption: its tail ends before the cuts do.
  Result<Epoch> open(ShardId shard, std::uint32_t node, ShardOffset tail);
  /// The next cut of everything reported, or nothing (rule 5); what it holds is taken as stored once applied().
  [[nodiscard]] std::optional<Cut> make_cut();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace evershard::sharding
