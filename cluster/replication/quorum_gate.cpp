#include "evershard/cluster/replication/quorum_gate.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace evershard::cluster {
namespace {

ShardOffset end_of(const sharding::Report& report) {
  ShardOffset end = report.first;
  for (const auto& append : report.appends) end = end + append.events;
  return end;
}

}  // namespace

QuorumGate::Shard& QuorumGate::at(ShardId id, Epoch epoch) {
  Shard& shard = shards_[id];
  if (shard.epoch < epoch) shard = {epoch};
  return shard;
}

void QuorumGate::take(actors::WriterReport report, const sharding::ReplicaSet& set, Reports& out) {
  if (set.quorum <= 1 || report.report.appends.empty()) return out.push_back(std::move(report));
  Shard& shard = at(report.report.shard, report.report.epoch);
  if (report.report.epoch < shard.epoch) return;
  // Reported again from an earlier offset: what waits behind that comes again too.
  while (!shard.waiting.empty() && shard.waiting.back().report.first >= report.report.first) shard.waiting.pop_back();
  if (shard.waiting.empty() && end_of(report.report) <= quorum_has(shard, set)) return out.push_back(std::move(report));
  shard.waiting.push_back(std::move(report));
}

void QuorumGate::followed(std::uint32_t node, ShardId id, Epoch epoch, ShardOffset tail,
                          const sharding::ReplicaSet& set, Reports& out) {
  if (node == self_ || !set.has(node)) return;
  Shard& shard = at(id, epoch);
  if (epoch < shard.epoch) return;
  ShardOffset& known = shard.tails.try_emplace(node, ShardOffset{1}).first->second;
  known = std::max(known, tail);
  const auto has = quorum_has(shard, set);
  for (; !shard.waiting.empty() && end_of(shard.waiting.front().report) <= has; shard.waiting.pop_front())
    out.push_back(std::move(shard.waiting.front()));
}

void QuorumGate::lost(std::uint32_t node) {
  for (auto& [id, shard] : shards_) shard.tails.erase(node);
}

void QuorumGate::note(ShardId id, const sharding::ReplicaSet& set) {
  if (const auto shard = shards_.find(id); shard != shards_.end())
    std::erase_if(shard->second.tails, [&](const auto& of) { return !set.has(of.first); });
}

ShardOffset QuorumGate::quorum_has(const Shard& shard, const sharding::ReplicaSet& set) const {
  if (set.quorum <= 1) return ShardOffset{std::numeric_limits<std::uint64_t>::max()};
  std::vector<ShardOffset> tails;
  for (const auto& [node, tail] : shard.tails)
    if (set.has(node)) tails.push_back(tail);
  const std::size_t others = set.quorum - 1;  // beside the writer, which reports what it has
  if (tails.size() < others) return ShardOffset{1};
  std::ranges::nth_element(tails, tails.begin() + static_cast<std::ptrdiff_t>(others - 1), std::greater{});
  return tails[others - 1];
}

ShardOffset QuorumGate::quorum_has(ShardId id, const sharding::ReplicaSet& set) const {
  const auto shard = shards_.find(id);
  return quorum_has(shard == shards_.end() ? Shard{} : shard->second, set);
}

bool QuorumGate::waits(ShardId id) const {
  const auto shard = shards_.find(id);
  return shard != shards_.end() && !shard->second.waiting.empty();
}

}  // namespace evershard::cluster
