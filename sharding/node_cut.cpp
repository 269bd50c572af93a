#include "evershard/sharding/node_cut.hpp"

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

}  // namespace evershard::sharding
