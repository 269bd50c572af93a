// The simulation's faults, and the rest behind them.

#include <algorithm>
#include <array>
#include <numeric>

#include "tests/simulation/parts.hpp"

namespace evershard::simulation {

void Simulation::fault() {
  if (resting_) return;
  static constexpr std::array<Network::Microseconds, 4> periods{Network::second / 2, Network::second / 6,
                                                                Network::second / 5, Network::second / 4};
  // crash, start, coordinators, cut off, session, copy, break, operator, log
  static constexpr std::array<std::array<std::uint64_t, 9>, 4> weights{{{2, 4, 2, 1, 1, 1, 1, 1, 2},
                                                                        {5, 12, 2, 1, 1, 0, 0, 1, 1},
                                                                        {2, 8, 1, 1, 1, 4, 3, 4, 0},
                                                                        {1, 6, 2, 6, 1, 0, 0, 6, 0}}};
  // Of the real writers' seeds every second four leave disks and owners alone: what only crashes bring about comes up
  // more often.
  static constexpr std::array<std::uint64_t, 9> weights_of_crashes{4, 10, 2, 3, 1, 0, 0, 0, 0};
  // What a process has done is not done again where an operator gave it up: with one, nothing is lost for good.
  const bool loses_nothing = options_.processes && !replicated();
  const auto& weight = loses_nothing || (options_.real_writers && options_.seed / 4 % 2 == 0)
                           ? weights_of_crashes
                           : weights[static_cast<std::size_t>(profile())];
  // What follows from one another over several nodes comes about only where they are left alone for a while.
  const auto period = periods[static_cast<std::size_t>(profile())] * (options_.processes ? 4 : 1);
  network_.after(network_.pick(period), [this] { fault(); });
  for (auto echoes = network_.pick(12); echoes != 0; --echoes) network_.echo();
  if (options_.processes && replicated() && network_.one_in(2)) move_process();
  if (options_.links && network_.one_in(4)) jump(*nodes_[network_.pick(nodes_.size())]);
  Node& node = *nodes_[network_.pick(nodes_.size())];
  std::size_t kind = 0;
  for (auto left = network_.pick(std::accumulate(weight.begin(), weight.end(), std::uint64_t{0})); left >= weight[kind];
       ++kind)
    left -= weight[kind];
  switch (kind) {
    case 0:
      crash(node);
      if (options_.processes)  // else little follows from anything
        network_.after(network_.pick(Network::second), [this, &node] {
          if (!resting_) start(node);
        });
      break;
    case 1:
      for (auto& any : nodes_) {
        if (!network_.one_in(3)) start(*any);
      }
      break;
    case 2:
      crash_or_elect();
      break;
    case 3:
      cut_off(node);
      break;
    case 4:
      if (!node.process) break;
      if (!options_.links)
        disconnect(*node.process);
      else
        node.process->link->cut(cluster::NodeNumber{static_cast<std::uint32_t>(network_.pick(node.number))});
      break;
    case 5:
      if (network_.one_in(3)) node.copy = node.disk;
      break;
    case 6:
      if (replicated())
        replace_disk(node);
      else if (network_.one_in(3))
        break_disk(node);
      break;
    case 7:
      if (options_.changing_sets && network_.one_in(2))
        change_sets();
      else
        replicated() ? hand_over_something() : assign_something(false);
      break;
    default:
      lose_end_of_log();
      break;
  }
}

void Simulation::crash_or_elect() {
  const bool led = !leaders_.empty() && leaders_.back()->alive;
  if (!led || network_.one_in(4)) {
    elect();  // whoever led before goes on
  } else if (network_.one_in(2)) {
    tell("coordinator", leaders_.back()->number, "dies");
    stop(*leaders_.back());
    if (options_.off == Off::log_sync) log_.crash();
  }
}

void Simulation::cut_off(Node& node) {
  const auto who = network_.one_in(4) ? leaders_.back()->endpoint() : node.number;
  tell("endpoint", who, "is cut off");
  network_.cut_off(who);
  network_.after(network_.pick(2 * Network::second), [this, who] { network_.join(who); });
}

void Simulation::break_disk(Node& node) {
  if (right_log_) return;  // both at once, and nobody is left who knows
  crash(node);
  if (node.copy && !network_.one_in(3)) {
    tell("node", node.number, "gets an old copy of its disk, at cut", node.copy->state().cut);
    node.disk = *node.copy;
    node.disk.crash(node.disk.writes());
  } else {
    tell("node", node.number, "loses its disk");
    node.disk = {};
  }
  node.verified.clear();
  node.broken_at = network_.now();
  ++outcome_.disk_faults;
}

// An old copy of the cut log in the place of the right one, which every node knows more than: until somebody notices.
void Simulation::lose_end_of_log() {
  if (right_log_) return;
  if (!log_copy_ || network_.one_in(8)) {
    log_copy_ = log_.disk();
    return;
  }
  const auto end = log_copy_->rules.state().last_cut;
  for (const auto& node : nodes_) {
    if (!node->process || node->process->order.cut() <= end || node->disk.synced_cut() <= end) return;
  }
  tell("the cut log is an old copy, up to cut", end);
  for (auto& leader : leaders_) stop(*leader);
  right_log_ = log_.disk();
  log_.restore(*log_copy_);
  elect();
  network_.after(Network::second, [this] {
    for (auto& leader : leaders_) stop(*leader);
    tell("the right cut log is back");
    log_.restore(*std::exchange(right_log_, std::nullopt));
    elect();
  });
}

void Simulation::come_to_rest() {
  tell("no more faults");
  resting_ = true;
  network_.heal();
  ghosts_.clear();
  for (auto& node : nodes_) node->copy.reset();
  while (right_log_) network_.step();
  // With replicas mostly a coordinator that has heard the nodes long ago.
  const bool goes_on = replicated() && leaders_.back()->alive && !network_.one_in(3);
  for (auto& leader : leaders_)
    if (!goes_on || leader != leaders_.back()) stop(*leader);
  if (replicated()) come_to_rest_replicated();
  if (options_.processes) set_walls_to_rest();
  if (!goes_on) elect();
  for (auto& node : nodes_)
    if (!node->away) start(*node);
  const auto until =
      network_.now() + (options_.real_writers ? 200 : 40) * Network::second;  // refused ones are tried again
  auto operated = network_.now() + 5 * Network::second;
  while (network_.now() < until) {
    if (!leaders_.back()->alive) elect();
    if (network_.now() > operated && !replicated()) {
      assign_something(true);
      operated += Network::second;
    }
    network_.step();
  }
  replicated() ? check_rest_replicated() : check_rest();
  if (options_.processes) check_played();
}

void Simulation::check_rest() {
  const auto stuck = [](const std::string& what) { throw Broken("I-Live", what); };
  const auto& log = log_.state();
  for (std::uint16_t s = 0; s != options_.shards; ++s) {
    const auto owner = log.shards[s].node;
    if (owner == 0) {
      stuck("shard " + std::to_string(s) + " has no owner at rest");
      continue;
    }
    const Node& node = *nodes_[owner - 1];
    if (!node.process->order.writes(ShardId{s}) ||
        (node.process->real && !node.process->real->writers.is_open(ShardId{s})))
      stuck("shard " + std::to_string(s) + " is not open at rest");
    const DiskShard& disk = node.disk.state().shards.at(ShardId{s});
    if (disk.covered != disk.tail) stuck("shard " + std::to_string(s) + " has unordered events at rest");
  }
  for (const auto& node : nodes_) {
    if (node->process->order.cut() != log.last_cut)
      stuck("node " + std::to_string(node->number) + " does not know the last cut at rest");
    for (const auto& [append, at] : node->durable) {
      const ShardId shard = history_.request(append).events.front().shard;
      if (history_.placed(append) || at < node->broken_at || moved_.contains(shard) || history_.any_lost(shard))
        continue;
      throw Broken("I-Durable", "append " + std::to_string(append) + " was acknowledged by node " +
                                    std::to_string(node->number) + " and has no place at rest");
    }
  }
  for (const auto& node : nodes_) {
    if (node->process->real && !node->process->real->clients.empty())
      stuck("append " + std::to_string(node->process->real->clients.begin()->second) + " at node " +
            std::to_string(node->number) + " has no answer at rest");
  }
  // Whoever reads now reads everything.
  for (std::uint16_t s = 0; s != options_.shards; ++s) {
    const auto owner = log.shards[s].node;
    history_.page(ShardId{s}, history_.watermark(), nodes_[owner - 1]->disk.state().shards.at(ShardId{s}).placed,
                  "node " + std::to_string(owner) + ", at rest");
  }
}

}  // namespace evershard::simulation
