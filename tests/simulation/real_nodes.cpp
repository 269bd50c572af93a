// The simulation's nodes with the real writers: what the shell around ShardWriters does, in virtual time.

#include <algorithm>

#include "evershard/sharding/node_cut.hpp"
#include "tests/simulation/parts.hpp"

namespace evershard::simulation {

using actors::PartAnswer;
using cluster::NodeStep;

namespace {

constexpr Network::Microseconds link_timeout = 2 * Network::second;

PartAnswer answer_to(const actors::PartAsked& asked, PartAnswer::Kind kind, Error error = {}) {
  PartAnswer answer;
  answer.attempt = asked.attempt;
  answer.try_number = asked.try_number;
  answer.shard = asked.shard;
  answer.kind = kind;
  answer.error = std::move(error);
  return answer;
}

/// As the store keeps them: each with the last event here of its aggregate, under the version that the writer gave
/// that.
std::vector<JournalRecord::Snapshot> waiting_snapshots(const storage::EncodedAppend& append,
                                                       const storage::JournalPlace& place) {
  std::vector<JournalRecord::Snapshot> waiting;
  for (const auto& [index, snapshot] : append.snapshots) {
    const auto [shard, aggregate] = numbers_of(append.aggregates[index].id);
    if (shard != place.shard) continue;
    std::uint64_t at = 0, last = 0;
    for (const auto& event : append.events) {
      if (event.shard != shard) continue;
      if (event.aggregate == index) last = at;
      ++at;
    }
    waiting.push_back({aggregate, place.seq_nrs[last], place.first + last, std::stoull(snapshot.payload)});
  }
  return waiting;
}

}  // namespace

std::shared_ptr<RealWriters> Simulation::real_writers(const Node& node) const {
  if (!options_.real_writers) return nullptr;
  auto start = writers_of(node.disk.state());
  actors::ShardWriters::Options options;
  options.node = node.number;
  options.recent_entries_max = 64;  // so that look-ups matter
  options.report_events_max = 8;
  auto real = std::make_shared<RealWriters>(std::move(start), options, options_.shards);
  for (const auto& [id, shard] : node.disk.state().shards) {
    actors::WriterActions nobody_waits;
    if (shard.damaged) {
      real->writers.fence(id, nobody_waits);
      continue;
    }
    static_cast<void>(real->writers.follow(id, nobody_waits));  // it begins when it is opened
    if (options_.off == Off::tail_recovered)
      real->followed.hold(id, shard.covered, shard.covered, {});
    else
      real->followed.hold(id, shard.covered, shard.tail, unordered_of(shard));
    real->told[id] = real->followed.tail(id);
  }
  return real;
}

// -- the order

void Simulation::apply_real(Process& process, const NodeStep::Apply& apply) {
  RealWriters& real = *process.real;
  auto cut = apply.cut;
  // What is missing before it was folded by the log.
  if (const auto next = real.writers.watermark() + 1; cut.first_position != next) {
    cut.segments.insert(cut.segments.begin(), sharding::Segment::elsewhere(cut.first_position - next));
    cut.first_position = next;
  }
  for (const auto& opening : cut.openings) learn_owner(process, opening.shard, opening.node, opening.epoch);
  for (const auto& opening : apply.openings) {
    if (real.followed.holds(opening.shard)) {
      for (const auto& placed : apply.own)
        if (placed.segment.shard == opening.shard) real.followed.cover(placed.segment);
      std::erase_if(cut.segments, [&](const auto& segment) { return segment.shard == opening.shard; });
      const auto ordered = real.followed.ordered(opening.shard);
      auto unordered = real.followed.release(opening.shard);
      if (opening.loses()) unordered.clear();
      real.writers.adopt({opening.shard, Epoch{0}, ordered}, std::move(unordered));
      continue;
    }
    if (!real.writers.holds(opening.shard)) real.writers.adopt({opening.shard, Epoch{0}, ShardOffset{1}}, {});
    if (opening.loses() || !real.writers.is_fenced(opening.shard)) continue;
    if (real.writers.left_behind(opening.shard)) return fail(process, opening.shard);
    real.writers.adopt({opening.shard, Epoch{0}, opening.tail}, {});
  }
  // A writer begins once its opening is synced: Simulation::open().
  std::erase_if(cut.openings, [&](const sharding::Opening& opening) {
    const auto own = std::ranges::find(apply.openings, opening.shard, &sharding::Opening::shard);
    const bool taken = own != apply.openings.end();
    if (opening.node != process.self.node) return taken && own->epoch > opening.epoch;
    return options_.off != Off::begins_synced || !taken || own->epoch != opening.epoch;
  });
  if (options_.off == Off::begins_synced)
    for (const auto& opening : apply.openings)
      process.node.verified[opening.shard] = opening.epoch;  // it writes from here on
  close_writers(process, apply);
  if (!apply.damaged.empty()) {
    std::vector<sharding::Segment> own;
    for (const auto& placed : apply.own) own.push_back(placed.segment);
    cut = sharding::as_far_as_here(cut, apply.damaged, own);
  }
  actors::WriterActions actions;
  real.writers.announce(process.order.window_from(), process.order.digests_wanted(), process.order.builds());
  real.writers.apply(cut, actions);
  if (!actions.lost.empty()) throw Broken("I-Durable", actions.lost.front().second.what);
  const auto brought_back = shard_brought_back(process, apply);
  for (const auto& placed : apply.own)
    if (real.followed.holds(placed.segment.shard)) real.followed.cover(placed.segment);
  process.node.disk.write(apply);
  check_applied(process, apply);
  for (const auto& opening : apply.openings) recovered(process, opening);
  if (brought_back) return fail(process, *brought_back);
  perform(process, process.order.applied(apply.number));
  if (options_.off == Off::held_sync) say_held(process, apply.number);
  perform(process, std::move(actions));
}

// Of which the disk has places that this cut says are lost: what this process knows of them is not to outlast them.
std::optional<ShardId> Simulation::shard_brought_back(const Process& process, const NodeStep::Apply& apply) {
  for (const auto& opening : apply.openings) {
    const auto shard = process.node.disk.state().shards.find(opening.shard);
    if (opening.loses() && shard != process.node.disk.state().shards.end() &&
        shard->second.has_placed(opening.lost_from))
      return opening.shard;
  }
  return std::nullopt;
}

// It does nothing more; whoever watches over it starts it again.
void Simulation::fail(Process& process, ShardId shard) {
  tell("node", process.self.node, "fails: shard", shard, "comes back, and something was left behind");
  process.failed = true;
  network_.after(0, [this, &node = process.node, self = process.self] {
    if (!node.process || node.process->self != self) return;
    crash(node);
    start(node);
  });
}

// The writers of shards that this cut damages, or that go on behind a loss, begin anew.
void Simulation::close_writers(Process& process, const NodeStep::Apply& apply) {
  const auto close = [&](ShardId shard) {
    writers_step(process, [&](auto& writers, auto& next) { writers.fence(shard, next); });
  };
  for (const ShardId shard : apply.damaged) {
    if (RealWriters& real = *process.real; real.followed.holds(shard)) {
      real.writers.adopt({shard, Epoch{0}, real.followed.ordered(shard)}, {});  // to be fenced
      real.followed.forget(shard);
    }
    close(shard);
  }
  for (const auto& opening : apply.openings) {
    if (!opening.loses() || options_.off == Off::begins_anew) continue;
    close(opening.shard);
    process.real->writers.adopt({opening.shard, Epoch{0}, opening.lost_until}, {});
  }
}

void Simulation::session_begun(Process& process) {
  actors::WriterActions begun;
  process.real->writers.announce(process.order.window_from(), process.order.digests_wanted(), process.order.builds());
  process.real->writers.session_begun(begun);
  perform(process, std::move(begun));
}

void Simulation::writers_step(Process& process,
                              const std::function<void(actors::ShardWriters&, actors::WriterActions&)>& what) {
  actors::WriterActions actions;
  what(process.real->writers, actions);
  perform(process, std::move(actions));
}

// -- the disk

void Simulation::write_real(Process& process) {
  RealWriters& real = *process.real;
  while (real.writers.any()) {
    auto batch = real.writers.close();
    std::vector<JournalRecord> made;
    for (const auto& written : batch.journal.appends) {
      if (!real.writers.is_open(written.place->shard))
        throw Broken("I-SingleWriter", "node " + std::to_string(process.self.node) + " writes shard " +
                                           std::to_string(written.place->shard.value) + ", which is not open there");
      // Its opening is on the same disk before it: what is durable of the writer's has its epoch beside it.
      const auto epoch = process.node.disk.state().shards.at(written.place->shard).epoch;
      JournalRecord record{
          written.place->shard,
          epoch,
          written.place->first,
          append_of(*written.append),
          {},
          std::make_shared<storage::UnorderedAppend>(storage::UnorderedAppend{*written.append, *written.place})};
      for (std::uint32_t i = 0; i != written.append->events.size(); ++i)
        if (written.append->events[i].shard == record.shard) record.events.push_back(i);
      record.snapshots = waiting_snapshots(*written.append, *written.place);
      record.at_once = options_.off == Off::snapshot_waits;
      tell("node", process.self.node, "writes append", record.append, "to shard", record.shard, "at offset",
           record.first);
      if (written.place->tentative) history_.undecided(record.append);
      for (std::uint32_t i = 0; i != record.events.size(); ++i)
        history_.written(record.shard, record.epoch, record.first + i, {record.append, record.events[i]});
      if (options_.replicas > 1) made.push_back(record);
      wrote(process, record);
      process.node.disk.write(std::move(record));
    }
    real.writing.push_back({std::move(batch), {}, process.node.disk.writes()});
    if (!made.empty()) ship(process, made);
    if (options_.off == Off::sync_first) synced_real(process, process.node.disk.writes());
    sync(process);
  }
}

void Simulation::synced_real(Process& process, std::size_t writes) {
  RealWriters& real = *process.real;
  while (!real.writing.empty() && real.writing.front().until <= writes) {
    const auto writing = std::move(real.writing.front());
    real.writing.pop_front();
    if (writing.batch.written.empty()) {
      shipped_is_synced(process, writing.shipped);
      continue;
    }
    writers_step(process, [&](auto& writers, auto& actions) { writers.synced(writing.batch, actions); });
    for (const auto& written : writing.batch.written) real.shipping.durable(written->place.shard, written->place.end());
    turn_soon(process);
  }
}

// -- what they want done

void Simulation::perform(Process& process, actors::WriterActions actions) {
  RealWriters& real = *process.real;
  if (process.order.reports()) {
    cluster::QuorumGate::Reports reports;
    for (auto& report : actions.reports) {
      for (auto& append : report.report.appends) {
        if (options_.off == Off::names_told && append.tentative)
          for (auto& terms : append.terms) terms.pop_back();
        if (options_.off == Off::builds_told) append.builds_on.clear();
      }
      const auto set = real.narrowed.counted(report.report.shard, process.order.replicas(report.report.shard));
      if (options_.off == Off::quorum_gate)
        reports.push_back(std::move(report));
      else
        real.gate.take(std::move(report), set, reports);
    }
    send(process, std::move(reports));
  }
  for (auto& look_up : actions.look_ups) {
    network_.after(network_.pick(3 * Network::millisecond), [this, self = process.self, look_up] {
      const auto& here = nodes_[self.node - 1]->process;
      if (!here || here->self != self) return;
      const auto w = here->real->writers.watermark();
      auto found = look_up.placed_at.value != 0
                       ? Result<std::optional<Appended>>(history_.find(append_of(look_up.attempt->prepared.append), w))
                       : looked_up(*look_up.attempt, w, look_up.confirm, here->order.window_from());
      writers_step(*here, [&](auto& writers, auto& next) { writers.looked_up(look_up.attempt, found, next); });
    });
  }
  for (auto& part : actions.parts) ask_part(process, part);
  for (auto& reply : actions.part_replies) {
    const auto asker = real.askers.find(reply.client);
    if (asker == real.askers.end()) continue;
    reply_part(process.self.node, asker->second, std::move(reply.answer));
    real.askers.erase(asker);
  }
  for (auto& answer : actions.answers) answered_real(process, answer);
  write_real(process);
}

void Simulation::report_real(Leader& leader, cluster::NodeProcess from, const actors::WriterReport& said) {
  const auto& coordinator = leader.coordinator;
  const bool asks = said.report.appends.empty();
  auto promised = coordinator.stored().last_cut + (coordinator.putting() ? 2 : 1);
  if (options_.off == Off::cut_since) promised = CutNumber{1};
  report(leader, from, said.report, said.naming);
  if (!asks || !leader.alive) return;
  const auto by = options_.off == Off::cut_since ? Epoch{0} : coordinator.stored().epoch;
  to_node(leader, from.node, [this, from, said, promised, by](Process& process) {
    if (process.self != from) return;
    // A rule that is off: whoever made the last cut made this one.
    const auto coordinator_of = by == Epoch{0} ? last_coordinator_ : by;
    writers_step(process, [&](auto& writers, auto& next) {
      writers.cut_promised(said.report.shard, said.report.epoch, said.ask, promised, coordinator_of, next);
    });
  });
}

// -- parts: every one is answered once, if only by the link

void Simulation::ask_part(Process& process, const actors::PartRequest& part) {
  const auto owner = log_.state().shards[part.part.shard.value].node;
  const auto ask = ++process.real->numbers;
  process.real->asking.emplace(ask, part.part);
  const RealWriters::Asker asker{process.self, ask, {}};
  const auto lost = [this, asker, asked = part.part] {
    part_answered(asker, answer_to(asked, PartAnswer::Kind::lost, {ErrorCode::timeout, "the link lost it"}));
  };
  if (options_.links) {
    if (owner == 0 || owner == process.self.node) return network_.after(0, lost);
    return process.link->request(
        cluster::NodeNumber{owner}, std::chrono::microseconds(link_timeout),
        [this, part, asker](LinkEnd& at, Letters::Answer answer) {
          take_part(*nodes_[at.owner()]->process, part, {asker.process, asker.ask, std::move(answer)});
        },
        [lost, link = process.link](const Result<Letters::Told>& answer) { answer ? (*answer)(*link) : lost(); });
  }
  network_.after(link_timeout, lost);
  if (owner == 0 || owner == process.self.node) return;
  network_.send(process.self.node, owner, [this, owner, asker, part] {
    if (auto& there = nodes_[owner - 1]->process) take_part(*there, part, asker);
  });
}

void Simulation::take_part(Process& process, const actors::PartRequest& part, const RealWriters::Asker& asker) {
  auto attempt = part_attempt_of(*part.of, part.part);
  const auto known = looked_up(*attempt, process.real->writers.watermark(), false, process.order.window_from());
  if (known && *known) return reply_part(process.self.node, asker, answer_to(part.part, PartAnswer::Kind::known));
  attempt->client = ++process.real->numbers;
  process.real->askers.emplace(attempt->client, asker);
  writers_step(process, [&](auto& writers, auto& next) { writers.take(attempt, next); });
}

void Simulation::reply_part(std::uint32_t from, const RealWriters::Asker& asker, PartAnswer answer) {
  const auto told = [this, asker = RealWriters::Asker{asker.process, asker.ask, {}}, answer] {
    part_answered(asker, answer);
  };
  if (asker.answer) return asker.answer(Letters::Told([told](LinkEnd&) { told(); }));
  network_.send(from, asker.process.node, told);
}

void Simulation::part_answered(const RealWriters::Asker& asker, const PartAnswer& answer) {
  auto& process = nodes_[asker.process.node - 1]->process;
  if (!process || process->self != asker.process || process->real->asking.erase(asker.ask) == 0) return;
  writers_step(*process, [&](auto& writers, auto& next) { writers.part_answered(answer, next); });
}

// -- clients

void Simulation::submit_real(Process& process, AppendId id, Letters::Answer reply,
                             std::function<void(const Result<Appended>&)> told) {
  // Who has made a snapshot of a state that was given up since is a live aggregate of before: it went with its shard.
  if (const auto& taken = history_.request(id).snapshot; taken && taken->losses != history_.losses_of(taken->shard))
    return;
  auto attempt = attempt_of(id, history_.request(id));
  if (options_.replicas > 1) attempt->ack = Ack::ordered;  // what a quorum has is known by the cut
  if (options_.off == Off::snapshot_named)
    for (auto& snapshot : attempt->prepared.append.snapshots) snapshot.snapshot.version = SeqNr{};
  attempt->client = ++process.real->numbers;
  process.real->clients.emplace(attempt->client, id);
  if (reply) process.real->forwarded.emplace(attempt->client, std::move(reply));
  if (told) process.real->hearing.emplace(attempt->client, std::move(told));
  const auto found = looked_up(*attempt, process.real->writers.watermark(), false, process.order.window_from());
  actors::WriterActions actions;
  if (!found) {
    actions.answers.push_back({attempt->client, refuse(found.error())});
  } else if (*found) {
    actions.answers.push_back({attempt->client, **found});
  } else {
    process.real->writers.take(attempt, actions);
  }
  perform(process, std::move(actions));
}

Result<std::optional<Appended>> Simulation::looked_up(actors::Attempt& attempt, GlobalPosition w, bool confirm,
                                                      GlobalPosition window_from) const {
  auto& prepared = attempt.prepared;
  const auto id = append_of(prepared.append);
  prepared.view = w;
  prepared.refusal.reset();
  if (options_.off != Off::ids_looked_up) {
    if (auto stored = history_.find(id, w)) {
      stored->duplicate = true;
      return stored;
    }
    if (const auto other = history_.of_same_ids(id, w)) {
      if (attempt.asked) return std::optional<Appended>(Appended{});
      return refuse(ErrorCode::duplicate_event, "append " + std::to_string(*other) + " has its ids");
    }
  }
  if (prepared.command && options_.off != Off::command_ids) {
    if (const auto other = history_.command(*prepared.command, w))
      return refuse(ErrorCode::duplicate_event, "the command was decided by append " + std::to_string(*other));
  }
  prepared.heads.resize(prepared.append.aggregates.size() + prepared.guards.size());
  for (std::size_t i = 0; i != prepared.heads.size(); ++i) {
    const auto [shard, aggregate] = numbers_of(prepared.aggregate(i).id);
    prepared.heads[i].version = history_.version(shard, aggregate, w);
  }
  for (std::size_t i = 0; i != prepared.terms.size(); ++i) {
    auto& from = prepared.terms[i].from;
    if (from >= w || (from >= window_from && !confirm)) continue;
    auto match = history_.first_match(prepared.terms[i].query.items[0].all[0], from, w);
    if (options_.off == Off::conditions_looked_up) match.reset();
    if (options_.off == Off::refusal_confirmed && confirm && !match) match = w;
    if (match) {
      ErrorDetails details;
      details.condition = static_cast<std::uint32_t>(i);
      details.position = *match;
      prepared.refusal = {Error{ErrorCode::condition_failed, "matched", std::move(details)}, *match};
      return std::nullopt;
    }
    from = w;
  }
  return std::nullopt;
}

void Simulation::answered_real(Process& process, const actors::WriterAnswer& answer) {
  const auto client = process.real->clients.find(answer.client);
  if (client == process.real->clients.end()) throw Broken("I-Live", "a client is answered twice");
  const AppendId id = client->second;
  process.real->clients.erase(client);
  if (auto forwarded = process.real->forwarded.extract(answer.client); !forwarded.empty())
    forwarded.mapped()(Letters::Told([](LinkEnd&) {}));
  if (auto told = process.real->hearing.extract(answer.client); !told.empty()) told.mapped()(answer.result);
  const auto by = "node " + std::to_string(process.self.node);
  if (!answer.result) {
    tell(by, "refuses append", id, ":", std::string(name_of(answer.result.error().code)), answer.result.error().what);
    history_.refused(id, answer.result.error(), process.real->writers.watermark(), by);
    ++outcome_.refused;
    return;
  }
  if (answer.durable) {
    process.node.durable.emplace(id, network_.now());
    return;
  }
  tell(by, "acknowledges append", id, "at position", answer.result->first_position);
  history_.acknowledged(id, *answer.result, by);
  ++outcome_.acknowledged;
}

}  // namespace evershard::simulation
