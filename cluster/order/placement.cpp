#include "evershard/cluster/order/placement.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace evershard::cluster {

using sharding::ReplicaSet;

std::string Placement::zone(std::uint32_t node) const {
  const auto found = nodes.find(node);
  // One without a zone is alone in its own.
  return found == nodes.end() || found->second.zone.empty() ? "\n" + std::to_string(node) : found->second.zone;
}

bool Placement::stays(std::uint32_t node) const {
  const auto found = nodes.find(node);
  return found != nodes.end() && found->second.stays;
}

// Of a set that was given out while the setting was another one, as then: its quorum says so.
std::size_t Placement::target(const ReplicaSet& set) const {
  return replicas / 2 + 1 == set.quorum ? replicas : 2 * std::size_t{set.quorum} - 1;
}

std::map<std::uint32_t, std::size_t> Placement::loads() const {
  std::map<std::uint32_t, std::size_t> loads;
  for (const auto& [node, of] : nodes)
    if (of.stays) loads[node] = 0;
  for (const auto& set : sets)
    for (const auto node : set.all())
      if (const auto load = loads.find(node); load != loads.end()) ++load->second;
  return loads;
}

std::vector<Placement::Wanted> Placement::wanted() const {
  std::vector<Wanted> wanted;
  auto load = loads();
  std::vector<std::set<std::uint32_t>> keep;  // per shard, who stays
  for (const auto& set : sets) {
    auto& of = keep.emplace_back();
    for (const auto node : set.all())
      if (stays(node)) of.insert(node);
  }
  for (const auto& [shard, node] : surplus())  // as if it had gone already
    if (keep[shard.value].erase(node) != 0) --load[node];
  const auto give = [&](std::size_t s, std::uint32_t node) {
    wanted.push_back({ShardId{static_cast<std::uint16_t>(s)}, node});
    keep[s].insert(node);
    ++load[node];
  };
  /// Who shares the fewest zones with the others, then has least. `but`: goes when the other has come.
  const auto best_for = [&](std::size_t s, std::uint32_t but) {
    std::optional<std::tuple<std::size_t, std::size_t, std::uint32_t>> best;
    for (const auto& [node, of] : nodes) {
      if (!of.stays || !of.takes || keep[s].contains(node) || sets[s].has(node)) continue;
      const auto shared = static_cast<std::size_t>(std::ranges::count_if(
          keep[s], [&, at = zone(node)](std::uint32_t other) { return other != but && zone(other) == at; }));
      const std::tuple at(shared, load[node], node);
      if (!best || at < *best) best = at;
    }
    return best ? std::get<2>(*best) : 0;
  };
  for (std::size_t s = 0; s != sets.size(); ++s) {
    if (sets[s].nodes.empty()) continue;
    while (keep[s].size() < target(sets[s])) {
      const auto node = best_for(s, 0);
      if (node == 0) break;  // there is no room
      give(s, node);
    }
  }
  for (const auto& move : moves) {
    const auto s = std::size_t{move.shard.value};
    const auto to = nodes.find(move.to);
    if (s < sets.size() && !sets[s].nodes.empty() && !keep[s].contains(move.to) && to != nodes.end() &&
        to->second.stays && to->second.takes)
      give(s, move.to);
  }
  // Loads of what is still to come are not those that choose who goes: together they would go in a circle.
  if (!even || !wanted.empty()) return wanted;
  for (;;) {
    std::uint32_t least = 0;
    for (const auto& [node, of] : nodes)
      if (of.stays && of.takes && (least == 0 || load[node] < load[least])) least = node;
    if (least == 0) return wanted;
    // Of who has most first, one that brings no two replicas into one zone that were not there before.
    std::vector<std::uint32_t> from;
    for (const auto& [node, count] : load)
      if (count >= load[least] + 2) from.push_back(node);
    std::ranges::stable_sort(from, std::ranges::greater{}, [&](std::uint32_t node) { return load[node]; });
    bool moved = false;
    for (const auto giver : from) {
      for (std::size_t s = 0; !moved && s != sets.size(); ++s) {
        if (sets[s].nodes.size() < 2 || !sets[s].has(giver) || keep[s].size() != target(sets[s]) ||
            !keep[s].contains(giver) || keep[s].contains(least) || sets[s].has(least))
          continue;
        const bool shares = std::ranges::any_of(
            keep[s], [&](std::uint32_t other) { return other != giver && zone(other) == zone(least); });
        if (shares) continue;
        give(s, least);
        keep[s].erase(giver);
        --load[giver];
        moved = true;
      }
      if (moved) break;
    }
    if (!moved) return wanted;
  }
}

std::optional<Placement::Learns> Placement::learns() const {
  std::map<std::uint32_t, std::vector<ShardId>> of;
  for (const auto& [shard, node] : wanted()) of[node].push_back(shard);
  if (of.empty()) return std::nullopt;
  auto most = std::ranges::max_element(of, {}, [](const auto& one) { return one.second.size(); });
  std::ranges::sort(most->second);
  return Learns{most->first, std::move(most->second)};
}

bool Placement::done(const ReplicaMove& move) const {
  const auto& set = sets.at(move.shard.value);
  return set.has(move.to) && (move.from == move.to || !set.has(move.from)) && set.nodes.size() <= replicas;
}

std::size_t Placement::to_do() const {
  Placement all_here = *this;
  for (auto& [node, of] : all_here.nodes) of.takes |= of.away;
  std::size_t count = all_here.wanted().size() + surplus().size();
  for (const auto& set : sets) count += set.all().size() - set.nodes.size();
  return count;
}

std::map<ShardId, std::uint32_t> Placement::surplus() const {
  std::map<ShardId, std::uint32_t> goes;
  auto load = loads();
  for (std::size_t s = 0; s != sets.size(); ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    const auto& set = sets[s];
    const auto staying =
        static_cast<std::size_t>(std::ranges::count_if(set.nodes, [&](auto node) { return stays(node); }));
    // Who is to go is kept until the others are enough.
    if (set.nodes.size() < 2 || set.nodes.size() <= target(set) || staying < target(set)) continue;
    const auto wanted_at = [&](std::uint32_t node) {
      return std::ranges::any_of(moves, [&](const auto& move) { return move.shard == shard && move.to == node; });
    };
    const auto shares = [&](std::uint32_t node) {
      return std::ranges::any_of(set.nodes, [&](auto other) { return other != node && zone(other) == zone(node); });
    };
    std::uint32_t chosen = 0;
    for (const auto node : set.nodes)
      if (chosen == 0 && !stays(node)) chosen = node;
    for (const auto& move : moves)
      if (chosen == 0 && move.shard == shard && move.from != 0 && move.from != move.to && set.has(move.from) &&
          set.has(move.to))
        chosen = move.from;
    if (const auto before = going.find(shard); chosen == 0 && before != going.end() && set.has(before->second))
      chosen = before->second;
    // Who shares a zone goes first, then who has most. Whom somebody wants there stays.
    if (chosen == 0)
      for (const auto node : set.nodes)
        if (!wanted_at(node) &&
            (chosen == 0 || std::tuple(shares(node), load[node]) > std::tuple(shares(chosen), load[chosen])))
          chosen = node;
    if (chosen == 0) continue;
    goes[shard] = chosen;
    if (const auto of = load.find(chosen); of != load.end()) --of->second;
  }
  return goes;
}

}  // namespace evershard::cluster
