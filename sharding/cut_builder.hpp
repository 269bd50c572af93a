// CutBuilder: the one way of placing and judging, for the process that decides before the write and for the
// coordinator.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/sharding/term_hash.hpp"
#include "evershard/sharding/window.hpp"

namespace evershard::sharding {

/// "No match after `from`."
struct TermCondition {
  TermQuery query;
  GlobalPosition from;
  friend bool operator==(const TermCondition&, const TermCondition&) = default;
};

/// What ordering says of an append's conditions at its place.
struct Verdict {
  enum class Kind : std::uint8_t {
    placed,
    matched,  ///< an event after `from` has the terms (to be confirmed by reading it: it may be a collision, or more
              ///< would have to be looked at than may be)
    stale,    ///< the window does not reach back to `from`
  };
  Kind kind = Kind::placed;
  std::uint32_t condition = 0;  ///< which, where not placed
  GlobalPosition position;      ///< matched: where
  friend bool operator==(const Verdict&, const Verdict&) = default;
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

/// Takes the shards' next offsets one after another into the segments of the next cut, and keeps the digest window.
///
/// Cost: two vectors that grow; nothing per event but its terms in the window.
/// Source: docs/internals/ordering.md, rules 2, 6 and 7.
class CutBuilder {
 public:
  CutBuilder(OrderState start, std::size_t window_events_max);

  [[nodiscard]] const OrderState& state() const { return state_; }  ///< as of the last cut taken
  [[nodiscard]] GlobalPosition window_from() const { return window_.from(); }
  [[nodiscard]] GlobalPosition next_position() const { return window_.last() + 1; }
  /// Including what was taken, and opened, since the last cut.
  [[nodiscard]] const OrderState::Shard& shard(ShardId shard) const { return shards_[shard.value]; }
  [[nodiscard]] std::size_t shard_count() const { return shards_.size(); }
  [[nodiscard]] bool empty() const { return segments_.empty() && openings_.empty(); }  ///< nothing since the last cut

  /// The verdict at the next position (rule 6).
  [[nodiscard]] Verdict judge(std::span<const TermCondition> conditions) const;
  /// The shard's next offset gets the next position.
  ShardOffset place(ShardId shard, std::span<const Term> terms);
  /// The same for an event whose terms are not known: the window begins behind it (rule 7).
  ShardOffset place_unknown(ShardId shard);
  /// The shard's next offset gets no position.
  ShardOffset refuse(ShardId shard);
  /// Goes into the next cut, before its segments. Shape: nothing of the shard was taken since the last cut.
  void open(const Opening& opening);
  /// The cut of all appends that were taken since the last cut.
  [[nodiscard]] Cut cut();

 private:
  Segment& extend(ShardId shard);

  OrderState state_;
  std::vector<OrderState::Shard> shards_;
  std::vector<Segment> segments_;
  std::vector<Opening> openings_;
  std::size_t segments_usual_ = 0;
  DigestWindow window_;
};

}  // namespace evershard::sharding
