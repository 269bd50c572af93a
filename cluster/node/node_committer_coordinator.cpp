// What the coordinator says, and what the node knows of the cluster by it.

#include "evershard/cluster/node/node_committer.hpp"

#include <utility>

#include "evershard/cluster/node/node_refusals.hpp"

namespace evershard::cluster {
namespace {

using actors::WriterActions;

}  // namespace

void NodeCommitter::connected() {
  post([this] {
    if (!dead_) carry_out(order_.connected());
  });
}

void NodeCommitter::disconnected() {
  post([this] {
    if (dead_) return;
    writers_->session_lost();
    carry_out(order_.disconnected());
  });
}

void NodeCommitter::receive(ToNode message) {
  post([this, message = std::move(message)] {
    if (dead_) return;
    const bool before = order_.welcomed();
    NodeActions actions = std::visit(
        [&](const auto& said) -> NodeActions {
          using Said = std::decay_t<decltype(said)>;
          if constexpr (std::is_same_v<Said, Welcome>) {
            auto taken = order_.welcome(said);
            if (taken.coordinator_refused) return taken;
            network_.led_by(order_.leaderships());
            for (const auto& refused : order_.refused()) {
              // Once, however often it says hello.
              if (std::exchange(refused_said_[refused.shard], refused.error.what) != refused.error.what)
                taken.warnings.push_back(refused.error);
            }
            std::map<ShardId, Error> closed;
            for (const auto& refused : order_.refused()) closed.emplace(refused.shard, refused_shard(refused));
            reader_.closes(std::move(closed));
            for (std::uint32_t s = 0; s != said.map.shard_count(); ++s) {
              const ShardId shard{static_cast<std::uint16_t>(s)};
              learn_owner(shard, said.map.owner(shard).node, said.map.owner(shard).epoch);
            }
            publish_owners();
            note_replicas();
            return taken;
          } else if constexpr (std::is_same_v<Said, HelloRefused>) {
            return order_.hello_refused(said);
          } else if constexpr (std::is_same_v<Said, Opens>) {
            return order_.opens(said);
          } else if constexpr (std::is_same_v<Said, Announce>) {
            return order_.announce(said);
          } else if constexpr (std::is_same_v<Said, Cuts>) {
            if (said.found.folded) {  // with openings that are not among the cuts
              const auto& shards = said.found.folded->shards;
              for (std::size_t s = 0; s != shards.size(); ++s)
                learn_owner(ShardId{static_cast<std::uint16_t>(s)}, shards[s].node, shards[s].epoch);
              publish_owners();
            }
            return order_.cuts(said);
          } else if constexpr (std::is_same_v<Said, Narrow>) {
            take(said);
            return {};
          } else if constexpr (std::is_same_v<Said, TellAgain>) {
            return order_.tell_again(said);
          } else {
            return order_.report_from(said);
          }
        },
        message);
    carry_out(std::move(actions));
    if (!before && order_.welcomed()) {
      WriterActions begun;
      writers_->announce(order_.window_from(), order_.digests_wanted(), order_.builds());
      writers_->session_begun(begun);
      carry_out(std::move(begun));
      say_followed(std::nullopt, std::nullopt, true);
    }
  });
}

void NodeCommitter::cut_promised(ShardId shard, Epoch epoch, std::uint64_t ask, CutNumber cut,
                                 const sharding::Leadership& coordinator) {
  post([=, this] {
    if (dead_ || !order_.is_of_leader(coordinator.identity)) return;
    WriterActions actions;
    writers_->cut_promised(shard, epoch, ask, cut, coordinator.epoch, actions);
    carry_out(std::move(actions));
  });
}

void NodeCommitter::say_hello() {
  std::map<ShardId, ShardOffset> tails;
  for (std::size_t s = 0; s != owner_of_.size(); ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    if (const auto end = tail(shard)) tails[shard] = *end;
  }
  auto hello = order_.hello(tails);
  hello.clock = Timestamp::now();
  network_.to_coordinator(std::move(hello));
}

/// Whoever has it under the newest epoch: what is said late changes nothing.
void NodeCommitter::learn_owner(ShardId shard, std::uint32_t node, Epoch epoch) {
  if (shard.value < owner_of_.size() && epoch >= owner_of_[shard.value].epoch) owner_of_[shard.value] = {node, epoch};
}

void NodeCommitter::publish_owners() {
  std::vector<ShardId> changed;
  {
    const std::lock_guard lock(mutex_);
    for (std::size_t s = 0; s != owner_of_.size(); ++s)
      if (view_.shards[s].node != owner_of_[s].node) changed.push_back(ShardId{static_cast<std::uint16_t>(s)});
    view_.shards = owner_of_;
  }
  if (!changed.empty() && owners_watch_) owners_watch_(changed);
}

bool NodeCommitter::later(std::chrono::steady_clock::duration time, std::function<void()> call) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return false;
  inbox_.push_back(
      [this, due = Clock::now() + time, call = std::move(call)]() mutable { later_.emplace(due, std::move(call)); });
  more_.notify_one();
  return true;
}

bool NodeCommitter::has_replicas(ShardId shard) const {
  const std::lock_guard lock(mutex_);
  return shard.value < replica_sets_.size() && replica_sets_[shard.value].nodes.size() > 1;
}

std::vector<sharding::ReplicaSet> NodeCommitter::replica_sets() const {
  const std::lock_guard lock(mutex_);
  return replica_sets_;
}

void NodeCommitter::members(Members members) {
  post([this, named = Members{members.coordinator, {}, members.processes, members.naming}] {
    if (dead_) return;
    const auto changes = named_.take(named);
    for (const auto node : changes.lost) forget_follower(node);
    for (const auto node : changes.named)
      if (const auto told = named_.heard(node)) count(node, *told);
  });
  const std::lock_guard lock(mutex_);
  if (members.coordinator < view_.coordinator) return;
  view_.coordinator = members.coordinator;
  view_.nodes = std::move(members.nodes);
}

ClusterView NodeCommitter::view() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

void NodeCommitter::serves_at(std::string door) {
  post([this, door = std::move(door)]() mutable {
    if (!dead_) carry_out(order_.serves_at(std::move(door)));
  });
}

void NodeCommitter::serves_kurrent_at(std::string door) {
  post([this, door = std::move(door)]() mutable {
    if (!dead_) carry_out(order_.serves_kurrent_at(std::move(door)));
  });
}

std::vector<std::uint32_t> NodeCommitter::owners() const {
  std::vector<std::uint32_t> owners;
  const std::lock_guard lock(mutex_);
  for (const auto& shard : view_.shards) owners.push_back(shard.node);
  return owners;
}

std::uint32_t NodeCommitter::owner(ShardId shard) const {
  const std::lock_guard lock(mutex_);
  return view_.shards[shard.value].node;
}

NodeCommitter::OpenShards NodeCommitter::open_shards() const {
  OpenShards open;
  for (std::size_t s = 0; s != owner_of_.size() && !dead_; ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    if (writers_->is_open(shard) && (!has_followers(shard) || row_logs_.ready(shard)))
      open.emplace(shard, writers_->epoch(shard));
  }
  return open;
}

void NodeCommitter::watch_shards(const void* who, std::function<void(const OpenShards&)> watch) {
  post([this, who, watch = std::move(watch)]() mutable {
    shards_watches_.erase(who);
    if (!watch) return;
    shards_changed_ = true;
    tell_shards();
    watch(shards_told_);
    shards_watches_.emplace(who, std::move(watch));
  });
}

void NodeCommitter::tell_shards() {
  if (!std::exchange(shards_changed_, false)) return;
  auto open = open_shards();
  if (open == shards_told_) return;
  shards_told_ = std::move(open);
  for (const auto& [who, watch] : shards_watches_) watch(shards_told_);
}

}  // namespace evershard::cluster
