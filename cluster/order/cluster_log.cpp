#include "evershard/cluster/order/cluster_log.hpp"

#include <algorithm>

namespace evershard::cluster {
namespace {

constexpr std::int64_t one_change_us = 1'000'000;

std::uint64_t ms_between(ClusterLog::Time from, ClusterLog::Time until) {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::milliseconds>(until - from).count()));
}

}  // namespace

ClusterLog::ClusterLog(Now began) : began_(began.at) {
  changes_.push_back({began.clock, Cause::leads, 0, 0, {}, 0});
  sums_[static_cast<std::size_t>(Cause::leads)].changes = 1;
}

void ClusterLog::stops(Time since, ShardId shard, Cause cause) {
  const auto [at, first] = stopped_.try_emplace(shard, Stopped{since, cause});
  if (!first) at->second = {std::min(at->second.since, since), cause};
}

// One that was to be handed over, and was not, has not changed.
void ClusterLog::goes_on(Now now, ShardId shard, std::uint32_t node) {
  const auto stopped = stopped_.find(shard);
  if (stopped == stopped_.end()) return;
  const auto [since, cause] = stopped->second;
  stopped_.erase(stopped);
  if (cause == Cause::node_lost || cause == Cause::node_silent) add(now, cause, node, node, shard, since);
}

void ClusterLog::stored(Now now, const sharding::CutLogState& before, const sharding::Cut& cut) {
  for (const auto& opening : cut.openings) {
    const auto stopped = stopped_.find(opening.shard);
    // Whose writer was away before this coordinator led, and is back before anybody missed it.
    const auto why = stopped == stopped_.end() ? Stopped{began_, Cause::node_lost} : stopped->second;
    if (stopped != stopped_.end()) stopped_.erase(stopped);
    const auto from = before.shards[opening.shard.value].node;
    if (from != 0) add(now, why.cause, from, opening.node, opening.shard, why.since);
  }
  for (const auto& [shard, after] : cut.replicas) {
    const auto& set = before.shards[shard.value].replicas;
    if (set.nodes.empty()) continue;
    for (const auto node : after.all())
      if (after.learns(node) && !set.learns(node)) add(now, Cause::learns, 0, node, shard, now.at);
    for (const auto node : after.nodes)
      if (!set.has(node)) add(now, Cause::learned, 0, node, shard, now.at);
    for (const auto node : set.all())
      if (const auto all = after.all(); std::ranges::find(all, node) == all.end())
        add(now, Cause::left, node, 0, shard, now.at);
  }
}

// What one loss brings about for several nodes is counted once, for as long as the longest of it.
void ClusterLog::add(Now now, Cause cause, std::uint32_t from, std::uint32_t to, ShardId shard, Time since) {
  const auto ms = ms_between(since, now.at);
  ClusterChange* same = nullptr;
  bool counted = false;
  std::uint64_t longest = 0;
  // Changes of several causes may come with the same cut.
  for (auto at = changes_.rbegin(); at != changes_.rend() && now.clock.micros - at->at.micros <= one_change_us; ++at) {
    if (at->cause != cause || at->from != from || (from == 0 && at->to != to)) continue;
    if (std::ranges::binary_search(at->shards, shard)) break;  // it happened again
    counted = true;
    longest = std::max(longest, at->without_writer_ms);
    if (at->to == to) same = &*at;
  }
  auto& sum = sums_[static_cast<std::size_t>(cause)];
  sum.changes += counted ? 0 : 1;
  sum.without_writer_ms += ms - std::min(ms, longest);
  if (same == nullptr) {
    changes_.push_back({now.clock, cause, from, to, {}, 0});
    same = &changes_.back();
  }
  same->shards.insert(std::ranges::lower_bound(same->shards, shard), shard);
  same->without_writer_ms = std::max(same->without_writer_ms, ms);
  ++shards_named_;
  forget();
}

void ClusterLog::forget() {
  while (changes_.size() > 1 && (changes_.size() > changes_max || shards_named_ > shards_max)) {
    shards_named_ -= changes_.front().shards.size();
    changes_.pop_front();
  }
}

std::vector<ClusterStatus::Count> ClusterLog::counts() const {
  std::vector<ClusterStatus::Count> counts;
  for (std::size_t c = 0; c != sums_.size(); ++c)
    if (sums_[c].changes != 0) counts.push_back({static_cast<Cause>(c), sums_[c].changes, sums_[c].without_writer_ms});
  return counts;
}

std::optional<std::chrono::milliseconds> ClusterLog::without_writer(Time now, ShardId shard) const {
  const auto stopped = stopped_.find(shard);
  if (stopped == stopped_.end()) return std::nullopt;
  return std::chrono::milliseconds(ms_between(stopped->second.since, now));
}

std::optional<ClusterChange::Cause> ClusterLog::why(ShardId shard) const {
  const auto stopped = stopped_.find(shard);
  return stopped == stopped_.end() ? std::nullopt : std::optional(stopped->second.cause);
}

}  // namespace evershard::cluster
