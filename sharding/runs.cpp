#include "evershard/sharding/runs.hpp"

#include <algorithm>

#include "evershard/protocol/check.hpp"

namespace evershard::sharding {

namespace {

std::vector<Run> runs_in(const Cut& cut, bool elsewhere) {
  std::vector<Run> runs;
  runs.reserve(cut.segments.size());
  GlobalPosition position = cut.first_position;
  for (const Segment& segment : cut.segments) {
    if (segment.is_elsewhere()) {
      if (elsewhere) runs.push_back({segment.shard, position, ShardOffset{0}, segment.events()});
      position = position + segment.events();
      continue;
    }
    ShardOffset from = segment.first;
    const auto until = [&](ShardOffset end) {
      if (from < end) {
        runs.push_back({segment.shard, position, from, end - from});
        position = position + (end - from);
      }
    };
    for (const ShardOffset refused : segment.refused) {
      until(refused);
      from = refused + 1;
    }
    until(segment.end);
  }
  return runs;
}

}  // namespace

std::vector<Run> runs_of(const Cut& cut) { return runs_in(cut, false); }

std::vector<Run> all_runs_of(const Cut& cut) { return runs_in(cut, true); }

void ShardRuns::add(const Run& run) {
  if (run.count == 0) return;
  if (!runs_.empty()) {
    Run& last = runs_.back();
    const ShardOffset offset = last.offset + last.count;
    const GlobalPosition position = last.position + last.count;
    EVERSHARD_CHECK(run.shard == last.shard, "the runs of one shard");
    EVERSHARD_CHECK(run.offset >= offset && run.position >= position, "offsets and positions of a shard rise together");
    if (run.offset == offset && run.position == position) {
      last.count += run.count;
      return;
    }
  }
  runs_.push_back(run);
}

std::optional<GlobalPosition> ShardRuns::position_of(ShardOffset offset) const {
  auto behind = std::upper_bound(runs_.begin(), runs_.end(), offset,
                                 [](ShardOffset o, const Run& run) { return o < run.offset; });
  if (behind == runs_.begin()) return std::nullopt;
  const Run& run = *--behind;
  const std::uint64_t nth = offset - run.offset;
  if (nth >= run.count) return std::nullopt;
  return run.position + nth;
}

std::optional<ShardOffset> ShardRuns::offset_of(GlobalPosition position) const {
  auto behind = std::upper_bound(runs_.begin(), runs_.end(), position,
                                 [](GlobalPosition p, const Run& run) { return p < run.position; });
  if (behind == runs_.begin()) return std::nullopt;
  const Run& run = *--behind;
  const std::uint64_t nth = position - run.position;
  if (nth >= run.count) return std::nullopt;
  return run.offset + nth;
}

}  // namespace evershard::sharding
