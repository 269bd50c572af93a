#include "evershard/sharding/cut_log_rules.hpp"

#include <algorithm>
#include <string>

namespace evershard::sharding {

Result<void> CutLogRules::check_leads(Epoch epoch) const {
  if (epoch == state_.epoch && epoch.value != 0) return {};
  return refuse(ErrorCode::fenced, "the cut log is led under epoch " + std::to_string(state_.epoch.value) +
                                       ", not under epoch " + std::to_string(epoch.value));
}

Result<void> CutLogRules::check_put(const Cut& cut) const {
  EVERSHARD_TRY(check_leads(cut.coordinator));
  if (cut.number <= state_.last_cut)
    return refuse(ErrorCode::fenced, "the cut log has cut " + std::to_string(cut.number.value) +
                                         " already, its last one is cut " + std::to_string(state_.last_cut.value));
  return check_follows(state_, cut);
}

void CutLogRules::taken(const Cut& cut) {
  follow(state_, cut);
  rows_.emplace(cut.number, shards_named(cut));
}

Result<void> CutLogRules::kept(const Cut& cut) {
  auto named = shards_named(cut);
  for (const NamedShard& of : named) {
    if (of.shard.value >= checkpoint_.shards.size())
      return refuse(ErrorCode::corruption, "cut " + std::to_string(cut.number.value) + " names shard " +
                                               std::to_string(of.shard.value) + " of " +
                                               std::to_string(checkpoint_.shards.size()));
  }
  rows_.emplace(cut.number, std::move(named));
  return {};
}

// Behind what was folded, rows cover everything up to where the cuts end.
void CutLogRules::read_back() {
  for (auto& shard : state_.shards) shard.folded = shard.next - 1;
  for (auto row = rows_.rbegin(); row != rows_.rend(); ++row) {
    for (const NamedShard& named : row->second) {
      ShardOffset& folded = state_.shards[named.shard.value].folded;
      if (named.end - 1 == folded) folded = named.first - 1;
    }
  }
  for (std::size_t s = 0; s != state_.shards.size(); ++s) checkpoint_.shards[s].folded = state_.shards[s].folded;
}

Result<CutLogRules::Folding> CutLogRules::fold(Epoch epoch, std::span<const HeldBy> held) const {
  EVERSHARD_TRY(check_leads(epoch));
  std::map<std::uint32_t, CutNumber> held_by;
  for (const HeldBy& by : held) held_by[by.node] = std::max(held_by[by.node], by.cut);
  Folding folding{state_, {}};
  for (const auto& [number, shards] : rows_) {
    const bool all = std::ranges::all_of(shards, [&, number = number](const NamedShard& named) {
      return std::ranges::all_of(state_.shards[named.shard.value].keepers(), [&](std::uint32_t node) {
        const auto by = held_by.find(node);
        return by != held_by.end() && by->second >= number;
      });
    });
    if (!all) continue;
    folding.given_up.push_back(number);
    for (const NamedShard& named : shards) {
      ShardOffset& last = folding.checkpoint.shards[named.shard.value].folded;
      last = std::max(last, named.end - 1);
    }
  }
  return folding;
}

void CutLogRules::folded(const Folding& folding) {
  for (const CutNumber number : folding.given_up) rows_.erase(number);
  state_ = checkpoint_ = folding.checkpoint;
}

}  // namespace evershard::sharding
