// The simulation's nodes: a disk, a process with the real NodeOrder, a writer.

#include <algorithm>

#include "tests/simulation/parts.hpp"

namespace evershard::simulation {

using cluster::NodeOrder;
using cluster::NodeStart;
using cluster::NodeStep;

void Simulation::start(Node& node) {
  if (node.process) return;
  const DiskState& disk = node.disk.state();
  const cluster::NodeProcess self{node.number, ++incarnations_};
  NodeStart start{self, "node-" + std::to_string(node.number), disk.cut, disk.watermark, {}};
  start.led = disk.led;
  for (const auto& [id, shard] : disk.shards)
    start.shards[id] = {shard.epoch, shard.covered, shard.tail, shard.damaged, shard.followed};
  tell("node", node.number, "starts as process", self.incarnation, "at cut", disk.cut);
  node.process = std::make_unique<Process>(Process{node,
                                                   self,
                                                   NodeOrder(start),
                                                   std::make_unique<ModelWriter>(history_, options_.off),
                                                   real_writers(node),
                                                   {},
                                                   false,
                                                   false,
                                                   options_.aggregates && network_.one_in(3),
                                                   {}});
  if (options_.links) link(*node.process);
  if (options_.processes) begin_hosts(*node.process);
  tick(node, self.incarnation);
}

void Simulation::crash(Node& node) {
  if (!node.process) return;
  const auto synced = node.disk.synced();
  const auto kept = synced + network_.pick(node.disk.writes() - synced + 1);
  tell("node", node.number, "crashes, of", node.disk.writes() - synced, "unsynced writes it keeps", kept - synced);
  if (node.process->link)
    node.process->link->end(network_.one_in(3));
  else
    disconnect(*node.process);
  node.process.reset();
  node.disk.crash(kept);
  if (options_.off == Off::snapshot_recovered) node.disk.forget_waiting();
  ++outcome_.crashes;
}

// Its clock goes as it likes: nothing but liveness may depend on it.
void Simulation::tick(Node& node, std::uint64_t incarnation) {
  if (!node.process || node.process->self.incarnation != incarnation) return;
  Process& process = *node.process;
  if (!options_.links) {
    if (process.leader &&
        (!leaders_[*process.leader]->alive || !network_.reaches(node.number, leaders_[*process.leader]->endpoint())))
      disconnect(process);
    if (!process.leader)
      connect(process);
    else
      perform(process, process.order.again());
  } else if (!process.failed) {
    perform(process, process.order.again());
  }
  if (replicated() && !process.failed) {
    process.real->asked_again.clear();
    process.real->narrowed.again();
    if (process.order.reports()) process.real->narrowed.led_by(process.order.coordinator());
    if (options_.changing_sets) learn(process);
    if (process.leader && leaders_[*process.leader]->alive) tell_members(*leaders_[*process.leader], node.number);
    if (!options_.links) look_at_sessions(process);
    say_followed(process, std::nullopt, std::nullopt, false);
    if (options_.row_logs) tick_row_logs(process);
    turn_soon(process);
  }
  if (network_.one_in(3)) sync(process);
  const auto period = resting_ || !network_.one_in(10) ? Network::second / 4 : network_.pick(3 * Network::second);
  network_.after(period + network_.pick(Network::second / 4), [this, &node, incarnation] { tick(node, incarnation); });
}

void Simulation::connect(Process& process) {
  std::vector<std::size_t> alive;
  for (const auto& leader : leaders_) {
    if (leader->alive && network_.reaches(process.self.node, leader->endpoint())) alive.push_back(leader->number);
  }
  if (alive.empty() || !network_.reaches(process.self.node, process.self.node)) return;
  process.leader = network_.one_in(4) ? alive[network_.pick(alive.size())] : alive.back();
  perform(process, process.order.connected());
}

void Simulation::disconnect(Process& process) {
  if (!process.leader) return;
  const auto leader = *std::exchange(process.leader, std::nullopt);
  if (process.real) process.real->writers.session_lost();
  perform(process, process.order.disconnected());
  network_.after(network_.pick(Network::second / 10), [this, leader, self = process.self] {
    // Another session of this process may have begun with the same coordinator.
    const auto& here = nodes_[self.node - 1]->process;
    if (here && here->self == self && here->leader == leader) return;
    if (leaders_[leader]->alive) perform(*leaders_[leader], leaders_[leader]->coordinator.lost(self));
  });
}

void Simulation::say_hello(Process& process) {
  std::map<ShardId, ShardOffset> tails;
  for (const auto& [id, shard] : process.node.disk.state().shards) {
    const auto* real = process.real.get();
    tails[id] = real && real->followed.holds(id)  ? real->followed.tail(id)
                : real && real->writers.holds(id) ? real->writers.tail(id)
                                                  : shard.tail;
  }
  auto message = process.order.hello(tails);
  to_leader(process, [this, message](Leader& leader) { hello(leader, message); });
}

void Simulation::perform(Process& process, cluster::NodeActions actions) {
  for (const Error& warning : actions.warnings) tell("node", process.self.node, "warns:", warning.what);
  // The product's thread is in its write, or not: what comes meanwhile waits. So does what an earlier step let go on.
  const auto waits = [](const NodeStep& step) {
    const auto* apply = std::get_if<NodeStep::Apply>(&step.what);
    return apply != nullptr ? !apply->openings.empty() || !apply->damaged.empty()
                            : std::holds_alternative<NodeStep::Fence>(step.what) ||
                                  std::holds_alternative<NodeStep::Follow>(step.what);
  };
  for (const auto& step : actions.steps) {
    if (process.failed) return;
    if (replicated() && waits(step)) finish_sync(process);
    carry_out(process, step);
  }
  if (replicated()) turn_soon(process);
  if (process.failed) return;
  if (actions.say_hello && (process.leader || options_.links)) say_hello(process);
  for (const auto& message : actions.send) {
    if (const auto* asked = std::get_if<cluster::CutsAfter>(&message)) {
      if (options_.off == Off::missing_cuts) continue;
      to_leader(process,
                [this, asked = *asked](Leader& leader) { perform(leader, leader.coordinator.cuts_after(asked)); });
    } else {
      to_leader(process, [this, held = std::get<cluster::Held>(message)](Leader& leader) {
        perform(leader, leader.coordinator.held(held));
      });
    }
  }
  if (actions.history && replicated()) ask_history(process, *actions.history);
  if (actions.coordinator_refused) {
    tell("node", process.self.node, "refuses its coordinator:", actions.coordinator_refused->what);
    ++outcome_.coordinators_refused;
    if (!options_.links) disconnect(process);
  }
}

void Simulation::carry_out(Process& process, const NodeStep& step) {
  SimulatedDisk& disk = process.node.disk;
  if (const auto* apply = std::get_if<NodeStep::Apply>(&step.what)) {
    tell("node", process.self.node, "applies cut", apply->number, "up to position", apply->watermark);
    outcome_.jumps += apply->number != disk.state().cut + 1;
    if (process.real) {
      apply_real(process, *apply);
      if (network_.one_in(4)) sync(process);
      return;
    }
    if (options_.off == Off::one_write) {
      auto numbers = *apply;
      numbers.own.clear();
      disk.write(numbers);
    }
    disk.write(*apply);
    perform(process, process.order.applied(apply->number));
    if (options_.off == Off::held_sync) say_held(process, apply->number);
    perform(process, process.writer->applied(*apply));
    if (network_.one_in(4)) sync(process);
  } else if (const auto* fenced = std::get_if<NodeStep::Fence>(&step.what)) {
    tell("node", process.self.node, "stops writing shard", fenced->shard, "because of epoch", fenced->epoch);
    ++outcome_.fences;
    process.real ? fence_real(process, fenced->shard) : perform(process, process.writer->fenced(fenced->shard));
  } else if (const auto* followed = std::get_if<NodeStep::Follow>(&step.what)) {
    follow(process, *followed);
  } else if (const auto* ships = std::get_if<NodeStep::Ships>(&step.what)) {
    if (options_.off != Off::ships_at_once) begin_shipping(process, ships->shard, ships->epoch);
  } else if (std::holds_alternative<NodeStep::Sync>(step.what)) {
    sync(process);
  } else if (const auto* opened = std::get_if<NodeStep::Opened>(&step.what)) {
    open(process, opened->opening);
  } else {
    const auto& again = std::get<NodeStep::ReportAgain>(step.what);
    process.real
        ? writers_step(process, [&](auto& writers, auto& next) { writers.report_from(again.shard, again.first, next); })
        : perform(process, process.writer->report_again(again.shard, again.epoch, again.first));
  }
}

// A rule that is off.
void Simulation::say_held(Process& process, CutNumber cut) {
  if (!process.order.welcomed()) return;
  to_leader(process, [this, held = cluster::Held{process.self, cut, cut}](Leader& leader) {
    perform(leader, leader.coordinator.held(held));
  });
}

void Simulation::open(Process& process, const sharding::Opening& opening) {
  tell("node", process.self.node, "opens shard", opening.shard, "under epoch", opening.epoch);
  const DiskShard& disk = process.node.disk.state().shards.at(opening.shard);
  if (replicated()) check_opened(process, opening.shard, opening.epoch);
  if (options_.off == Off::ships_at_once) begin_shipping(process, opening.shard, opening.epoch);
  process.node.verified[opening.shard] = opening.epoch;
  if (!process.real) recovered(process, opening);
  process.real ? writers_step(process,
                              [&](auto& writers, auto& next) {
                                writers.join_versions(opening.shard, [&](const storage::EncodedAggregate& aggregate) {
                                  const auto [shard, number] = numbers_of(aggregate.id);
                                  return history_.version(shard, number, writers.watermark());
                                });
                                writers.open(opening.shard, opening.epoch, next);
                              })
               : perform(process, process.writer->opened(opening, disk));
}

// What the disk has behind the cuts is the new writer's.
void Simulation::recovered(Process& process, const sharding::Opening& opening) {
  const DiskShard& disk = process.node.disk.state().shards.at(opening.shard);
  for (const auto& [first, record] : disk.records) {
    for (std::uint32_t i = 0; i != record.events.size(); ++i) {
      const auto offset = first + i;
      if (offset < disk.covered) continue;
      history_.written(opening.shard, opening.epoch, offset, {record.append, record.events[i]});
      history_.synced(opening.shard, opening.epoch, offset);
    }
  }
}

void Simulation::perform(Process& process, Writer::Actions actions) {
  for (const JournalRecord& record : actions.write) {
    tell("node", process.self.node, "writes append", record.append, "to shard", record.shard, "at offset",
         record.first);
    process.node.disk.write(record);
    for (std::uint32_t i = 0; i != record.events.size(); ++i)
      history_.written(record.shard, record.epoch, record.first + i, {record.append, record.events[i]});
  }
  if (!actions.write.empty()) sync(process);
  for (auto& made : actions.reports) {
    if (!process.order.reports() || made.appends.empty()) continue;
    tell("node", process.self.node, "reports", made.appends.size(), "appends of shard", made.shard, "from offset",
         made.first);
    to_leader(process, [this, from = process.self, made](Leader& leader) { report(leader, from, made); });
  }
  for (const auto& given : actions.answers) answer(process, given);
}

void Simulation::sync(Process& process) {
  if (std::exchange(process.syncing, true)) return;
  network_.after(Network::millisecond / 2 + network_.pick(4 * Network::millisecond),
                 [this, &node = process.node, self = process.self] {
                   if (!node.process || node.process->self != self) return;
                   const auto writes = node.disk.writes();
                   const DiskState then = node.disk.state();
                   network_.after(network_.pick(3 * Network::millisecond),
                                  [this, &node, self, writes, cut = then.cut, shards = then.shards] {
                                    if (!node.process || node.process->self != self) return;
                                    Process& here = *node.process;
                                    here.syncing = false;
                                    node.disk.sync(writes);
                                    for (const auto& [id, shard] : shards) {
                                      for (const auto& [first, record] : shard.records) {
                                        if (record.shipped) continue;
                                        for (std::size_t i = 0; i != record.events.size(); ++i)
                                          history_.synced(id, record.epoch, first + i);
                                      }
                                    }
                                    perform(here, here.order.synced(cut));
                                    if (here.real)
                                      synced_real(here, writes);
                                    else
                                      for (const auto& [id, shard] : shards)
                                        perform(here, here.writer->synced(id, shard.tail));
                                    if (node.disk.synced() < node.disk.writes()) sync(here);
                                  });
                 });
}

void Simulation::receive(Process& process, const cluster::ToNode& message, std::size_t from) {
  NodeOrder& order = process.order;
  const bool before = order.welcomed();
  if (const auto* welcome = std::get_if<cluster::Welcome>(&message)) {
    auto said = *welcome;
    if (options_.off == Off::log_end && said.last_cut <= order.cut()) {
      said.last_cut = order.cut();
      said.watermark = order.watermark();
    }
    if (options_.off == Off::fence) said.map = sharding::ShardMap(options_.shards);
    auto actions = order.welcome(said);
    if (process.real && !actions.coordinator_refused)
      for (std::uint32_t s = 0; s != said.map.shard_count(); ++s) {
        const ShardId shard{static_cast<std::uint16_t>(s)};
        learn_owner(process, shard, said.map.owner(shard).node, said.map.owner(shard).epoch);
      }
    perform(process, std::move(actions));
  } else if (const auto* refused = std::get_if<cluster::HelloRefused>(&message)) {
    if (process.leader == from) perform(process, order.hello_refused(*refused));
  } else if (const auto* opens = std::get_if<cluster::Opens>(&message)) {
    perform(process, order.opens(*opens));
  } else if (const auto* announced = std::get_if<cluster::Announce>(&message)) {
    receive(process, *announced);
  } else if (const auto* found = std::get_if<cluster::Cuts>(&message)) {
    receive(process, *found);
  } else if (const auto* narrow = std::get_if<cluster::Narrow>(&message)) {
    receive(process, *narrow);
  } else if (const auto* again = std::get_if<cluster::TellAgain>(&message)) {
    perform(process, order.tell_again(*again));
  } else {
    perform(process, order.report_from(std::get<cluster::ReportFrom>(message)));
  }
  if (process.real && !before && order.welcomed()) {
    session_begun(process);
    if (replicated()) say_followed(process, std::nullopt, std::nullopt, true);
  }
}

void Simulation::receive(Process& process, cluster::Announce announce) {
  announce.cut = unfenced(process, std::move(announce.cut));
  if (options_.off == Off::known_first && waits_for_shipped(process, announce.cut)) return;
  for (const auto& opening : announce.cut.openings) {
    if (options_.off == Off::own_promise && opening.node == process.self.node)
      perform(process, process.order.opens({process.self, announce.cut.coordinator, opening.shard, opening.epoch}));
  }
  if (options_.off == Off::cuts_in_order) {
    const auto after = process.order.cut();
    sharding::CutLogState pretended(options_.shards);
    pretended.last_cut = announce.cut.number - 1;
    pretended.watermark = announce.cut.first_position - 1;
    perform(
        process,
        process.order.cuts(
            {process.self, after, {{announce.cut}, pretended, false}, announce.window_from, announce.digests_wanted}));
  }
  perform(process, process.order.announce(announce));
}

void Simulation::receive(Process& process, cluster::Cuts cuts) {
  if (replicated())
    tell("node", process.self.node, "is given", cuts.found.cuts.size(), "cuts after", cuts.after, "from",
         cuts.found.cuts.empty() ? CutNumber{0} : cuts.found.cuts.front().number, "checkpoint",
         cuts.found.folded ? cuts.found.folded->last_cut : CutNumber{0});
  if (options_.off == Off::known_first) {
    const auto blocked =
        std::ranges::find_if(cuts.found.cuts, [&](const auto& cut) { return waits_for_shipped(process, cut); });
    if (blocked != cuts.found.cuts.end()) {
      cuts.found.cuts.erase(blocked, cuts.found.cuts.end());
      cuts.found.more = false;
      cuts.found.folded.reset();
    }
  }
  for (auto& cut : cuts.found.cuts) {
    cut = unfenced(process, std::move(cut));
    for (const auto& opening : cut.openings) {
      if (options_.off == Off::own_promise && opening.node == process.self.node)
        perform(process, process.order.opens({process.self, cut.coordinator, opening.shard, opening.epoch}));
    }
  }
  if (process.real && cuts.found.folded)
    for (std::size_t s = 0; s != cuts.found.folded->shards.size(); ++s)
      learn_owner(process, ShardId{static_cast<std::uint16_t>(s)}, cuts.found.folded->shards[s].node,
                  cuts.found.folded->shards[s].epoch);
  if (options_.off == Off::fence && cuts.found.folded) {
    for (auto& shard : cuts.found.folded->shards) shard.epoch = Epoch{0};
  }
  perform(process, process.order.cuts(cuts));
}

// With the fence off: whoever has a shard takes what is said of it for his own.
sharding::Cut Simulation::unfenced(const Process& process, sharding::Cut cut) const {
  if (options_.off != Off::fence) return cut;
  std::erase_if(cut.openings, [&](const auto& opening) { return opening.node != process.self.node; });
  for (auto& segment : cut.segments) {
    if (const auto own = process.order.writes(segment.shard)) segment.epoch = *own;
  }
  return cut;
}

}  // namespace evershard::simulation
