#include "evershard/sharding/node_cut.hpp"

#include <algorithm>
#include <utility>

namespace evershard::sharding {

Cut cut_of_node(const Cut& cut, const std::function<bool(const Segment&)>& own, std::vector<Opening> openings) {
  Cut kept;
  kept.number = cut.number;
  kept.coordinator = cut.coordinator;
  kept.first_position = cut.first_position;
  kept.openings = std::move(openings);
  std::uint64_t others = 0;
  const auto close = [&] {
    if (others != 0) kept.segments.push_back(Segment::elsewhere(others));
    others = 0;
  };
  for (const Segment& segment : cut.segments) {
    if (segment.is_elsewhere() || !own(segment)) {
      others += segment.events();
      continue;
    }
    close();
    kept.segments.push_back(segment);
  }
  close();
  return kept;
}

Cut as_far_as_here(const Cut& cut, const std::vector<ShardId>& in_part, const std::vector<Segment>& here) {
  Cut kept = cut;
  kept.segments.clear();
  for (const Segment& segment : cut.segments) {
    if (std::ranges::find(in_part, segment.shard) == in_part.end()) {
      kept.segments.push_back(segment);
      continue;
    }
    const auto found = std::ranges::find_if(
        here, [&](const Segment& own) { return own.shard == segment.shard && own.first == segment.first; });
    std::uint64_t missing = segment.events();
    if (found != here.end()) {
      kept.segments.push_back(*found);
      missing -= found->events();
    }
    if (missing != 0) kept.segments.push_back(Segment::elsewhere(missing));
  }
  return kept;
}

void begin_at(Segment& segment, ShardOffset from) {
  if (segment.is_elsewhere() || (segment.first > from && segment.first - from > refused_max)) return;
  if (segment.first > from) {
    std::vector<ShardOffset> refused;
    for (auto offset = from; offset < segment.first; ++offset) refused.push_back(offset);
    segment.refused.insert(segment.refused.begin(), refused.begin(), refused.end());
    segment.first = from;
    return;
  }
  const auto known = std::ranges::lower_bound(segment.refused, from) - segment.refused.begin();
  const auto begin = std::min(from, segment.end);
  if (static_cast<std::uint64_t>(known) != begin - segment.first) return;  // it places what is covered
  segment.refused.erase(segment.refused.begin(), segment.refused.begin() + known);
  segment.first = begin;
}

Cut without(const Cut& cut, const std::map<ShardId, ShardOffset>& from) {
  std::vector<ShardId> in_part;
  std::vector<Segment> here;
  for (const Segment& segment : cut.segments) {
    const auto at = segment.is_elsewhere() ? from.end() : from.find(segment.shard);
    if (at == from.end()) continue;
    in_part.push_back(segment.shard);
    if (at->second <= segment.first) continue;
    Segment kept = segment;
    kept.end = std::min(kept.end, at->second);
    std::erase_if(kept.refused, [&](ShardOffset refused) { return refused >= kept.end; });
    here.push_back(std::move(kept));
  }
  return cut_of_node(
      as_far_as_here(cut, in_part, here), [](const Segment&) { return true; }, cut.openings);
}

}  // namespace evershard::sharding
