// Shards get other writers while their present ones are well: to be balanced, or because an operator says so.

#include <algorithm>
#include <utility>

#include "evershard/cluster/order/coordinator.hpp"

namespace evershard::cluster {
namespace {

constexpr std::size_t hand_overs_max = 4;  ///< at a time: what waits for each waits for the rest of a cut too

std::string shard_named(ShardId shard) { return "shard " + std::to_string(shard.value); }
std::string node_named(std::uint32_t node) { return "node " + std::to_string(node); }

}  // namespace

// Of what its writer reported no more is ordered under that epoch: then the replica's disk need only be as far as that
// when it answers, whatever is written meanwhile. What is behind it there is reported under the next epoch; what is not
// there was not acknowledged, and is sent again.
void Coordinator::begin_hand_over(ShardId shard, std::uint32_t node, ClusterChange::Cause cause, Actions& actions) {
  Member& member = members_.at(node);
  actions.stops.push_back({shard, cause});
  handing_over_[shard] = {node, now_};
  if (!std::exchange(member.asked, true)) actions.send.push_back({member.process, TellAgain{member.process}});
}

void Coordinator::finish_hand_overs(Member& member, Actions& actions) {
  for (const auto& [shard, to] : std::map(handing_over_)) {
    if (to.node != member.process.node || member.told_at <= to.asked_at) continue;
    const auto at = told(member, shard);
    if (member.drained || member.full || member.still || loss(shard, at)) {
      give_up_hand_over(shard, actions);  // it lags: another time
      continue;
    }
    handing_over_.erase(shard);
    const auto epoch = ordering_.open(shard, member.process.node, at.tail);
    if (!epoch) {
      actions.warnings.push_back(epoch.error());
      continue;
    }
    actions.moved.push_back({shard, owners_[shard.value].node, member.process.node, true});
    opened(member, shard, *epoch, actions);
  }
}

void Coordinator::give_up_hand_over(ShardId shard, Actions& actions) {
  handing_over_.erase(shard);
  actions.goes_on.push_back(shard);
  const Owner& owner = owners_[shard.value];
  const auto writer = members_.find(owner.node);
  if (writer != members_.end() && writer->second.here)
    actions.send.push_back({writer->second.process, ReportFrom{shard, owner.epoch, ordering_.known_end(shard)}});
}

Coordinator::Actions Coordinator::hand_overs_took_too_long() {
  Actions actions;
  if (ended_) return actions;
  for (const auto& [shard, to] : std::map(handing_over_)) give_up_hand_over(shard, actions);
  return actions;
}

Result<Coordinator::Actions> Coordinator::hand_over(ShardId shard, std::uint32_t node) {
  if (ended_) return refuse(*ended_);
  if (shard.value >= owners_.size())
    return refuse(ErrorCode::not_found, "there is no " + shard_named(shard) + ": the cluster has " +
                                            std::to_string(owners_.size()) + ", numbered from 0");
  const auto& set = made_.shards[shard.value].replicas;
  if (!set.has(node) || set.nodes.size() < 2)
    return refuse(ErrorCode::invalid_argument, node_named(node) + " keeps no replica of " + shard_named(shard));
  const auto member = members_.find(node);
  if (member == members_.end() || !member->second.here)
    return refuse(ErrorCode::not_found, node_named(node) + " is not here");
  if (owners_[shard.value].node == node)
    return refuse(ErrorCode::invalid_argument, node_named(node) + " writes " + shard_named(shard) + " already");
  if (!writer_is_fit(shard))
    return refuse(ErrorCode::unavailable, shard_named(shard) + " has no writer that is here: it gets one by itself");
  Actions actions;
  if (const auto under_way = handing_over_.find(shard);
      under_way == handing_over_.end() || under_way->second.node != node)
    begin_hand_over(shard, node, ClusterChange::Cause::assigned, actions);
  return actions;
}

std::map<std::uint32_t, std::size_t> Coordinator::load() const {
  std::map<std::uint32_t, std::size_t> load;
  for (const auto& [node, member] : members_)
    if (member.here && !member.gateway) load[node] = 0;
  for (std::size_t s = 0; s != owners_.size(); ++s) {
    const auto to = handing_over_.find(ShardId{static_cast<std::uint16_t>(s)});
    const auto of = load.find(to == handing_over_.end() ? owners_[s].node : to->second.node);
    if (of != load.end()) ++of->second;
  }
  return load;
}

std::uint32_t Coordinator::lighter_replica(ShardId shard) const {
  const auto& set = made_.shards[shard.value].replicas;
  const auto writes = load();
  const auto writer = owners_[shard.value].node;
  const bool leaves = members_.at(writer).drained || members_.at(writer).full || members_.at(writer).still;
  std::uint32_t best = 0;
  for (const auto node : set.nodes) {
    const auto member = members_.find(node);
    if (node == writer || member == members_.end() || !member->second.here || member->second.gateway ||
        member->second.drained || member->second.full || member->second.still ||
        member->second.behind >= options_.fold_cuts)
      continue;
    if (!leaves && writes.at(writer) < writes.at(node) + 2) continue;
    if (best == 0 || writes.at(node) < writes.at(best)) best = node;
  }
  return best;
}

ClusterChange::Cause Coordinator::why_it_gives(std::uint32_t writer) const {
  const auto& member = members_.at(writer);
  if (member.leaves) return ClusterChange::Cause::removed;
  if (member.drained) return ClusterChange::Cause::drained;
  if (member.full) return ClusterChange::Cause::disk_full;
  return member.still ? ClusterChange::Cause::stands_still : ClusterChange::Cause::balanced;
}

void Coordinator::begin_hand_overs(Actions& actions) {
  for (std::size_t s = 0; s != owners_.size() && handing_over_.size() < hand_overs_max; ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    if (made_.shards[s].replicas.nodes.size() < 2 || handing_over_.contains(shard) || !writer_is_fit(shard)) continue;
    if (const auto node = lighter_replica(shard); node != 0)
      begin_hand_over(shard, node, why_it_gives(owners_[s].node), actions);
  }
}

void Coordinator::stands_still(std::uint32_t node, bool does) {
  if (const auto member = members_.find(node); member != members_.end()) member->second.still = does;
}

Coordinator::Actions Coordinator::balance() {
  Actions actions;
  if (!ended_ && nodes_had_time_) begin_hand_overs(actions);
  return actions;
}

Result<AssignOutcome> Coordinator::spread(const ShardAssignment& wanted) {
  if (ended_) return refuse(ErrorCode::unavailable, "this coordinator has stepped down: " + ended_->what);
  if (wanted.drain == wanted.balance || !wanted.shards.empty() || !wanted.accepted.empty())
    return refuse(ErrorCode::invalid_argument,
                  "a node is drained, or all is balanced, or shards are given: one of them");
  AssignOutcome outcome;
  if (wanted.balance) {
    for (auto& [node, member] : members_) member.drained = member.still = false;
  } else {
    const auto member = members_.find(wanted.node);
    if (member == members_.end() || !member->second.here)
      return refuse(ErrorCode::not_found, node_named(wanted.node) + " is not here");
    for (std::size_t s = 0; s != owners_.size(); ++s)
      if (owners_[s].node == wanted.node && made_.shards[s].replicas.nodes.size() < 2)
        return refuse(ErrorCode::invalid_argument, shard_named(ShardId{static_cast<std::uint16_t>(s)}) + " of " +
                                                       node_named(wanted.node) + " has no other replica");
    member->second.drained = true;
  }
  begin_hand_overs(outcome.actions);
  outcome.answer.done = true;
  return outcome;
}

}  // namespace evershard::cluster
