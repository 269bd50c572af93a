#include "evershard/cluster/replication/shipping.hpp"

#include <algorithm>
#include <utility>

namespace evershard::cluster {
namespace {

constexpr std::uint32_t still_max = 3;  ///< then what is under way is taken for lost

}  // namespace

void Shipping::begin(ShardId id, Epoch epoch, const std::vector<std::uint32_t>& followers, ShardOffset durable) {
  const auto known = shards_.find(id);
  if (known != shards_.end() && known->second.epoch == epoch) {
    auto& of = known->second.followers;
    for (auto& [node, follower] : of)
      if (std::ranges::find(followers, node) == followers.end()) forget_under_way(node, follower);
    std::erase_if(of, [&](const auto& one) { return std::ranges::find(followers, one.first) == followers.end(); });
    for (const auto node : followers) of[node];
    return this->durable(id, durable);
  }
  if (known != shards_.end())
    for (auto& [node, follower] : known->second.followers) forget_under_way(node, follower);
  Shard shard{epoch, durable};
  for (const auto node : followers) shard.followers[node];
  shards_.insert_or_assign(id, std::move(shard));
}

void Shipping::end(ShardId id) {
  const auto shard = shards_.extract(id);
  if (shard.empty()) return;
  for (auto& [node, follower] : shard.mapped().followers) forget_under_way(node, follower);
}

bool Shipping::has_room(std::uint32_t node) const {
  const auto bytes = under_way_.find(node);
  return bytes == under_way_.end() || bytes->second < options_.under_way_max;
}

void Shipping::sent(std::uint32_t node, Follower& follower, ShardOffset end, std::size_t bytes) {
  follower.next = end;
  follower.under_way.push_back({end, bytes});
  under_way_[node] += bytes;
}

void Shipping::forget_under_way(std::uint32_t node, Follower& follower) {
  for (const auto& sent : follower.under_way) under_way_[node] -= sent.bytes;
  follower.under_way.clear();
}

// Mostly all of them go to the same nodes, and are sent as one.
std::vector<Shipping::Outgoing> Shipping::made(std::vector<storage::ShippedRows> rows) {
  std::vector<Outgoing> out;
  for (auto& made : rows) {
    const auto shard = shards_.find(made.shard);
    if (shard == shards_.end()) continue;
    std::vector<std::uint32_t> nodes;
    for (auto& [node, follower] : shard->second.followers) {
      if (follower.next != made.first || !has_room(node)) continue;
      nodes.push_back(node);
      sent(node, follower, made.end, made.bytes());
    }
    if (nodes.empty()) continue;
    auto same = std::ranges::find(out, nodes, &Outgoing::nodes);
    if (same == out.end()) same = out.insert(out.end(), {std::move(nodes), {}});
    same->ship.shards.push_back({shard->second.epoch, std::move(made)});
  }
  return out;
}

void Shipping::durable(ShardId id, ShardOffset end) {
  if (const auto shard = shards_.find(id); shard != shards_.end())
    shard->second.durable = std::max(shard->second.durable, end);
}

bool Shipping::followed(std::uint32_t node, const FollowedShard& told, bool again) {
  const auto shard = shards_.find(told.shard);
  if (shard == shards_.end() || shard->second.epoch != told.epoch) return false;
  const auto found = shard->second.followers.find(node);
  if (found == shard->second.followers.end()) return false;
  Follower& follower = found->second;
  follower.still = told.tail > follower.told || follower.under_way.empty() ? 0 : follower.still + 1;
  follower.told = told.tail;
  for (; !follower.under_way.empty() && follower.under_way.front().end <= told.tail; follower.under_way.pop_front())
    under_way_[node] -= follower.under_way.front().bytes;
  if (again || !follower.next || follower.still == still_max) {
    forget_under_way(node, follower);
    follower.still = 0;
    follower.next = told.tail;
  }
  return true;
}

void Shipping::lost(std::uint32_t node) {
  for (auto& [id, shard] : shards_) {
    const auto follower = shard.followers.find(node);
    if (follower == shard.followers.end()) continue;
    forget_under_way(node, follower->second);
    follower->second.next.reset();
  }
}

std::vector<Shipping::Wanted> Shipping::wanted() const {
  // The one that has come least far: cuts need all shards in turn.
  std::map<std::uint32_t, std::pair<double, Wanted>> of;
  for (const auto& [id, shard] : shards_) {
    for (const auto& [node, follower] : shard.followers) {
      if (!follower.next || *follower.next >= shard.durable || !has_room(node)) continue;
      const auto part = static_cast<double>(follower.next->value) / static_cast<double>(shard.durable.value);
      const auto [at, first] = of.try_emplace(node, part, Wanted{node, id, *follower.next, shard.epoch});
      if (!first && part < at->second.first) at->second = {part, Wanted{node, id, *follower.next, shard.epoch}};
    }
  }
  std::vector<Wanted> wanted;
  for (const auto& [node, first] : of) wanted.push_back(first.second);
  return wanted;
}

std::optional<Shipping::Outgoing> Shipping::read(const Wanted& wanted, storage::ShippedRows rows) {
  const auto shard = shards_.find(wanted.shard);
  if (shard == shards_.end() || shard->second.epoch != wanted.epoch) return std::nullopt;
  const auto follower = shard->second.followers.find(wanted.node);
  if (follower == shard->second.followers.end() || follower->second.next != wanted.from) return std::nullopt;
  if (rows.end <= rows.first) {
    follower->second.next.reset();  // not there to be read: it says again where it is
    return std::nullopt;
  }
  sent(wanted.node, follower->second, rows.end, rows.bytes());
  Outgoing out{{wanted.node}, {}};
  out.ship.shards.push_back({shard->second.epoch, std::move(rows)});
  return out;
}

std::vector<Shipping::Lag> Shipping::lags() const {
  std::vector<Lag> lags;
  for (const auto& [id, shard] : shards_)
    for (const auto& [node, follower] : shard.followers)
      lags.push_back(
          {id, node, follower.next.has_value(), shard.durable > follower.told ? shard.durable - follower.told : 0});
  return lags;
}

}  // namespace evershard::cluster
