// Sets that change in the simulation: an operator, nodes that learn and are started again with what they learned.

#include <algorithm>

#include "evershard/sharding/node_cut.hpp"
#include "tests/simulation/parts.hpp"

namespace evershard::simulation {

using cluster::NodeStep;

// Who keeps what is changed at random: that it comes to an end is not asked for before the rest.
void Simulation::change_sets() {
  if (leaders_.empty() || !leaders_.back()->alive) return;
  Leader& leader = *leaders_.back();
  using Sets = ShardAssignment::Sets;
  ShardAssignment wanted;
  wanted.node = 1 + static_cast<std::uint32_t>(network_.pick(nodes_.size()));
  wanted.sets = std::array{Sets::add, Sets::remove, Sets::move, Sets::rebalance}[network_.pick(4)];
  if (wanted.sets == Sets::move)
    for (std::uint16_t s = 0; s != options_.shards; ++s)
      if (network_.one_in(2)) wanted.shards.push_back(ShardId{s});
  if (wanted.sets == Sets::move && network_.one_in(2))
    wanted.from = 1 + static_cast<std::uint32_t>(network_.pick(nodes_.size()));
  if (auto outcome = leader.coordinator.assign(wanted)) {
    tell("the operator changes who keeps what: node", wanted.node, "what", static_cast<int>(wanted.sets), "left",
         outcome->answer.left);
    perform(leader, std::move(outcome->actions));
  }
}

void Simulation::tend_sets(std::size_t number) {
  Leader& leader = *leaders_[number];
  if (!leader.alive) return;
  for (const auto& node : nodes_)
    if (!node->process && (node->away || network_.one_in(20))) leader.coordinator.gone(node->number, true);
  if (network_.one_in(10)) perform(leader, leader.coordinator.hand_overs_took_too_long());  // those of earlier times
  perform(leader, leader.coordinator.tend_sets());
  network_.after(network_.pick(Network::second), [this, number] { tend_sets(number); });
}

void Simulation::look_at_narrowed(Process& process) {
  RealWriters& real = *process.real;
  for (auto& [shard, asked] : real.narrowed.asked()) {
    const auto rest = real.narrowed.counted(shard, process.order.replicas(shard));
    if (asked.said || real.gate.quorum_has(shard, rest) < asked.tail) continue;
    if (options_.row_logs && !real.rows.quorum_has_all(shard, rest)) continue;
    asked.said = true;
    const auto& by = asked.by;
    const cluster::Narrowed said{process.self, by.coordinator, shard, by.epoch, by.without, by.number};
    to_leader(process, [this, said](Leader& leader) { perform(leader, leader.coordinator.narrowed(said)); });
  }
}

void Simulation::receive(Process& process, const cluster::Narrow& narrow) {
  RealWriters& real = *process.real;
  if (narrow.to != process.self || narrow.coordinator != process.order.coordinator() ||
      !real.writers.is_open(narrow.shard) || real.writers.epoch(narrow.shard) != narrow.epoch)
    return;
  real.narrowed.take(narrow, options_.off == Off::narrowed ? ShardOffset{1} : real.writers.tail(narrow.shard));
  if (options_.off == Off::narrowed) {
    const cluster::Narrowed said{process.self, narrow.coordinator, narrow.shard,
                                 narrow.epoch, narrow.without,     narrow.number};
    to_leader(process, [this, said](Leader& leader) { perform(leader, leader.coordinator.narrowed(said)); });
    real.narrowed.forget(narrow.shard);
    return;
  }
  look_at_narrowed(process);
}

// Of processes that the coordinator has taken a hello of: what an earlier one had may have gone with its disk since.
void Simulation::who_counts_has_it(const Leader& leader, ShardId shard, const sharding::ReplicaSet& set) {
  const auto& before = leader.coordinator.stored().shards[shard.value].replicas;
  for (const auto node : set.nodes) {
    const auto& process = nodes_[node - 1]->process;
    const auto member = leader.coordinator.members().find(node);
    if (!set.had_to_learn(node) || before.has(node) || !process || member == leader.coordinator.members().end() ||
        member->second.process != process->self)
      continue;
    const auto& disk = nodes_[node - 1]->disk.state().shards;
    const auto kept = disk.find(shard);
    if (kept == disk.end() || kept->second.damaged)
      throw Broken("I-Quorum", "node " + std::to_string(node) + " counts for shard " + std::to_string(shard.value) +
                                   ", and has not learned it");
  }
}

// What ShardLearner does in its time, at once: then the process ends, and another one begins with it.
void Simulation::learn(Process& process) {
  const auto missing = process.order.to_learn();
  if (missing.empty() || process.learning) return;
  process.learning = true;
  network_.after(network_.pick(2 * Network::second),
                 [this, &node = process.node, self = process.self, as_of = process.order.cut()] {
                   if (!node.process || node.process->self != self) return;
                   node.process->learning = false;
                   if (network_.one_in(4)) {  // what it learned so far counts for nothing
                     crash(node);
                     start(node);
                   } else if (!node.process->failed) {
                     take_learned(*node.process, as_of);
                   }
                 });
}

void Simulation::take_learned(Process& process, CutNumber as_of) {
  Node& node = process.node;
  std::map<ShardId, Node*> sources;
  auto until = process.order.cut();
  for (const ShardId shard : process.order.to_learn()) {
    std::vector<Node*> from;
    for (const auto number : process.order.replicas(shard).nodes) {
      Node& other = *nodes_[number - 1];
      if (number == node.number || !other.process || other.process->failed || !other.process->order.has_whole(shard) ||
          !network_.reaches(node.number, number))
        continue;
      from.push_back(&other);
    }
    if (from.empty()) return;
    sources[shard] = from[network_.pick(from.size())];
    until = std::min(until, sources[shard]->process->order.cut());
  }
  if (sources.empty() || until < as_of) return;
  const auto& before = node.disk.state();
  SimulatedDisk disk;
  auto rows = node.rows;
  std::map<ShardId, Epoch> follows;
  for (std::uint16_t s = 0; s != options_.shards; ++s) {
    const ShardId shard{s};
    const auto source = sources.find(shard);
    if (source != sources.end() || !process.order.has_whole(shard)) rows.shards.erase(shard);
    if (source == sources.end() && !process.order.has_whole(shard)) continue;
    follows[shard] = Epoch{1};
    const auto& from = source == sources.end() ? node.disk : source->second->disk;
    const auto kept = from.state().shards.find(shard);
    if (kept == from.state().shards.end()) continue;
    for (const auto& [first, record] : kept->second.records) {
      const bool decided = first + record.events.size() <= kept->second.covered;
      if (source != sources.end() && !decided) break;
      auto copy = record;
      copy.shipped = true;
      disk.write(copy);
    }
    if (source == sources.end())
      follows[shard] = std::max({before.shards.at(shard).followed, before.shards.at(shard).epoch, Epoch{1}});
  }
  std::map<ShardId, Epoch> written;
  GlobalPosition watermark;
  for (const auto& [number, cut] : stored_cuts_) {
    if (number > until) break;
    NodeStep::Apply apply{number, cut.last_position(), {}, {}, {}, {}};
    auto position = cut.first_position;
    for (const auto& segment : cut.segments) {
      const auto first = position;
      position = position + segment.events();
      if (!follows.contains(segment.shard)) continue;
      apply.own.push_back({segment, first});
      auto& epoch = written[segment.shard];
      if (segment.epoch > epoch) apply.followed.push_back({segment.shard, segment.epoch, 0, segment.first});
      epoch = std::max(epoch, segment.epoch);
    }
    disk.write(std::move(apply));
    watermark = cut.last_position();
  }
  for (const auto& [shard, epoch] : follows) {
    const bool is_new = sources.contains(shard);
    const auto at = disk.state().shards.find(shard);
    const auto tail = at == disk.state().shards.end() ? ShardOffset{1} : at->second.tail;
    disk.write(TakeOff{shard, tail, is_new ? std::max(epoch, written[shard]) : epoch});
    if (!is_new) continue;
    node.took_off.erase(shard);
    node.taken.erase(shard);
  }
  disk.sync(disk.writes());
  tell("node", node.number, "takes in", sources.size(), "shards that it learned, up to cut", until);
  ++outcome_.learned;
  crash(node);
  node.disk = std::move(disk);
  node.rows = std::move(rows);
  std::erase_if(node.verified, [&](const auto& of) { return sources.contains(of.first); });
  start(node);
}

}  // namespace evershard::simulation
