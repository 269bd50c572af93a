#include "evershard/cluster/order/history_merge.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>

namespace evershard::cluster {
namespace {

using sharding::Cut;
using sharding::Segment;

/// A segment with the position of its first event, or of what comes next.
struct Placed {
  GlobalPosition at;
  Segment segment;
};

struct Merged {
  Epoch coordinator;
  GlobalPosition last;  ///< of the cut; who has it says the same
  std::vector<Placed> segments;
  std::vector<sharding::Opening> openings;
};

bool is_whole(const HistoryPart& part) { return !part.history.ends.empty(); }

bool takes(const HistoryPart& part, ShardId shard) {
  return std::ranges::find(part.shards, shard) != part.shards.end();
}

GlobalPosition end_of(const HistoryPart& part, GlobalPosition after) {
  if (is_whole(part)) return part.history.watermark;
  return part.history.cuts.empty() ? after : part.history.cuts.back().last_position();
}

/// Of the cuts that a part has up to there, the number of the last one; of all that there are, which may place nothing.
CutNumber number_at(const HistoryPart& part, GlobalPosition end) {
  if (is_whole(part) && part.history.watermark == end) return part.history.last_cut;
  CutNumber number;
  for (const Cut& cut : part.history.cuts)
    if (cut.last_position() <= end) number = cut.number;
  return number;
}

/// How far a part covers its shards with what is up to there, and what was refused directly behind it, which goes to
/// `refused`: each range under the epoch that it was written under. A shard that is not named behind it ends where the
/// part says, or is not known to end.
std::map<ShardId, NodeHistory::End> ends_at(const HistoryPart& part, GlobalPosition end,
                                            std::vector<Segment>& refused) {
  std::map<ShardId, NodeHistory::End> ends;
  for (const auto& of : part.history.ends)
    if (takes(part, of.shard)) ends[of.shard] = of;
  // An opening behind this position is not to be known before the cuts up to it: of its epoch that is.
  if (part.history.watermark != end)
    for (auto& [shard, of] : ends) of.writer = 0;
  std::map<ShardId, bool> placed;
  bool next = true;  // of what comes later than the next cut nobody knows here whether it is exact
  for (const Cut& cut : part.history.cuts) {
    if (cut.last_position() <= end) continue;
    for (const Segment& segment : cut.segments) {
      if (segment.is_elsewhere() || !takes(part, segment.shard)) continue;
      if (!next && !is_whole(part)) continue;
      const auto [first, added] = placed.try_emplace(segment.shard, false);
      if (first->second) continue;
      first->second = segment.events() != 0;
      auto& of = ends[segment.shard];
      if (first->second) {
        of = {segment.shard, segment.first, added ? Epoch{} : of.epoch, 0};
      } else {
        of = {segment.shard, segment.end, segment.epoch, 0};
        refused.push_back(segment);
      }
    }
    next = false;
  }
  return ends;
}

Error differ(GlobalPosition at) {
  return {ErrorCode::corruption, "two replicas have different events at position " + std::to_string(at.value)};
}

}  // namespace

std::optional<ShardId> missing_of(const HistoryPart& part) {
  for (const ShardId shard : part.shards)
    if (std::ranges::find(part.history.shards, shard) == part.history.shards.end()) return shard;
  return std::nullopt;
}

Result<NodeHistory> merged(GlobalPosition after, const std::vector<HistoryPart>& parts) {
  NodeHistory all;
  all.watermark = after;
  if (parts.empty()) return all;
  auto end = end_of(parts.front(), after);
  for (const auto& part : parts) end = std::min(end, end_of(part, after));
  if (end < after) return all;

  std::map<CutNumber, Merged> cuts;
  std::vector<Segment> refused;  // behind all that is placed: each part says up to another cut of its own
  for (const auto& part : parts) {
    for (const Cut& cut : part.history.cuts) {
      if (cut.last_position() > end) break;
      if (cut.events() == 0) {
        std::ranges::copy_if(cut.segments, std::back_inserter(refused),
                             [&](const Segment& segment) { return takes(part, segment.shard); });
        continue;
      }
      Merged& into = cuts[cut.number];
      into.coordinator = cut.coordinator;
      into.last = cut.last_position();
      auto at = cut.first_position;
      for (const Segment& segment : cut.segments) {
        const auto begins = at;
        at = at + segment.events();
        if (segment.is_elsewhere() || !takes(part, segment.shard) || (segment.events() != 0 && at <= after + 1))
          continue;
        into.segments.push_back({begins, segment});
      }
      for (const auto& opening : cut.openings)
        if (takes(part, opening.shard)) into.openings.push_back(opening);
    }
  }
  for (auto& [number, merged] : cuts) {
    std::ranges::stable_sort(merged.segments, {}, &Placed::at);
    Cut cut{number, merged.coordinator, all.watermark + 1, {}, std::move(merged.openings)};
    auto next = cut.first_position;
    for (auto& [at, segment] : merged.segments) {
      if (at > next) {
        cut.segments.push_back(Segment::elsewhere(at - next));
        next = at;
      }
      if (at < next && segment.events() != 0) return refuse(differ(at));
      next = next + segment.events();
      cut.segments.push_back(std::move(segment));
    }
    if (next > merged.last + 1) return refuse(differ(merged.last));
    if (next <= merged.last) cut.segments.push_back(Segment::elsewhere(merged.last + 1 - next));
    all.watermark = cut.last_position();
    all.cuts.push_back(std::move(cut));
  }
  if (all.watermark != end) return refuse(differ(end));

  // Of those who have given no more: behind theirs some may refuse what nobody has said. Who has given more says so in
  // what comes next.
  std::optional<CutNumber> last;
  for (const auto& part : parts)
    if (end_of(part, after) == end) last = std::min(last.value_or(number_at(part, end)), number_at(part, end));
  all.last_cut = *last;
  for (const auto& part : parts)
    for (const auto& [shard, of] : ends_at(part, end, refused)) all.ends.push_back(of);
  if (!refused.empty() && all.last_cut.value != 0) {
    if (all.cuts.empty() || all.cuts.back().number != all.last_cut)
      all.cuts.push_back({all.last_cut, all.cuts.empty() ? Epoch{} : all.cuts.back().coordinator, end + 1, {}, {}});
    auto& into = all.cuts.back().segments;
    into.insert(into.end(), refused.begin(), refused.end());
  }
  all.complete = std::ranges::all_of(parts, is_whole);
  return all;
}

}  // namespace evershard::cluster
