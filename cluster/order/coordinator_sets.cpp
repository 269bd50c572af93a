// Sets that change: who learns a shard, who counts from then on, who gives it up.

#include <algorithm>
#include <utility>

#include "evershard/cluster/order/coordinator.hpp"

namespace evershard::cluster {
namespace {

using sharding::ReplicaSet;

constexpr std::size_t narrowing_max = 16;  ///< at a time

std::string node_text(std::uint32_t node) { return "node " + std::to_string(node); }
std::string shard_text(ShardId shard) { return "shard " + std::to_string(shard.value); }

void insert_sorted(std::vector<std::uint32_t>& nodes, std::uint32_t node) {
  const auto at = std::ranges::lower_bound(nodes, node);
  if (at == nodes.end() || *at != node) nodes.insert(at, node);
}

}  // namespace

Placement Coordinator::placement() const {
  Placement placement;
  placement.replicas = options_.replicas;
  placement.moves = moves_;
  placement.even = even_;
  for (const auto& [shard, narrowing] : narrowing_) placement.going[shard] = narrowing.without;
  for (std::size_t s = 0; s != made_.shards.size(); ++s)
    placement.sets.push_back(counting(ShardId{static_cast<std::uint16_t>(s)}, made_.shards[s].replicas));
  for (const auto& [node, member] : members_) {
    if (member.gateway) continue;
    placement.nodes[node] = {member.zone, !member.leaves && !member.gone, member.here && !member.full, !member.here};
  }
  // Of who has not said hello since this coordinator leads it is not known yet whether it is gone.
  for (const auto& set : placement.sets)
    for (const auto node : set.all())
      if (!members_.contains(node)) placement.nodes[node] = {{}, true, false, true};
  return placement;
}

void Coordinator::set_replicas(ShardId shard, ReplicaSet set) {
  std::erase_if(new_replicas_, [&](const auto& earlier) { return earlier.shard == shard; });
  made_.shards[shard.value].replicas = set;  // who says hello before that cut is made is to hear of it
  new_replicas_.push_back({shard, std::move(set)});
}

void Coordinator::gone(std::uint32_t node, bool is_gone) {
  // Who was never here since this coordinator leads is known by its sets.
  Member& member = members_[node];
  member.process.node = node;
  member.gone = is_gone && !member.here;
}

bool Coordinator::keeps(const Member& member, ShardId shard) {
  const auto told = member.told.find(shard);
  return told != member.told.end() && !told->second.damaged;
}

// Who had to learn it has it on its disk from then on: where it does not tell of it, that disk was lost, and it learns
// it again. Nobody else is let go for it before it has.
ReplicaSet Coordinator::counting(ShardId shard, const ReplicaSet& set) const {
  ReplicaSet counting = set;
  for (const auto node : set.learned) {
    const auto member = members_.find(node);
    if (owners_[shard.value].node != node && member != members_.end() && member->second.here &&
        !keeps(member->second, shard))
      std::erase(counting.nodes, node);
  }
  return counting;
}

// Whose disk has all of it, and who applies cuts about as they come, counts from then on. Who is to keep nothing any
// more, or is gone, learns nothing more.
void Coordinator::end_learning(Actions& actions) {
  for (std::size_t s = 0; s != made_.shards.size(); ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    ReplicaSet set = made_.shards[s].replicas;
    bool changed = false;
    for (const auto node : std::vector(set.learned)) {
      if (set.has(node)) continue;
      const auto member = members_.find(node);
      if (member == members_.end()) continue;
      if (member->second.leaves || member->second.gone) {
        std::erase(set.learned, node);
        changed = true;
        continue;
      }
      const auto since = learns_since_.try_emplace({shard, node}, led_from_).first->second;
      if (!member->second.here || member->second.behind >= options_.fold_cuts) continue;
      if (member->second.cut < since) {
        if (member->second.applied >= since && !std::exchange(member->second.asked, true))
          actions.send.push_back({member->second.process, TellAgain{member->second.process}});
      } else if (keeps(member->second, shard)) {
        insert_sorted(set.nodes, node);
        learns_since_.erase({shard, node});
        changed = true;
      }
    }
    if (changed) set_replicas(shard, std::move(set));
  }
}

void Coordinator::begin_learning(const Placement& placement) {
  const bool somebody_learns =
      std::ranges::any_of(placement.sets, [](const auto& set) { return set.all().size() != set.nodes.size(); });
  if (somebody_learns) return;
  const auto learns = placement.learns();
  if (!learns) return;
  for (const ShardId shard : learns->shards) {
    ReplicaSet set = made_.shards[shard.value].replicas;
    insert_sorted(set.learned, learns->node);
    learns_since_[{shard, learns->node}] = made_.last_cut + 1;
    set_replicas(shard, std::move(set));
  }
}

void Coordinator::narrow(ShardId shard, const Narrowing& asked, Actions& actions) {
  const Owner& owner = owners_[shard.value];
  const auto writer = members_.find(owner.node);
  if (writer == members_.end() || !writer->second.here) return;
  actions.send.push_back({writer->second.process, Narrow{writer->second.process, stored_.epoch, shard, owner.epoch,
                                                         asked.without, asked.number}});
}

void Coordinator::give_up_surplus(const Placement& placement, Actions& actions) {
  const auto surplus = placement.surplus();
  for (std::size_t s = 0; s != made_.shards.size(); ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    const auto& set = placement.sets[s];
    const auto chosen = surplus.find(shard);
    auto goes = chosen == surplus.end() ? 0 : chosen->second;
    const auto here = static_cast<std::size_t>(std::ranges::count_if(set.nodes, [&](std::uint32_t node) {
      const auto member = members_.find(node);
      return node != goes && member != members_.end() && member->second.here;
    }));
    if (here < set.quorum) goes = 0;  // the rest would not do without it
    if (const auto asked = narrowing_.find(shard); asked != narrowing_.end() && asked->second.without != goes) {
      narrow(shard, {asked->second.epoch, 0, ++narrowings_}, actions);
      narrowing_.erase(asked);
    }
    if (goes == 0 || !writer_is_fit(shard) || handing_over_.contains(shard)) continue;
    if (owners_[s].node == goes) {
      for (const auto node : set.nodes) {
        const auto member = members_.find(node);
        if (node == goes || member == members_.end() || !member->second.here || member->second.drained ||
            member->second.full || member->second.still || member->second.behind >= options_.fold_cuts)
          continue;
        begin_hand_over(shard, node,
                        members_.at(goes).leaves ? ClusterChange::Cause::removed : ClusterChange::Cause::moved,
                        actions);
        break;
      }
      continue;
    }
    if (stored_.shards[s].epoch != owners_[s].epoch ||
        (narrowing_.size() >= narrowing_max && !narrowing_.contains(shard)))
      continue;
    // The same again, until it is answered; under another number once that is of another opening.
    auto& asked = narrowing_[shard];
    if (asked.number == 0 || asked.epoch != owners_[s].epoch) asked = {owners_[s].epoch, goes, ++narrowings_};
    narrow(shard, asked, actions);
  }
}

Coordinator::Actions Coordinator::tend_sets() {
  Actions actions;
  if (ended_ || !nodes_had_time_ || options_.replicas < 2) return actions;
  end_learning(actions);
  const auto wanted = placement();
  begin_learning(wanted);
  give_up_surplus(wanted, actions);
  const auto now = placement();
  std::erase_if(moves_, [&](const ReplicaMove& move) { return now.done(move); });
  if (even_ && placement().to_do() == 0) even_ = false;
  make_cut(actions);
  return actions;
}

Coordinator::Actions Coordinator::narrowed(const Narrowed& said) {
  Actions actions;
  const auto asked = narrowing_.find(said.shard);
  if (ended_ || asked == narrowing_.end() || said.coordinator != stored_.epoch ||
      asked->second.without != said.without || asked->second.epoch != said.epoch ||
      (said.number != 0 && asked->second.number != said.number))
    return actions;
  const Owner& owner = owners_[said.shard.value];
  if (owner.node != said.from.node || owner.epoch != said.epoch || handing_over_.contains(said.shard)) return actions;
  narrowing_.erase(asked);
  ReplicaSet set = made_.shards[said.shard.value].replicas;
  std::erase(set.nodes, said.without);
  std::erase(set.learned, said.without);
  set_replicas(said.shard, std::move(set));
  make_cut(actions);
  return actions;
}

Result<void> Coordinator::may_place(const ShardAssignment& wanted) const {
  using Sets = ShardAssignment::Sets;
  if (ended_) return refuse(ErrorCode::unavailable, "this coordinator has stepped down: " + ended_->what);
  if (options_.replicas < 2)
    return refuse(ErrorCode::invalid_argument,
                  "the cluster's shards have no replicas: evershard cluster assign gives them to nodes");
  if (wanted.drain || wanted.balance || !wanted.accepted.empty() ||
      (wanted.sets == Sets::move) == wanted.shards.empty())
    return refuse(ErrorCode::invalid_argument, "who keeps what, or who writes what: one of them");
  if (wanted.sets == Sets::rebalance) return {};
  const auto member = members_.find(wanted.node);
  const bool keeps = std::ranges::any_of(made_.shards, [&](const auto& shard) {
    const auto all = shard.replicas.all();
    return std::ranges::find(all, wanted.node) != all.end();
  });
  if (wanted.sets == Sets::remove) {
    if (member == members_.end() && !keeps)
      return refuse(ErrorCode::not_found, "there is no " + node_text(wanted.node));
    std::size_t stay = 0, needed = 0;
    for (const auto& [node, of] : members_)
      stay += !of.gateway && !of.leaves && !of.gone && node != wanted.node ? 1 : 0;
    for (const auto& shard : made_.shards)
      if (shard.replicas.has(wanted.node)) needed = std::max<std::size_t>(needed, options_.replicas);
    if (stay < needed)
      return refuse(ErrorCode::invalid_argument, node_text(wanted.node) + " keeps replicas, and the " +
                                                     std::to_string(stay) + " others cannot keep " +
                                                     std::to_string(needed) +
                                                     " of each shard without it: add a node first");
    return {};
  }
  if (wanted.sets == Sets::move && wanted.from == wanted.node)
    return refuse(ErrorCode::invalid_argument,
                  "a replica moves from one node to another, not from " + node_text(wanted.from) + " to itself");
  // One that learns is started again with what it has learned.
  if (!keeps && (member == members_.end() || !member->second.here))
    return refuse(ErrorCode::not_found, node_text(wanted.node) + " is not here");
  if (member != members_.end() && member->second.gateway)
    return refuse(ErrorCode::invalid_argument, node_text(wanted.node) + " is a gateway: it keeps no shards");
  if (member != members_.end() && member->second.leaves && wanted.sets == Sets::move)
    return refuse(ErrorCode::invalid_argument,
                  node_text(wanted.node) + " is to keep nothing any more: add it again first");
  for (const ShardId shard : wanted.shards) {
    if (shard.value >= made_.shards.size())
      return refuse(ErrorCode::not_found, "there is no " + shard_text(shard) + " in a cluster of " +
                                              std::to_string(made_.shards.size()) + " shards");
    const auto& set = made_.shards[shard.value].replicas;
    if (wanted.from != 0 && !set.has(wanted.from) && !set.has(wanted.node))
      return refuse(ErrorCode::invalid_argument, node_text(wanted.from) + " keeps no replica of " + shard_text(shard));
  }
  return {};
}

Result<AssignOutcome> Coordinator::place(const ShardAssignment& wanted) {
  using Sets = ShardAssignment::Sets;
  EVERSHARD_TRY(may_place(wanted));
  if (const auto member = members_.find(wanted.node); wanted.sets == Sets::add && member != members_.end())
    member->second.leaves = false;
  if (wanted.sets == Sets::remove) {
    Member& member = members_[wanted.node];
    member.process.node = wanted.node;
    member.leaves = member.drained = true;
    std::erase_if(moves_, [&](const ReplicaMove& move) { return move.to == wanted.node; });
  }
  if (wanted.sets == Sets::add || wanted.sets == Sets::rebalance) even_ = true;
  for (const ShardId shard : wanted.shards) {
    const ReplicaMove move{shard, wanted.from, wanted.node};
    const auto& set = made_.shards[shard.value].replicas;
    const bool done = set.has(move.to) && !set.has(move.from);
    std::erase_if(moves_, [&](const auto& earlier) { return earlier.shard == shard; });
    if (!done) moves_.push_back(move);
  }
  AssignOutcome outcome;
  outcome.actions = tend_sets();
  outcome.answer.done = true;
  outcome.answer.left = placement().to_do();
  // What is not stored is not counted as done: a coordinator after this one would not know of it.
  const auto same = [](const auto& a, const auto& b) { return a.replicas == b.replicas; };
  if (!std::ranges::equal(made_.shards, stored_.shards, same)) outcome.stands_with = made_.last_cut;
  return outcome;
}

}  // namespace evershard::cluster
