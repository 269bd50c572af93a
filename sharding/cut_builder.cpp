#include "evershard/sharding/cut_builder.hpp"

#include <utility>

#include "evershard/protocol/check.hpp"

namespace evershard::sharding {

// Rule 2: nothing is known of what stands before, so the window begins at the watermark.
CutBuilder::CutBuilder(OrderState start, std::size_t window_events_max)
    : state_(std::move(start)), shards_(state_.shards), window_(state_.watermark, window_events_max) {}

Verdict CutBuilder::judge(std::span<const TermCondition> conditions) const {
  MatchBudget budget;  // of all conditions of the append
  for (std::uint32_t i = 0; i != conditions.size(); ++i) {
    if (conditions[i].from < window_.from()) return {Verdict::Kind::stale, i, {}};
    if (const auto match = window_.first_match(conditions[i].query, conditions[i].from, budget)) {
      return {Verdict::Kind::matched, i, *match};
    }
  }
  return {};
}

ShardOffset CutBuilder::place(ShardId shard, std::span<const Term> terms) {
  Segment& segment = extend(shard);
  window_.add(next_position(), terms);
  return segment.end - 1;
}

ShardOffset CutBuilder::place_unknown(ShardId shard) {
  Segment& segment = extend(shard);
  window_.skip(next_position());
  return segment.end - 1;
}

ShardOffset CutBuilder::refuse(ShardId shard) {
  Segment& segment = extend(shard);
  segment.refused.push_back(segment.end - 1);
  return segment.end - 1;
}

void CutBuilder::open(const Opening& opening) {
  EVERSHARD_CHECK(segments_.empty(), "openings come before segments");
  shards_[opening.shard.value].epoch = opening.epoch;
  openings_.push_back(opening);
}

Cut CutBuilder::cut() {
  Cut cut;
  cut.number = state_.last_cut + 1;
  cut.coordinator = state_.coordinator;
  cut.first_position = state_.watermark + 1;
  cut.segments = std::exchange(segments_, {});
  cut.openings = std::exchange(openings_, {});
  segments_usual_ = cut.segments.size();
  for (const Segment& segment : cut.segments) state_.shards[segment.shard.value].next = segment.end;
  for (const Opening& opening : cut.openings) state_.shards[opening.shard.value].epoch = opening.epoch;
  state_.last_cut = cut.number;
  state_.watermark = window_.last();
  EVERSHARD_CHECK(cut.last_position() == state_.watermark, "positions are dense (I-Dense)");
  return cut;
}

// The sequence of segments is the sequence of decisions: with any other, a condition that held could be broken.
Segment& CutBuilder::extend(ShardId shard) {
  EVERSHARD_CHECK(shard.value < shards_.size(), "the shard exists");
  OrderState::Shard& taken = shards_[shard.value];
  if (segments_.empty() || segments_.back().shard != shard) {
    if (segments_.empty()) segments_.reserve(segments_usual_);
    segments_.push_back({shard, taken.epoch, taken.next, taken.next, {}});
  }
  Segment& segment = segments_.back();
  segment.end = ++taken.next;
  return segment;
}

}  // namespace evershard::sharding
