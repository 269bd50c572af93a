#include "evershard/cluster/replication/row_logs.hpp"

#include <algorithm>
#include <optional>

namespace evershard::cluster {
namespace {

constexpr std::uint64_t nearly = 16;  ///< entries that one may lack who is waited for

using At = RowLogs::At;
using Ends = RowLogs::Ends;
using storage::number_of;

/// Of the oldest epoch of which `here` lacks something that `there` has: how much `here` has. Nothing: it lacks none.
std::optional<At> first_missing(const Ends& here, const Ends& there) {
  for (const auto& [epoch, number] : there)
    if (const auto has = number_of(here, epoch); has < number) return At{epoch, has};
  return std::nullopt;
}

/// Whether nothing of `all` up to that entry is missing, or at most so many of its own epoch.
bool has_up_to(const Ends& ends, const Ends& all, At at, std::uint64_t missing_max = 0) {
  return std::ranges::all_of(all, [&](const auto& of) {
    if (of.first > at.epoch) return true;
    const auto wanted = of.first == at.epoch ? at.number - std::min(at.number, missing_max) : of.second;
    return number_of(ends, of.first) >= wanted;
  });
}

}  // namespace

void RowLogs::begin(ShardId id, Epoch epoch, const Ends& ends, bool whole) {
  Shard& shard = shards_[id];
  if (shard.epoch == epoch) return;
  shard = Shard{.epoch = epoch, .whole = whole};
  note(shard, ends);
}

void RowLogs::note(Shard& shard, const Ends& ends) {
  shard.ends = ends;
  for (const auto& [epoch, number] : ends) shard.seen[epoch] = std::max(shard.seen[epoch], number);
}

RowLogs::Shard* RowLogs::at(ShardId id, Epoch epoch) {
  const auto shard = shards_.find(id);
  return shard == shards_.end() || shard->second.epoch != epoch ? nullptr : &shard->second;
}

// They follow this node's epoch: none of them takes anything of an earlier writer any more.
void RowLogs::look(Shard& shard) {
  if (shard.ready || !heard_enough(shard)) return;
  shard.ready = std::ranges::all_of(shard.followers,
                                    [&](const auto& of) { return storage::has_all(shard.seen, of.second.ends); });
}

bool RowLogs::heard_enough(const Shard& shard) {
  const bool first = shard.epoch == Epoch{1};
  std::size_t heard = 1, whole = first || shard.whole ? 1 : 0;
  for (const auto& [node, follower] : shard.followers) {
    if (!shard.set.has(node)) continue;
    ++heard;
    if (first || follower.whole) ++whole;
  }
  return whole >= shard.set.enough_to_meet_a_quorum() || heard >= shard.set.nodes.size();
}

void RowLogs::followed(std::uint32_t node, ShardId id, Epoch epoch, const Ends& ends, ShardOffset tail,
                       const sharding::ReplicaSet& set, bool whole,
                       const std::optional<std::set<std::uint64_t>>& bases) {
  Shard* const shard = at(id, epoch);
  if (shard == nullptr) return;
  if (shard->set != set) {
    shard->set = set;
    std::erase_if(shard->followers, [&](const auto& of) { return !set.has(of.first) && !set.learns(of.first); });
  }
  if (!set.has(node) && !set.learns(node)) return;
  Follower& follower = shard->followers[node];
  if (ends != follower.ends || whole != follower.whole || bases != follower.bases) follower.under_way = false;
  follower.ends = ends;
  follower.tail = tail;
  follower.whole = whole;
  follower.bases = bases;
  look(*shard);
}

bool RowLogs::ready(ShardId id) const {
  const auto shard = shards_.find(id);
  return shard != shards_.end() && shard->second.ready;
}

RowLogs::At RowLogs::next(ShardId id) const {
  const auto& shard = shards_.at(id);
  return {shard.epoch, number_of(shard.ends, shard.epoch) + 1};
}

void RowLogs::written(ShardId id, const Ends& ends) {
  if (const auto shard = shards_.find(id); shard != shards_.end()) note(shard->second, ends);
}

bool RowLogs::quorum_has(ShardId id, At at, const sharding::ReplicaSet& set) const {
  const auto shard = shards_.find(id);
  if (shard == shards_.end() || number_of(shard->second.ends, at.epoch) < at.number) return false;
  const auto have = std::ranges::count_if(shard->second.followers, [&](const auto& of) {
    return set.has(of.first) && has_up_to(of.second.ends, shard->second.ends, at);
  });
  return static_cast<std::uint64_t>(have) + 1 >= set.quorum;
}

bool RowLogs::quorum_has_all(ShardId id, const sharding::ReplicaSet& set) const {
  const auto shard = shards_.find(id);
  return shard != shards_.end() && shard->second.ready &&
         quorum_has(id, {shard->second.epoch, number_of(shard->second.ends, shard->second.epoch)}, set);
}

bool RowLogs::all_have(ShardId id, At at) const {
  const auto shard = shards_.find(id);
  return shard != shards_.end() && std::ranges::all_of(shard->second.followers, [&](const auto& of) {
           const auto& ends = of.second.ends;
           return has_up_to(ends, shard->second.ends, at) || !has_up_to(ends, shard->second.ends, at, nearly);
         });
}

void RowLogs::lost(std::uint32_t node) {
  for (auto& [id, shard] : shards_) shard.followers.erase(node);
}

std::vector<RowLogs::Wanted> RowLogs::to_ask() {
  std::vector<Wanted> wanted;
  for (auto& [id, shard] : shards_) {
    if (shard.asking || (!shard.ready && !heard_enough(shard))) continue;
    // In turn: one that does not answer keeps nobody else from being asked.
    auto next = shard.followers.upper_bound(shard.asked_last);
    for (std::size_t n = 0; n != shard.followers.size() && !shard.asking; ++n, ++next) {
      if (next == shard.followers.end()) next = shard.followers.begin();
      const auto missing = first_missing(shard.seen, next->second.ends);
      if (!missing) continue;
      shard.asking = true;
      shard.asked_last = next->first;
      wanted.push_back({next->first, id, shard.epoch, *missing, next->second.tail});
    }
  }
  return wanted;
}

bool RowLogs::asks(const Wanted& asked) const {
  const auto shard = shards_.find(asked.shard);
  return shard != shards_.end() && shard->second.epoch == asked.epoch &&
         number_of(shard->second.seen, asked.after.epoch) == asked.after.number;
}

void RowLogs::given(const Wanted& asked, std::uint64_t up_to, const Ends& ends) {
  Shard* const shard = at(asked.shard, asked.epoch);
  if (shard == nullptr) return;
  shard->asking = false;
  note(*shard, ends);
  auto& seen = shard->seen[asked.after.epoch];
  seen = std::max(seen, up_to);
  look(*shard);
}

void RowLogs::owe(ShardId id) {
  if (const auto shard = shards_.find(id); shard != shards_.end()) shard->second.owes = true;
}

void RowLogs::paid(ShardId id) {
  if (const auto shard = shards_.find(id); shard != shards_.end()) shard->second.owes = false;
}

bool RowLogs::owes(ShardId id) const {
  const auto shard = shards_.find(id);
  return shard != shards_.end() && shard->second.ready && shard->second.owes;
}

void RowLogs::not_taken(const Wanted& asked) {
  Shard* const shard = at(asked.shard, asked.epoch);
  if (shard == nullptr || !shard->ready) return;
  const auto follower = shard->followers.find(asked.node);
  if (follower == shard->followers.end()) return;
  given(asked, number_of(follower->second.ends, asked.after.epoch), shard->ends);
}

std::vector<RowLogs::Wanted> RowLogs::to_send() {
  std::vector<Wanted> wanted;
  for (auto& [id, shard] : shards_) {
    if (!shard.ready || shard.owes) continue;
    for (auto& [node, follower] : shard.followers) {
      if (follower.under_way || first_missing(shard.seen, follower.ends)) continue;
      const auto missing = first_missing(follower.ends, shard.ends);
      if (!missing && follower.whole) continue;
      follower.under_way = true;
      wanted.push_back({node, id, shard.epoch, missing.value_or(At{}), follower.tail, !missing, follower.bases});
    }
  }
  return wanted;
}

std::vector<std::pair<ShardId, Epoch>> RowLogs::to_mark() const {
  std::vector<std::pair<ShardId, Epoch>> shards;
  for (const auto& [id, shard] : shards_)
    if (shard.ready && !shard.whole) shards.emplace_back(id, shard.epoch);
  return shards;
}

void RowLogs::marked(ShardId id) {
  if (const auto shard = shards_.find(id); shard != shards_.end()) shard->second.whole = true;
}

void RowLogs::again() {
  for (auto& [id, shard] : shards_) {
    shard.asking = false;
    for (auto& [node, follower] : shard.followers) follower.under_way = false;
  }
}

}  // namespace evershard::cluster
