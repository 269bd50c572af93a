#include "evershard/sharding/rebuilt_order.hpp"

#include <algorithm>

#include "evershard/protocol/check.hpp"

namespace evershard::sharding {
namespace {

std::string node_text(std::uint32_t node) { return "node " + std::to_string(node); }

}  // namespace

Result<void> RebuiltOrder::add(const HeldOrder& held) {
  EVERSHARD_CHECK(held.shards.size() == state_.shards.size(), "a node has as many shards as its cluster");
  if (!held_.emplace(held.node, held).second)
    return refuse(ErrorCode::invalid_argument, node_text(held.node) + " is given twice");
  return {};
}

void RebuiltOrder::add(std::uint32_t node, const Cut& kept) {
  GlobalPosition next = kept.first_position;
  for (const Segment& segment : kept.segments) {
    const auto from = next;
    next = next + segment.events();
    if (segment.is_elsewhere()) continue;
    Written& written = written_[{node, segment.shard}];
    written.epoch = segment.epoch;
    if (next == from) continue;
    written.last_position = next - 1;
    if (!ranges_.empty() && ranges_.back().node == node && ranges_.back().until == from)
      ranges_.back().until = next;
    else
      ranges_.push_back({from, next, node});
  }
}

Result<RebuiltOrder::Outcome> RebuiltOrder::finish() {
  Outcome outcome;
  CutLogState& state = outcome.state;
  state = state_;
  for (const auto& [node, held] : held_) {
    state.epoch = std::max(state.epoch, held.coordinator);
    state.last_cut = std::max(state.last_cut, held.last_cut);
    state.watermark = std::max(state.watermark, held.watermark);
    for (std::size_t s = 0; s != held.shards.size(); ++s) {
      const auto& shard = held.shards[s];
      if (shard.epoch.value == 0) continue;
      Owner& owner = owners_[s];
      if (owner.node != 0 && shard.epoch == owner.epoch)
        return refuse(ErrorCode::corruption, node_text(owner.node) + " and " + node_text(node) + " both have shard " +
                                                 std::to_string(s) + " under epoch " +
                                                 std::to_string(owner.epoch.value));
      if (shard.epoch > owner.epoch) owner = {node, shard.epoch};
    }
  }
  for (const auto& [node, held] : held_) {
    const bool ends_alike = held.watermark == state.watermark;
    if (held.last_cut < state.last_cut)
      outcome.behind.emplace_back(node, held.last_cut);
    else if (!ends_alike)
      return refuse(ErrorCode::corruption, "cut " + std::to_string(state.last_cut.value) + " ends with position " +
                                               std::to_string(state.watermark.value) + ", at " + node_text(node) +
                                               " with position " + std::to_string(held.watermark.value) +
                                               ": these are not nodes of one history");
  }
  for (std::size_t s = 0; s != owners_.size(); ++s) {
    const ShardId id{static_cast<std::uint16_t>(s)};
    const Owner& owner = owners_[s];
    if (owner.node == 0) {
      outcome.unowned.push_back(id);
      continue;
    }
    CutLogState::Shard& shard = state.shards[s];
    shard.epoch = owner.epoch;
    shard.node = owner.node;
    shard.next = held_.at(owner.node).shards[s].next;
    shard.folded = shard.next - 1;
    if (const auto written = written_.find({owner.node, id}); written != written_.end()) {
      shard.written = written->second.epoch;
      shard.last_position = written->second.last_position;
    }
    // Who owns the shard has heard of all that was given up of it, or was given it with more of that. Not later than it
    // was opened.
    for (const auto& loss : held_.at(owner.node).shards[s].losses)
      shard.lose(loss.epoch.value != 0 ? loss.epoch : owner.epoch, loss.from);
  }
  std::ranges::sort(ranges_, {}, &Range::from);
  GlobalPosition next{1};
  const auto unknown = [&](GlobalPosition until) {
    if (until <= next) return;
    outcome.unknown.emplace_back(next, until);
    outcome.unknown_positions += until - next;
  };
  for (const Range& range : ranges_) {
    if (range.from < next)
      return refuse(ErrorCode::corruption, "position " + std::to_string(range.from.value) + " is at " +
                                               node_text(range.node) +
                                               " and at another node: these are not nodes of one history");
    unknown(range.from);
    next = range.until;
  }
  unknown(state.watermark + 1);
  return outcome;
}

}  // namespace evershard::sharding
