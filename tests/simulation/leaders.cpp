// The simulation's coordinators: the real Coordinator over one cut log, old ones beside the new.

#include <algorithm>

#include "tests/simulation/parts.hpp"

namespace evershard::simulation {

using cluster::Coordinator;
using cluster::CoordinatorOptions;

void Simulation::stop(Leader& leader) {
  leader.alive = false;
  if (leader.link) leader.link->end(network_.one_in(3));
}

void Simulation::elect() {
  const auto led = log_.lead();
  if (!led) return;
  CoordinatorOptions options;
  options.nodes_expected = options_.changing_sets ? options_.replicas : options_.nodes;
  options.replicas = options_.replicas;
  options.ordering = {.window_events_max = 10'000, .cuts_held_max = 3};
  options.digest_cuts = 20;
  options.fold_cuts = 5;
  options.waiting_events_max = 50;
  leaders_.push_back(std::make_unique<Leader>(Leader{leaders_.size(), Coordinator(*led, options), true, {}, {}}));
  if (options_.links) link(*leaders_.back());
  ++outcome_.leaders;
  if (replicated()) {
    const auto had_time = [this, number = leaders_.back()->number] {
      if (Leader& leader = *leaders_[number]; leader.alive) perform(leader, leader.coordinator.nodes_had_time());
    };
    network_.after(Network::second + network_.pick(2 * Network::second), had_time);
    if (network_.one_in(4)) network_.after(network_.pick(8 * Network::second), had_time);
    if (options_.changing_sets)
      network_.after(network_.pick(Network::second), [this, number = leaders_.back()->number] { tend_sets(number); });
  }
  tell("coordinator", leaders_.back()->number, "leads under epoch", led->epoch, "after cut", led->last_cut);
}

void Simulation::perform(Leader& leader, cluster::CoordinatorActions actions) {
  for (const Error& warning : actions.warnings) tell("coordinator", leader.number, "warns:", warning.what);
  if (actions.ended) {
    tell("coordinator", leader.number, "steps down:", actions.ended->what);
    return stop(leader);
  }
  if (actions.fold) {
    const auto epoch = leader.coordinator.stored().epoch;
    if (options_.off == Off::fold_held)
      for (auto& held : *actions.fold) held.cut = leader.coordinator.stored().last_cut;
    if (log_.fold(epoch, *actions.fold)) {
      ++outcome_.folds;
      leader.coordinator.folded(log_.state());
    }
  }
  if (actions.put) {
    tell("coordinator", leader.number, "makes cut", actions.put->number, "with", actions.put->events(), "events,",
         actions.put->openings.size(), "openings");
    for (const auto& [shard, set] : actions.put->replicas) {
      std::string who;
      for (const auto node : set.nodes) who += " " + std::to_string(node);
      if (!set.learned.empty()) who += " learned:";
      for (const auto node : set.learned) who += " " + std::to_string(node);
      tell("  shard", shard, "is kept by" + who);
      who_counts_has_it(leader, shard, set);
    }
    const auto number = leader.number;
    const auto sync = network_.one_in(20) && !resting_ ? network_.pick(2 * Network::second)
                                                       : Network::millisecond + network_.pick(4 * Network::millisecond);
    network_.after(sync, [this, number, cut = *actions.put] { put(number, cut); });
    if (options_.off == Off::one_put)
      network_.after(0, [this, number] {
        if (leaders_[number]->alive) perform(*leaders_[number], leaders_[number]->coordinator.put_returned({}));
      });
  }
  for (const auto& asked : actions.read) {
    const auto found = log_.cuts_after(asked.after, network_.one_in(3) ? 1 : 1'000);
    if (!found) continue;
    actions.send.push_back({asked.by, leader.coordinator.cuts_message(asked, *found)});
  }
  for (const auto& outgoing : actions.send) {
    if (const auto* again = std::get_if<cluster::TellAgain>(&outgoing.message);
        again != nullptr && options_.off == Off::hello_since) {
      network_.after(0, [this, number = leader.number, said = leader.hellos.at(again->to.node)] {
        if (Leader& here = *leaders_[number]; here.alive) perform(here, here.coordinator.hello(said));
      });
      continue;
    }
    for (const auto& [node, member] : leader.coordinator.members()) {
      if (outgoing.to ? outgoing.to->node != node : !member.here) continue;
      to_node(leader, node, [this, from = leader.number, message = outgoing.message](Process& process) {
        receive(process, message, from);
      });
    }
    // Somebody who was refused is no member.
    if (outgoing.to && !leader.coordinator.members().contains(outgoing.to->node)) {
      to_node(leader, outgoing.to->node, [this, from = leader.number, message = outgoing.message](Process& process) {
        receive(process, message, from);
      });
    }
  }
}

// The disk's part of it: it goes on though the coordinator is dead by then.
void Simulation::put(std::size_t number, const sharding::Cut& cut) {
  if (!leaders_[number]->alive && (right_log_ || network_.one_in(2))) return;
  auto stored = log_.put(cut);
  if (!stored && options_.off == Off::log_epoch) stored = Result<void>{};
  if (stored) {
    tell("cut", cut.number, "of coordinator", number, "is stored");
    history_.stored(cut);
    if (replicated()) stored_cuts_.emplace(cut.number, cut);
    if (replicated()) check_quorum(cut);
    last_coordinator_ = cut.coordinator;
    ++outcome_.cuts;
  } else {
    tell("cut", cut.number, "of coordinator", number, "is not taken:", stored.error().what);
  }
  if (options_.off == Off::refused_put_ends) stored = Result<void>{};
  if (options_.off == Off::one_put) return;
  network_.after(network_.pick(2 * Network::millisecond), [this, number, stored] {
    Leader& leader = *leaders_[number];
    if (leader.alive) perform(leader, leader.coordinator.put_returned(stored));
  });
}

void Simulation::to_leader(Process& process, std::function<void(Leader&)> what) {
  if (options_.links) {
    process.link->message(cluster::NodeNumber{0}, [this, what = std::move(what)](LinkEnd& at) {
      if (Leader& leader = *leaders_[at.owner()]; leader.alive) what(leader);
    });
    return;
  }
  if (!process.leader) return;
  Leader& leader = *leaders_[*process.leader];
  network_.send(process.self.node, leader.endpoint(), [&leader, what] {
    if (leader.alive) what(leader);
  });
}

void Simulation::hello(Leader& leader, cluster::Hello said) {
  // A hello is the first of its session: it does not come after the session's end.
  const auto& process = nodes_[said.from.node - 1]->process;
  if (!options_.links && (!process || process->self != said.from || process->leader != leader.number)) return;
  const auto& log = leader.coordinator.stored();
  if (options_.off == Off::tail_check) {
    for (std::size_t s = 0; s != log.shards.size(); ++s) {
      if (log.shards[s].node != said.from.node) continue;
      const ShardId id{static_cast<std::uint16_t>(s)};
      auto told = std::ranges::find(said.shards, id, &cluster::ShardTold::shard);
      if (told == said.shards.end())
        told = said.shards.insert(said.shards.end(), {id, {}, false, ShardOffset{1}, ShardOffset{1}});
      if (!told->taken) told->epoch = std::max(told->epoch, log.shards[s].written);
      told->tail = std::max(told->tail, leader.coordinator.reported_until(id));
      told->covered = std::max(told->covered, log.shards[s].folded + 1);
    }
  }
  if (options_.off == Off::loss_opened) {
    for (std::size_t s = 0; s != log.shards.size(); ++s) {
      const ShardId id{static_cast<std::uint16_t>(s)};
      const auto told = std::ranges::find(said.shards, id, &cluster::ShardTold::shard);
      if (told == said.shards.end() || told->taken) continue;
      told->epoch = std::max(told->epoch, log.shards[s].written);
      told->covered = std::max(told->covered, log.shards[s].folded + 1);
      told->tail = std::max(told->tail, std::max(leader.coordinator.reported_until(id), told->covered));
    }
  }
  if (options_.off == Off::log_end) said.cut = std::min(said.cut, log.last_cut);
  tell("coordinator", leader.number, "hears hello of process", said.from.incarnation, "of node", said.from.node,
       "at cut", said.cut);
  leader.said_hello[said.from.node] = said.from;
  leader.hellos[said.from.node] = said;
  perform(leader, leader.coordinator.hello(said));
  if (!replicated() || !leader.alive) return;
  const auto& members = leader.coordinator.members();
  if (const auto member = members.find(said.from.node); member != members.end() && member->second.process == said.from)
    for (auto& ghost : ghosts_) ghost->replaced |= ghost->self.node == said.from.node && ghost->self != said.from;
  for (const auto& [node, member] : members) tell_members(leader, node);
}

// Whom it took a hello of. One with an old copy of the cut log may be of a later epoch than who leads for good.
void Simulation::tell_members(const Leader& leader, std::uint32_t to) {
  const auto member = leader.coordinator.members().find(to);
  if (member == leader.coordinator.members().end() || !member->second.here) return;
  to_node(*leaders_[leader.number], to,
          [this, members = leader.coordinator.membership()](Process& process) { receive(process, members); });
}

void Simulation::report(Leader& leader, cluster::NodeProcess from, cluster::Report report, std::uint64_t naming) {
  if (options_.off == Off::counted_again) naming = 0;
  Coordinator& coordinator = leader.coordinator;
  const auto& shard = coordinator.stored().shards[report.shard.value];
  if (options_.off == Off::report_epoch) {
    const auto owner = coordinator.members().find(shard.node);
    report.epoch = shard.epoch;
    if (owner != coordinator.members().end()) from = owner->second.process;
  }
  if (options_.off == Off::report_joins)
    report.first = std::max(coordinator.reported_until(report.shard), ShardOffset{1});
  for (auto& append : report.appends) {
    if (options_.off == Off::verdict) append.conditions.clear();
    for (auto& condition : append.conditions) {
      if (options_.off == Off::empty_window) condition.from = std::max(condition.from, coordinator.window_from());
    }
    if (options_.off == Off::unknown_digests && append.terms.empty()) append.terms.assign(append.events, {});
  }
  auto actions = coordinator.report(from, std::move(report), naming);
  const bool counts_anew = naming != 0 && naming < coordinator.membership().naming &&
                           std::ranges::any_of(actions.send, [](const auto& outgoing) {
                             return std::holds_alternative<cluster::ReportFrom>(outgoing.message);
                           });
  outcome_.counted_again += counts_anew ? 1 : 0;
  if (counts_anew) tell_members(leader, from.node);  // it came before, where links keep the order
  perform(leader, std::move(actions));
}

// Rule 25. Now and then all at once, as when many are balanced; now and then it is given up.
void Simulation::hand_over_something(std::optional<ShardId> which) {
  if (leaders_.empty() || !leaders_.back()->alive) return;
  Leader& leader = *leaders_.back();
  const auto shards = leader.coordinator.stored().shards;
  if (!which && network_.one_in(4)) {
    perform(leader, leader.coordinator.balance());
  } else {
    const ShardId shard = which ? *which : ShardId{static_cast<std::uint16_t>(network_.pick(shards.size()))};
    const auto& set = shards[shard.value].replicas;
    if (set.nodes.empty()) return;
    if (auto begun = leader.coordinator.hand_over(shard, set.nodes[network_.pick(set.nodes.size())])) {
      ++outcome_.hand_overs;
      tell("coordinator", leader.number, "hands over shard", shard);
      perform(leader, std::move(*begun));
    }
  }
  network_.after(network_.pick(300 * Network::millisecond), [this, number = leader.number] {
    if (Leader& here = *leaders_[number]; here.alive) perform(here, here.coordinator.hand_overs_took_too_long());
  });
}

// The operator: a shard that was refused goes on with less, one whose node is gone goes elsewhere.
void Simulation::assign_something(bool all) {
  if (leaders_.empty() || !leaders_.back()->alive) return;
  Leader& leader = *leaders_.back();
  const auto log = leader.coordinator.stored();
  for (std::size_t s = 0; s != log.shards.size() && leader.alive; ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    const auto owner = log.shards[s].node;
    const auto owning = leader.coordinator.members().find(owner);
    std::uint32_t to = owner;
    if (owner == 0) continue;
    if (owning != leader.coordinator.members().end() && owning->second.here) {
      if (!owning->second.refused.contains(shard)) continue;
      const auto verified = nodes_[owner - 1]->verified.find(shard);
      if (verified != nodes_[owner - 1]->verified.end() && verified->second == log.shards[s].epoch)
        throw Broken("I-Durable",
                     "shard " + std::to_string(s) + " of node " + std::to_string(owner) +
                         " is refused, and its disk was not broken: " + owning->second.refused.at(shard).what);
    } else {
      if (all || (nodes_[owner - 1]->process && profile() != Profile::owners) ||
          !network_.one_in(profile() == Profile::owners ? 2 : 6))
        continue;
      to = 1 + static_cast<std::uint32_t>(network_.pick(nodes_.size()));
    }
    const auto member = leader.coordinator.members().find(to);
    if (member == leader.coordinator.members().end() || !member->second.here) continue;
    const auto told = member->second.told.find(shard);
    const auto lost = leader.coordinator.loss(
        shard, told == member->second.told.end() ? cluster::ShardTold{shard, {}, false, ShardOffset{1}, ShardOffset{1}}
                                                 : told->second);
    auto assigned = leader.coordinator.assign(shard, to, lost);
    if (!assigned) continue;
    tell("the operator gives shard", shard, "to node", to, lost ? "and accepts a loss" : "");
    if (to != owner) moved_.insert(shard);
    perform(leader, *assigned);
    if (!all) return;
  }
}

}  // namespace evershard::simulation
