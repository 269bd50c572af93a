#include "evershard/sharding/cut_back.hpp"

#include <algorithm>

#include "evershard/protocol/check.hpp"

namespace evershard::sharding {
namespace {

/// Behind the first `events` events of a segment. Shape: it has more of them.
ShardOffset end_of(const Segment& segment, std::uint64_t events) {
  auto end = segment.first;
  auto refused = segment.refused.begin();
  for (; events > 0; ++end) {
    if (refused != segment.refused.end() && *refused == end)
      ++refused;
    else
      --events;
  }
  return end;
}

}  // namespace

Cut cut_back(const Cut& cut, GlobalPosition last) {
  EVERSHARD_CHECK(cut.first_position <= last && last <= cut.last_position(),
                  "a cut is cut back to one of its positions");
  Cut kept = cut;
  auto left = last - cut.first_position + 1;
  for (auto segment = kept.segments.begin(); segment != kept.segments.end(); ++segment) {
    if (segment->events() < left) {
      left -= segment->events();
      continue;
    }
    if (segment->events() > left) {
      segment->end = end_of(*segment, left);
      std::erase_if(segment->refused, [&](ShardOffset refused) { return refused >= segment->end; });
    }
    kept.segments.erase(segment + 1, kept.segments.end());
    break;
  }
  return kept;
}

}  // namespace evershard::sharding
