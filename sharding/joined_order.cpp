#include "evershard/sharding/joined_order.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace evershard::sharding {
namespace {

std::string positions(GlobalPosition first, GlobalPosition last) {
  return first == last ? "position " + std::to_string(first.value)
                       : "positions " + std::to_string(first.value) + " to " + std::to_string(last.value);
}

Refused not_one_order(const std::string& what) {
  return refuse(ErrorCode::corruption, "the nodes' parts do not fit together: " + what);
}

}  // namespace

JoinedOrder::JoinedOrder(std::vector<Part> parts, std::uint32_t shards, GlobalPosition end)
    : end_(end), ends_(shards, ShardOffset{1}) {
  for (auto& part : parts) {
    std::vector<bool> takes(shards);
    for (const ShardId shard : part.shards) takes.at(shard.value) = true;
    sources_.push_back({std::move(part), std::move(takes)});
  }
}

Result<void> JoinedOrder::fill(Source& source) {
  while (source.placed.empty() && !source.over) {
    auto cut = source.part.next();
    if (!cut) return refuse(std::move(cut).error());
    if (!*cut || (*cut)->first_position > end_) {
      source.over = true;
      return {};
    }
    auto at = (*cut)->first_position;
    for (const Segment& segment : (*cut)->segments) {
      const auto events = segment.events();
      const bool taken =
          !segment.is_elsewhere() && segment.shard.value < source.takes.size() && source.takes[segment.shard.value];
      if (taken && events != 0 && at <= end_)
        source.placed.push_back({at, segment.shard, std::min(events, end_ - at + 1), (*cut)->number});
      at = at + events;
    }
  }
  return {};
}

Result<JoinedOrder::Source*> JoinedOrder::whose() {
  Source* whose = nullptr;
  auto lowest = end_ + 1;
  for (Source& source : sources_) {
    EVERSHARD_TRY(fill(source));
    if (source.placed.empty()) continue;
    const auto at = source.placed.front().at;
    if (at < next_ || (at == next_ && whose != nullptr)) return not_one_order(positions(at, at) + " is in two of them");
    if (at == next_) whose = &source;
    lowest = std::min(lowest, at);
  }
  if (whose == nullptr)
    return not_one_order(positions(next_, lowest - 1) +
                         (next_ + 1 == lowest ? " is in none of them" : " are in none of them"));
  return whose;
}

Result<std::optional<Cut>> JoinedOrder::next() {
  std::optional<Cut> cut;
  while (next_ <= end_) {
    auto found = whose();
    if (!found) return refuse(std::move(found).error());
    auto& placed = (*found)->placed;
    const Placed piece = placed.front();
    if (cut && piece.cut != last_) break;
    if (!cut) {
      if (piece.cut <= last_)
        return not_one_order("cut " + std::to_string(piece.cut.value) + " stands behind cut " +
                             std::to_string(last_.value));
      last_ = piece.cut;
      cut = Cut{++number_, Epoch{1}, next_, {}, {}};
    }
    placed.pop_front();
    auto& end = ends_[piece.shard.value];
    if (!cut->segments.empty() && cut->segments.back().shard == piece.shard)
      cut->segments.back().end = end + piece.events;
    else
      cut->segments.push_back({piece.shard, Epoch{1}, end, end + piece.events, {}});
    end = end + piece.events;
    next_ = next_ + piece.events;
  }
  return cut;
}

}  // namespace evershard::sharding
