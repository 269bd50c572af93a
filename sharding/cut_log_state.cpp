#include "evershard/sharding/cut_log_state.hpp"

#include <algorithm>
#include <string>

namespace evershard::sharding {
namespace {

Refused does_not_follow(const Cut& cut, const std::string& why) {
  return refuse(ErrorCode::corruption, "cut " + std::to_string(cut.number.value) + " does not follow: " + why);
}

std::string named(ShardId shard) { return "shard " + std::to_string(shard.value); }

}  // namespace

OrderState CutLogState::order() const {
  OrderState order;
  order.coordinator = epoch;
  order.last_cut = last_cut;
  order.watermark = watermark;
  for (const Shard& shard : shards) order.shards.push_back({shard.epoch, shard.next});
  return order;
}

Result<void> check_follows(const CutLogState& state, const Cut& cut) {
  if (cut.number != state.last_cut + 1)
    return does_not_follow(cut, "the last one is cut " + std::to_string(state.last_cut.value));
  if (cut.first_position != state.watermark + 1)
    return does_not_follow(cut, "it begins at position " + std::to_string(cut.first_position.value) +
                                    ", the watermark is " + std::to_string(state.watermark.value));
  std::vector<CutLogState::Shard> shards = state.shards;
  for (const auto& [id, set] : cut.replicas) {
    if (id.value >= shards.size())
      return does_not_follow(cut, "it names " + named(id) + " of " + std::to_string(shards.size()));
    if (set.nodes.empty() || set.nodes.front() == 0 || set.quorum == 0 ||
        std::ranges::adjacent_find(set.nodes, std::ranges::greater_equal{}) != set.nodes.end() ||
        std::ranges::adjacent_find(set.learned, std::ranges::greater_equal{}) != set.learned.end())
      return does_not_follow(cut, "it gives " + named(id) + " a replica set that is none");
    shards[id.value].replicas = set;
  }
  for (const Opening& opening : cut.openings) {
    if (opening.shard.value >= shards.size())
      return does_not_follow(cut, "it opens " + named(opening.shard) + " of " + std::to_string(shards.size()));
    auto& shard = shards[opening.shard.value];
    if (opening.epoch <= shard.epoch)
      return does_not_follow(cut, "it opens " + named(opening.shard) + " under epoch " +
                                      std::to_string(opening.epoch.value) + " after epoch " +
                                      std::to_string(shard.epoch.value));
    if (opening.node == 0) return does_not_follow(cut, "it opens " + named(opening.shard) + " for nobody");
    if (!shard.replicas.nodes.empty() && !shard.replicas.has(opening.node))
      return does_not_follow(cut, "it opens " + named(opening.shard) + " for node " + std::to_string(opening.node) +
                                      ", which is not in its replica set");
    if (opening.tail < shard.next)
      return does_not_follow(cut, "it opens " + named(opening.shard) + " at offset " +
                                      std::to_string(opening.tail.value) + ", cuts cover offsets up to " +
                                      std::to_string(shard.next.value));
    if (opening.loses() && opening.lost_until != shard.next)
      return does_not_follow(cut, "it names a loss on " + named(opening.shard) + " that cuts do not cover");
    shard.epoch = opening.epoch;
  }
  for (const Segment& segment : cut.segments) {
    if (segment.shard.value >= shards.size())
      return does_not_follow(cut, "it names " + named(segment.shard) + " of " + std::to_string(shards.size()));
    auto& shard = shards[segment.shard.value];
    if (segment.epoch != shard.epoch)
      return does_not_follow(cut, named(segment.shard) + " is under epoch " + std::to_string(shard.epoch.value) +
                                      ", not " + std::to_string(segment.epoch.value));
    if (segment.first != shard.next)
      return does_not_follow(cut, named(segment.shard) + " is covered up to offset " +
                                      std::to_string(shard.next.value) + ", not " +
                                      std::to_string(segment.first.value));
    shard.next = segment.end;
  }
  return {};
}

std::optional<ShardOffset> CutLogState::Shard::lost_after(Epoch since) const {
  const auto first = std::ranges::find_if(losses, [&](const Loss& loss) { return loss.epoch > since; });
  if (first == losses.end()) return std::nullopt;
  return first->from;
}

void CutLogState::Shard::follow(const Opening& opening) {
  epoch = opening.epoch;
  node = opening.node;
  if (opening.loses()) lose(opening.epoch, opening.lost_from);
}

std::vector<std::uint32_t> CutLogState::Shard::keepers() const {
  return replicas.nodes.empty() ? std::vector<std::uint32_t>{node} : replicas.nodes;
}

void CutLogState::Shard::lose(Epoch under, ShardOffset from) {
  written = std::max(written, under);  // what is written after it is
  while (!losses.empty() && losses.back().from >= from) losses.pop_back();
  losses.push_back({under, from});
}

void follow(CutLogState& state, const Cut& cut) {
  for (const auto& [shard, set] : cut.replicas) state.shards[shard.value].replicas = set;
  for (const Opening& opening : cut.openings) state.shards[opening.shard.value].follow(opening);
  GlobalPosition last = state.watermark;
  for (const Segment& segment : cut.segments) {
    auto& shard = state.shards[segment.shard.value];
    last = last + segment.events();
    shard.next = segment.end;
    shard.written = segment.epoch;
    if (segment.events() != 0) shard.last_position = last;
  }
  state.last_cut = cut.number;
  state.watermark = last;
}

std::vector<NamedShard> shards_named(const Cut& cut) {
  std::vector<NamedShard> all;
  for (const Segment& segment : cut.segments) all.push_back({segment.shard, segment.first, segment.end});
  for (const Opening& opening : cut.openings) all.push_back({opening.shard});
  for (const NewReplicas& replicas : cut.replicas) all.push_back({replicas.shard});
  // Of one shard the segments follow one another, before its openings.
  std::ranges::stable_sort(all, {}, &NamedShard::shard);
  std::vector<NamedShard> shards;
  for (const NamedShard& named : all) {
    if (shards.empty() || shards.back().shard != named.shard)
      shards.push_back(named);
    else if (named.first != named.end)
      shards.back().end = named.end;
  }
  return shards;
}

}  // namespace evershard::sharding
