// The simulation's replicas: what the shell around QuorumGate, Shipping and FollowedShards does, in virtual time; and
// what is judged of it.

#include <algorithm>

#include "evershard/sharding/node_cut.hpp"
#include "tests/simulation/parts.hpp"

namespace evershard::simulation {

using cluster::FollowerTold;
using cluster::NodeNumber;
using cluster::NodeStep;
using cluster::Ship;
using cluster::Shipping;

namespace {

std::string name(ShardId shard) { return "shard " + std::to_string(shard.value); }
std::string name(std::uint32_t node) { return "node " + std::to_string(node); }
std::string digits(auto value) { return std::to_string(value.value); }

std::map<ShardOffset, JournalRecord> records_of(const DiskState& disk, ShardId shard) {
  const auto found = disk.shards.find(shard);
  return found == disk.shards.end() ? std::map<ShardOffset, JournalRecord>{} : found->second.records;
}

}  // namespace

// -- the steps of the order

void Simulation::fence_real(Process& process, ShardId shard) {
  RealWriters& real = *process.real;
  actors::WriterActions actions;
  if (process.order.keeps(shard)) {
    const auto ordered = real.writers.ordered(shard), tail = real.writers.tail(shard);
    real.followed.hold(shard, ordered, tail, real.writers.follow(shard, actions));
    real.told[shard] = tail;
    real.tails_changed.insert(shard);
  } else {
    real.writers.fence(shard, actions);
  }
  real.gate.forget(shard);
  real.narrowed.forget(shard);
  real.shipping.end(shard);
  real.rows.end(shard);
  perform(process, std::move(actions));
}

void Simulation::follow(Process& process, const NodeStep::Follow& step) {
  RealWriters& real = *process.real;
  Node& node = process.node;
  tell("node", node.number, "follows node", step.writer, "in shard", step.shard, "under epoch", step.epoch,
       "from offset", step.from);
  if (!real.followed.holds(step.shard)) {
    actors::WriterActions none;
    static_cast<void>(real.writers.follow(step.shard, none));
    real.followed.hold(step.shard, ShardOffset{1}, ShardOffset{1}, {});
  }
  if (options_.off != Off::take_off) real.followed.cut_back(step.shard, step.from);
  real.gate.forget(step.shard);
  real.shipping.end(step.shard);
  real.rows.end(step.shard);
  const auto tail = real.followed.tail(step.shard);
  ++outcome_.follows;
  for (const auto& [first, record] : records_of(node.disk.state(), step.shard)) {
    if (first < step.from) continue;
    ++outcome_.taken_off;
    for (std::uint32_t i = 0; i != record.events.size(); ++i) {
      if (first + i < real.told[step.shard]) check_taken_off(node, step, first + i, {record.append, record.events[i]});
      node.taken[step.shard][first + i] = {record.append, record.events[i]};
    }
  }
  node.took_off[step.shard] = std::max(node.took_off[step.shard], step.epoch);
  node.disk.write(TakeOff{step.shard, tail, options_.off == Off::take_off_epoch ? Epoch{0} : step.epoch});
  node.disk.sync(node.disk.writes());
  note_synced(node);
  real.tails_changed.insert(step.shard);
  if (step.writer != 0) learn_owner(process, step.shard, step.writer, step.epoch);
  say_followed(process, std::nullopt, step.shard, true);
}

void Simulation::begin_shipping(Process& process, ShardId shard, Epoch epoch) {
  RealWriters& real = *process.real;
  std::vector<std::uint32_t> followers;
  for (const auto node : process.order.replicas(shard).all())
    if (node != process.self.node) followers.push_back(node);
  if (followers.empty() && !real.shipping.ships(shard)) return;
  const auto durable = real.followed.holds(shard)  ? real.followed.tail(shard)
                       : real.writers.holds(shard) ? real.writers.tail(shard)
                                                   : ShardOffset{1};
  real.shipping.begin(shard, epoch, followers, durable);
  if (options_.row_logs) begin_row_log(process, shard, epoch);
}

// What is under way to the disk gets there first: in the product nothing comes between.
void Simulation::finish_sync(Process& process) {
  while (!process.real->writing.empty()) {
    const auto writes = process.node.disk.writes();
    process.node.disk.sync(writes);
    note_synced(process.node);
    synced_real(process, writes);
  }
}

void Simulation::note_synced(Node& node) {
  for (const auto& [id, shard] : node.disk.state().shards)
    for (const auto& [first, record] : shard.records)
      for (std::size_t i = 0; !record.shipped && i != record.events.size(); ++i)
        history_.synced(id, record.epoch, first + i);
}

void Simulation::learn_owner(Process& process, ShardId shard, std::uint32_t node, Epoch epoch) {
  auto& owners = process.real->owners;
  if (epoch >= owners.at(shard.value).epoch) owners[shard.value] = {node, epoch};
}

// -- what was folded while a node was away

void Simulation::ask_history(Process& process, const cluster::NodeActions::History& wanted) {
  if (network_.one_in(5)) return;
  if (network_.one_in(3))  // others than those that were asked last
    process.history_from.answered({1 + static_cast<std::uint32_t>(network_.pick(nodes_.size())), {}}, wanted.after, {});
  const auto choice = process.history_from.choose(
      wanted.shards, process.self.node, [&](ShardId shard) -> const auto& { return process.order.replicas(shard); });
  if (choice.nobody) return;
  struct Asked {
    std::vector<cluster::HistoryPart> parts;
    std::size_t left;
    bool failed = false;
  };
  auto asked = std::make_shared<Asked>(Asked{{}, choice.asks.size()});
  for (const auto& ask : choice.asks) asked->parts.push_back({{}, ask.shards});
  for (std::size_t n = 0; n != choice.asks.size(); ++n) {
    network_.after(network_.pick(5 * Network::millisecond),
                   [this, asked, n, ask = choice.asks[n], after = wanted.after, self = process.self] {
                     Node& node = *nodes_.at(self.node - 1);
                     if (!node.process || node.process->self != self) return;
                     const auto given = history_of(*nodes_.at(ask.node - 1), after);
                     asked->failed |= !node.process->history_from.answered(ask, after, given);
                     if (given) asked->parts[n].history = *given;
                     if (--asked->left != 0) return;
                     if (asked->failed) asked->parts.clear();
                     network_.after(network_.pick(5 * Network::millisecond), [this, self, after, asked] {
                       Node& node = *nodes_.at(self.node - 1);
                       if (!node.process || node.process->self != self) return;
                       take_history(*node.process, after, asked->parts);
                     });
                   });
  }
}

/// As that node's store has it.
std::optional<cluster::NodeHistory> Simulation::history_of(const Node& source, GlobalPosition after) {
  if (!source.process || !source.process->order.welcomed()) return std::nullopt;
  const auto& order = source.process->order;
  cluster::NodeHistory history{{}, order.cut(), order.watermark(), {}};
  auto next = after + 1;
  const auto cuts_max = 1 + network_.pick(10);
  const auto own = [&](const sharding::Segment& segment) { return order.keeps(segment.shard); };
  for (std::uint16_t s = 0; s != options_.shards; ++s)
    if (order.has_whole(ShardId{s})) history.shards.push_back(ShardId{s});
  std::vector<sharding::Segment> refused;  // is in the next row
  for (const auto& [number, cut] : stored_cuts_) {
    if (number > history.last_cut) break;
    if (cut.events() == 0) {
      std::ranges::copy_if(cut.segments, std::back_inserter(refused), own);
      continue;
    }
    const auto before = std::exchange(refused, {});
    if (cut.first_position != next) continue;
    if (history.cuts.size() == cuts_max) break;
    auto& row = history.cuts.emplace_back(sharding::cut_of_node(cut, own, cut.openings));
    row.segments.insert(row.segments.begin(), before.begin(), before.end());
    next = cut.last_position() + 1;
  }
  if (next != history.watermark + 1) return history;
  if (!refused.empty())
    history.cuts.push_back({history.last_cut,
                            history.cuts.empty() ? Epoch{} : history.cuts.back().coordinator,
                            history.watermark + 1,
                            refused,
                            {}});
  for (const auto& [id, shard] : source.disk.state().shards)
    if (order.keeps(id))
      history.ends.push_back({id, shard.covered, order.epoch(id),
                              source.process->real->owners.at(id.value).epoch == order.epoch(id)
                                  ? source.process->real->owners.at(id.value).node
                                  : 0});
  return history;
}

void Simulation::take_history(Process& here, GlobalPosition after, const std::vector<cluster::HistoryPart>& parts) {
  auto history = cluster::merged(after, parts);
  if (!history) throw Broken("I-Same", history.error().what);
  const bool complete = history->complete;
  const auto cuts = here.order.whole(std::move(*history));
  ++outcome_.histories;
  outcome_.histories_of_several += parts.size() > 1 ? 1 : 0;
  tell("node", here.self.node, "is given", cuts.size(), "cuts of history behind position", after, "of", parts.size(),
       "nodes up to cut", cuts.empty() ? CutNumber{0} : cuts.back().number);
  perform(here, here.order.history(after, cuts, complete));
}

// -- shipped

storage::ShippedRows Simulation::rows_of(const std::vector<JournalRecord>& records, ShardOffset settled) {
  storage::ShippedRows rows;
  rows.shard = records.front().shard;
  rows.first = rows.end = records.front().first;
  rows.settled = settled;
  for (const auto& record : records) {
    auto bytes = std::to_string(shipped_records_.size());
    bytes.resize(60 * record.events.size(), ' ');
    rows.records.push_back({record.first, std::move(bytes)});
    shipped_records_.push_back(record);
    rows.end = record.first + record.events.size();
  }
  return rows;
}

void Simulation::ship(Process& process, const std::vector<JournalRecord>& made) {
  std::map<ShardId, std::vector<JournalRecord>> of;
  for (const auto& record : made) of[record.shard].push_back(record);
  std::vector<storage::ShippedRows> rows;
  for (const auto& [shard, records] : of) rows.push_back(rows_of(records, ShardOffset{1}));
  for (const auto& outgoing : process.real->shipping.made(std::move(rows))) send(process, outgoing);
}

void Simulation::send(Process& process, const Shipping::Outgoing& outgoing) {
  for (const auto to : outgoing.nodes) {
    if (const auto session = process.peers.find(to); session != process.peers.end() && ghost(to, session->second)) {
      ship_to_ghost(process, {to, session->second}, outgoing.ship);
      continue;
    }
    const auto sent = to_peer(process, to, [this, from = process.self.node, ship = outgoing.ship](Process& there) {
      take_shipped(there, from, ship);
    });
    if (!sent) process.real->shipping.lost(to);
  }
}

void Simulation::send(Process& process, std::vector<actors::WriterReport> reports) {
  if (!process.order.reports()) return;
  for (auto& report : reports) report.naming = process.real->named.naming();
  for (const auto& report : reports)
    to_leader(process, [this, from = process.self, report](Leader& leader) { report_real(leader, from, report); });
}

void Simulation::take_shipped(Process& process, std::uint32_t from, const Ship& ship) {
  RealWriters& real = *process.real;
  FollowerTold again{{}, true};
  RealWriters::Writing writing;
  std::map<ShardId, ShardOffset> ends;
  for (auto [epoch, rows] : ship.shards) {
    const auto shard = rows.shard;
    const auto follows = process.order.follows(shard);
    if (options_.off == Off::shipped_epoch ? !follows : follows != epoch) continue;
    if (!real.followed.holds(shard)) continue;
    auto end = real.followed.tail(shard);
    for (const auto& earlier : real.writing)
      for (const auto& shipped : earlier.shipped)
        if (shipped.rows.shard == shard) end = shipped.rows.end;
    if (const auto here = ends.find(shard); here != ends.end()) end = here->second;
    if (options_.off == Off::shipped_joins && rows.first > end) {
      for (auto& row : rows.records) row.first = end + (row.first - rows.first);
      rows.end = end + (rows.end - rows.first);
      rows.first = end;
    }
    if (rows.end <= end) continue;
    if (rows.first != end) {
      if (real.asked_again.insert(shard).second) again.shards.push_back({shard, epoch, real.followed.tail(shard)});
      continue;
    }
    RealWriters::Shipped shipped{from, epoch, rows, {}};
    for (const auto& row : rows.records) {
      auto record = shipped_records_.at(std::stoull(row.bytes));
      if (record.first != row.first) {
        auto moved = *record.real;
        moved.place.first = row.first;
        record.real = std::make_shared<storage::UnorderedAppend>(std::move(moved));
      }
      record.first = row.first;
      record.epoch = epoch;
      record.shipped = true;
      shipped.appends.push_back(*record.real);
      tell("node", process.self.node, "is shipped append", record.append, "of shard", shard, "at offset", record.first,
           "under epoch", epoch);
      wrote(process, record);
      process.node.disk.write(std::move(record));
      ++outcome_.shipped;
    }
    ends[shard] = rows.end;
    writing.shipped.push_back(std::move(shipped));
  }
  if (!again.shards.empty()) tell_follower(process, from, again);
  if (writing.shipped.empty()) return;
  writing.until = process.node.disk.writes();
  real.writing.push_back(std::move(writing));
  if (options_.off == Off::shipped_sync) synced_real(process, process.node.disk.writes());
  sync(process);
}

void Simulation::shipped_is_synced(Process& process, const std::vector<RealWriters::Shipped>& all) {
  RealWriters& real = *process.real;
  std::map<std::uint32_t, std::map<ShardId, Epoch>> told;
  for (const auto& shipped : all) {
    const auto shard = shipped.rows.shard;
    real.followed.take(shard, shipped.rows.end, shipped.appends);
    real.shipping.durable(shard, shipped.rows.end);
    real.asked_again.erase(shard);
    real.tails_changed.insert(shard);
    told[shipped.from][shard] = shipped.epoch;
  }
  for (const auto& [node, shards] : told) {
    FollowerTold followed;
    for (const auto& [shard, epoch] : shards) followed.shards.push_back({shard, epoch, real.followed.tail(shard)});
    tell_follower(process, node, followed);
  }
  turn_soon(process);
}

void Simulation::tell_follower(Process& process, std::uint32_t to, FollowerTold told) {
  if (options_.row_logs) tell_rows(process, told);
  to_peer(process, to, [this, from = process.self, told = std::move(told)](Process& there) {
    auto said = told;
    said.process = from.incarnation;
    followed(there, from.node, said);
  });
}

void Simulation::followed(Process& process, std::uint32_t from, const FollowerTold& said) {
  if (process.real->named.hear(from, said) || options_.off == Off::named_process) count(process, from, said);
}

void Simulation::receive(Process& process, const cluster::Members& members) {
  const auto changes = process.real->named.take(members);
  for (const auto node : changes.lost) forget_follower(process, node);
  for (const auto node : changes.named)
    if (const auto told = process.real->named.heard(node)) count(process, node, *told);
}

void Simulation::forget_follower(Process& process, std::uint32_t node) {
  process.real->shipping.lost(node);
  process.real->gate.lost(node);
  process.real->rows.lost(node);
}

void Simulation::count(Process& process, std::uint32_t from, const FollowerTold& said) {
  RealWriters& real = *process.real;
  cluster::QuorumGate::Reports reports;
  for (const auto& told : said.shards) {
    const auto& set = process.order.replicas(told.shard);
    if (real.shipping.followed(from, told, said.again))
      real.gate.followed(from, told.shard, told.epoch, told.tail, real.narrowed.counted(told.shard, set), reports);
    if (!options_.row_logs) continue;
    real.rows.followed(from, told.shard, told.epoch, told.rows, told.tail, set, told.rows_whole);
    check_row_log(process, told.shard);
  }
  send(process, std::move(reports));
  turn_soon(process);
}

void Simulation::say_followed(Process& process, std::optional<std::uint32_t> to, std::optional<ShardId> of,
                              bool again) {
  RealWriters& real = *process.real;
  std::map<std::uint32_t, FollowerTold> told;
  for (const auto shard : real.followed.all()) {
    const auto epoch = process.order.follows(shard);
    if (!epoch || (of && *of != shard)) continue;
    const auto& writer = real.owners.at(shard.value);
    const auto nodes =
        writer.epoch == *epoch ? std::vector<std::uint32_t>{writer.node} : process.order.replicas(shard).nodes;
    for (const auto node : nodes)
      if (node != process.self.node && (!to || *to == node))
        told[node].shards.push_back({shard, *epoch, real.followed.tail(shard)});
  }
  for (auto& [writer, followed] : told) {
    followed.again = again;
    tell_follower(process, writer, followed);
  }
}

// -- behind its inputs

void Simulation::turn_soon(Process& process) {
  if (std::exchange(process.turning, true)) return;
  network_.after(0, [this, &node = process.node, self = process.self] {
    if (!node.process || node.process->self != self) return;
    Process& here = *node.process;
    here.turning = false;
    auto& changed = here.real->tails_changed;
    while (!here.failed && !changed.empty()) {
      const auto shard = changed.extract(changed.begin()).value();
      if (!here.real->followed.holds(shard)) continue;
      const auto tail = here.real->told[shard] = here.real->followed.tail(shard);
      perform(here, here.order.shipped(shard, tail));
    }
    if (!here.failed) look_at_narrowed(here);
    if (!here.failed) read_behind(here);
    if (!here.failed && options_.row_logs) look_at_row_logs(here);
  });
}

// As of when it is read, not of when it is sent: another thread reads.
void Simulation::read_behind(Process& process) {
  RealWriters& real = *process.real;
  for (const auto& wanted : real.shipping.wanted()) {
    if (!real.reading_for.insert(wanted.node).second) continue;
    network_.after(network_.pick(3 * Network::millisecond), [this, &node = process.node, self = process.self, wanted] {
      if (!node.process || node.process->self != self) return;
      auto rows = journal_from(node, wanted.shard, wanted.from);
      const auto late = !resting_ && network_.one_in(20) ? network_.pick(2 * Network::second) : network_.pick(1'000);
      network_.after(late, [this, &node, self, wanted, rows = std::move(rows)]() mutable {
        if (!node.process || node.process->self != self || node.process->failed) return;
        Process& here = *node.process;
        here.real->reading_for.erase(wanted.node);
        ++outcome_.read_behind;
        if (const auto outgoing = here.real->shipping.read(wanted, std::move(rows))) send(here, *outgoing);
        turn_soon(here);
      });
    });
  }
}

storage::ShippedRows Simulation::journal_from(const Node& node, ShardId shard, ShardOffset from) {
  const auto& kept = node.disk.synced(shard);
  std::vector<JournalRecord> records;
  auto next = from;
  for (auto at = kept.records.find(from); at != kept.records.end() && at->first == next; ++at) {
    records.push_back(at->second);
    next = next + at->second.events.size();
    if (records.size() == 20 || network_.one_in(4)) break;
  }
  return records.empty() ? storage::ShippedRows{} : rows_of(records, kept.covered);
}

bool Simulation::waits_for_shipped(const Process& process, const sharding::Cut& cut) const {
  return process.real && std::ranges::any_of(cut.segments, [&](const sharding::Segment& segment) {
           return process.real->followed.holds(segment.shard) && process.order.keeps(segment.shard) &&
                  segment.end > process.real->followed.tail(segment.shard);
         });
}

// -- sessions between nodes

bool Simulation::to_peer(Process& process, std::uint32_t to, std::function<void(Process&)> what) {
  if (options_.links)
    return process.link->message(NodeNumber{to}, [this, what = std::move(what)](LinkEnd& at) {
      if (auto& there = nodes_[at.owner()]->process; there && !there->failed) what(*there);
    });
  const auto session = process.peers.find(to);
  if (session == process.peers.end()) return false;
  if (ghost(to, session->second)) return true;  // it answers nothing but what it is shipped
  const auto lost = [this, from = process.self, to, as = session->second] {
    if (ghost(to, as)) return;
    if (const auto& here = nodes_[from.node - 1]->process; here && here->self == from) end_session(from.node, to);
  };
  network_.send_in_session(
      process.self.node, to,
      [this, from = process.self, to, as = session->second, what = std::move(what), lost] {
        auto& there = nodes_[to - 1]->process;
        if (!there || there->self.incarnation != as || there->failed) return lost();
        const auto session = there->peers.find(from.node);
        if (session != there->peers.end() && session->second == from.incarnation) what(*there);
      },
      lost);
  return true;
}

void Simulation::peer(Process& process, std::uint32_t node, bool up) {
  if (process.failed) return;
  if (up) {
    say_followed(process, node, std::nullopt, true);
  } else {
    process.real->named.lost(node);
    forget_follower(process, node);
  }
  turn_soon(process);
}

void Simulation::begin_session(Process& process, Process& with) {
  process.peers[with.self.node] = with.self.incarnation;
  with.peers[process.self.node] = process.self.incarnation;
  peer(process, with.self.node, true);
  peer(with, process.self.node, true);
}

void Simulation::end_session(std::uint32_t a, std::uint32_t b) {
  for (const auto& [here, there] : {std::pair(a, b), std::pair(b, a)}) {
    auto& process = nodes_[here - 1]->process;
    if (process && process->peers.erase(there) != 0) peer(*process, there, false);
  }
}

// It may take a while until one notices.
void Simulation::look_at_sessions(Process& process) {
  for (const auto& node : nodes_) {
    if (node->number == process.self.node) continue;
    if (const auto with = process.peers.find(node->number);
        with != process.peers.end() && ghost(node->number, with->second)) {
      ghost_says({node->number, with->second}, process.self, true);
      continue;
    }
    auto& there = node->process;
    // The other one's session with who had this number before stands: that one cannot reach this one.
    if (const auto with = there ? there->peers.find(process.self.node) : process.peers.end();
        there && with != there->peers.end() && ghost(process.self.node, with->second))
      continue;
    const bool reached = there && !there->failed && network_.reaches(process.self.node, node->number);
    const auto session = process.peers.find(node->number);
    const bool stands = session != process.peers.end() && there && session->second == there->self.incarnation;
    if (session != process.peers.end() && (!reached || !stands)) {
      if (stands)
        end_session(process.self.node, node->number);
      else if (process.peers.erase(node->number) != 0)
        peer(process, node->number, false);
    } else if (session == process.peers.end() && reached) {
      begin_session(process, *there);
    }
  }
}

// -- disks that are lost

namespace {

/// Whether `other` has everything of the shard that `from` has, synced.
bool has_all_of(const SimulatedDisk& other, const SimulatedDisk& from, ShardId shard) {
  const auto& there = other.synced(shard);
  return std::ranges::all_of(from.synced(shard).records, [&](const auto& record) {
    for (std::uint32_t i = 0; i != record.second.events.size(); ++i)
      if (there.at(record.first + i) != EventAt{record.second.append, record.second.events[i]}) return false;
    return true;
  });
}

}  // namespace

// A disk counts again when nothing that any other one has is missing on it.
void Simulation::look_at_broken() {
  const auto& log = log_.state();
  for (auto& node : nodes_) {
    if (!node->broken || node->away) continue;
    bool whole = true;
    for (std::uint16_t s = 0; s != options_.shards && whole; ++s) {
      const ShardId shard{s};
      const auto& set = log.shards[s].replicas;
      if (!set.has(node->number)) continue;
      const auto& kept = node->disk.synced(shard);
      whole = !kept.damaged && kept.covered > log.shards[s].folded && kept.epoch == log.shards[s].epoch;
      for (const auto other : set.nodes) whole = whole && has_all_of(node->disk, nodes_[other - 1]->disk, shard);
      whole = whole && (!options_.row_logs || node->rows.shards[shard].whole);
    }
    if (!whole) continue;
    tell("node", node->number, "has everything again");
    node->broken = false;
  }
}

bool Simulation::may_break(const Node& node) {
  look_at_broken();
  if (node.broken) return false;
  const auto& log = log_.state();
  for (std::uint16_t s = 0; s != options_.shards; ++s) {
    const auto& set = log.shards[s].replicas;
    if (!set.has(node.number)) continue;
    const auto broken = static_cast<std::uint32_t>(
        std::ranges::count_if(set.nodes, [&](std::uint32_t of) { return nodes_[of - 1]->broken; }));
    if (broken + 1 >= set.quorum) return false;
  }
  return std::ranges::any_of(log.shards, [](const auto& shard) { return !shard.replicas.nodes.empty(); });
}

// Emptied, an old copy, or filled from another replica before its process starts.
void Simulation::replace_disk(Node& node) {
  if (right_log_ || !may_break(node)) return;
  if (node.process && !node.process->failed && !options_.links && network_.one_in(2)) {
    leave_ghost(*node.process);
    network_.after(network_.pick(Network::second / 2), [this, &node] {
      if (!resting_ && !node.away) start(node);
    });
  }
  crash(node);
  for (std::uint16_t s = 0; s != options_.shards; ++s)
    for (const auto& [first, record] : node.disk.synced(ShardId{s}).records)
      for (std::uint32_t i = 0; i != record.events.size(); ++i)
        node.had[ShardId{s}][first + i] = {record.append, record.events[i]};
  node.broken = true;
  node.rows = {};
  node.took_off.clear();
  node.taken.clear();
  node.verified.clear();
  node.broken_at = network_.now();
  ++outcome_.disk_faults;
  Node& source = *nodes_[network_.pick(nodes_.size())];
  if (node.copy && network_.one_in(2)) {
    tell("node", node.number, "gets an old copy of its disk, at cut", node.copy->state().cut);
    node.disk = *node.copy;
    node.disk.crash(node.disk.writes());
  } else if (options_.replicas == options_.nodes && !source.broken && !network_.one_in(4)) {
    node.disk = source.disk;
    node.disk.crash(node.disk.synced());
    tell("node", node.number, "is filled with the disk of node", source.number, "at cut", node.disk.state().cut);
    ++outcome_.filled;
  } else {
    tell("node", node.number, "loses its disk");
    node.disk = {};
  }
}

// -- processes that were replaced

Simulation::Ghost* Simulation::ghost(std::uint32_t node, std::uint64_t incarnation) {
  const auto found =
      std::ranges::find(ghosts_, cluster::NodeProcess{node, incarnation}, [](const auto& of) { return of->self; });
  return found == ghosts_.end() ? nullptr : found->get();
}

// Its sessions with the other nodes stand, and with no coordinator: frozen when its disk was given up, it thaws now.
void Simulation::leave_ghost(const Process& process) {
  auto ghost = std::make_unique<Ghost>(Ghost{process.self, {}});
  const auto& disk = process.node.disk;
  for (const auto& [id, shard] : disk.state().shards) {
    if (!process.real->followed.holds(id) || process.order.follows(id) == std::nullopt) continue;
    ghost->shards[id] = {*process.order.follows(id), disk.synced(id).tail};
  }
  tell("process", process.self.incarnation, "of node", process.self.node, "goes on, with the disk that it had");
  ++outcome_.ghosts;
  ghosts_.push_back(std::move(ghost));
  // What it says matters where nobody else has what is written.
  if (Node& other = *nodes_[network_.pick(nodes_.size())]; other.number != process.self.node && !network_.one_in(3))
    cut_off(other);
  network_.after(Network::second + network_.pick(3 * Network::second), [this, self = process.self] {
    tell("process", self.incarnation, "of node", self.node, "ends");
    std::erase_if(ghosts_, [&](const auto& of) { return of->self == self; });
  });
}

// It takes what joins on, and says so at once.
void Simulation::ship_to_ghost(const Process& from, cluster::NodeProcess to, const Ship& ship) {
  network_.after(network_.pick(5 * Network::millisecond), [this, from = from.self, to, ship] {
    Ghost* there = ghost(to.node, to.incarnation);
    if (there == nullptr) return;
    for (const auto& [epoch, rows] : ship.shards) {
      const auto followed = there->shards.find(rows.shard);
      if (followed == there->shards.end() || followed->second.epoch != epoch || followed->second.tail != rows.first)
        continue;
      followed->second.tail = rows.end;
      tell("process", to.incarnation, "of node", to.node, there->replaced ? "which was replaced" : "", "takes shard",
           rows.shard, "up to offset", rows.end);
      if (there->replaced) continue;  // else this disk is the node's, as far as anybody knows
      for (const auto& row : rows.records) {
        const auto& record = shipped_records_.at(std::stoull(row.bytes));
        for (std::uint32_t i = 0; i != record.events.size(); ++i)
          nodes_[to.node - 1]->had[rows.shard][row.first + i] = {record.append, record.events[i]};
      }
    }
    ghost_says(to, from, false);
  });
}

void Simulation::ghost_says(cluster::NodeProcess self, cluster::NodeProcess to, bool again) {
  const Ghost* there = ghost(self.node, self.incarnation);
  FollowerTold told{{}, again, self.incarnation};
  for (const auto& [id, shard] : there->shards) told.shards.push_back({id, shard.epoch, shard.tail, {}, false});
  outcome_.ghosts_unheard += there->replaced ? 1 : 0;
  network_.after(network_.pick(5 * Network::millisecond), [this, self, to, told] {
    Process* process = nodes_[to.node - 1]->process.get();
    if (process == nullptr || process->self != to || process->failed || !process->real) return;
    const auto session = process->peers.find(self.node);
    if (session != process->peers.end() && session->second == self.incarnation) followed(*process, self.node, told);
  });
}

// -- judged

// I-TakenBack: what was taken off comes back only when the new writer ships it.
void Simulation::wrote(Process& process, const JournalRecord& record) {
  if (!replicated()) return;
  Node& node = process.node;
  if (const auto off = node.took_off.find(record.shard); off != node.took_off.end() && record.epoch < off->second)
    throw Broken("I-TakenBack", name(node.number) + " writes offset " + digits(record.first) + " of " +
                                    name(record.shard) + " under epoch " + digits(record.epoch) +
                                    ", and has taken off what was behind the cuts under epoch " + digits(off->second));
  auto& taken = node.taken[record.shard];
  for (std::size_t i = 0; i != record.events.size(); ++i) taken.erase(record.first + i);
}

// Nor is it what cuts before that opening cover. Under the new epoch it may have been covered since: then it is
// shipped.
void Simulation::check_taken_off(const Node& node, const NodeStep::Follow& step, ShardOffset offset,
                                 EventAt event) const {
  if (node.broken) return;  // its disk counts for nobody: what it is shipped meanwhile it may be shipped again
  const auto& covered = history_.covered(step.shard);
  const auto there = covered.find(offset);
  if (there == covered.end() || there->second != event) return;
  for (const auto& [number, cut] : stored_cuts_)
    for (const auto& segment : cut.segments)
      if (segment.shard == step.shard && segment.first <= offset && offset < segment.end && segment.epoch < step.epoch)
        throw Broken("I-TakenBack", name(node.number) + " takes off offset " + digits(offset) + " of " +
                                        name(step.shard) + " under epoch " + digits(step.epoch) + ", which cut " +
                                        digits(number) + " covers under epoch " + digits(segment.epoch));
}

void Simulation::check_applied(const Process& process, const NodeStep::Apply& apply) {
  if (!replicated()) return;
  const Node& node = process.node;
  const auto& disk = node.disk.state();
  for (const auto& own : apply.own) {
    const auto shard = own.segment.shard;
    const auto& covered = history_.covered(shard);
    SimulatedDisk::Synced there;
    for (auto offset = own.segment.first; offset < own.segment.end; ++offset) {
      if (const auto of = node.taken.find(shard); of != node.taken.end() && of->second.contains(offset))
        throw Broken("I-TakenBack", name(node.number) + " gives offset " + digits(offset) + " of " + name(shard) +
                                        " its place by cut " + digits(apply.number) +
                                        ", which it had taken off and which nobody shipped again");
      const auto& records = disk.shards.at(shard).records;
      auto record = records.upper_bound(offset);
      const bool here = record != records.begin() && offset - (--record)->first < record->second.events.size();
      if (!here || EventAt{record->second.append, record->second.events[offset - record->first]} != covered.at(offset))
        throw Broken("I-Same", name(node.number) + " applies cut " + digits(apply.number) + " and has at offset " +
                                   digits(offset) + " of " + name(shard) +
                                   (here ? " append " + std::to_string(record->second.append) : " nothing") +
                                   ", which covers append " + std::to_string(covered.at(offset).append));
    }
  }
}

void Simulation::check_opened(const Process& process, ShardId shard, Epoch epoch) const {
  if (log_.state().shards[shard.value].epoch != epoch) return;  // it comes late: nobody takes what is written under it
  const auto& disk = process.node.disk.synced(shard);
  for (const auto& [offset, event] : history_.covered(shard)) {
    if (disk.at(offset) == event) continue;
    throw Broken("I-Opened", name(process.self.node) + " opens " + name(shard) + " and has not offset " +
                                 digits(offset) + ", which cuts cover, as it was ordered");
  }
  if (disk.damaged)
    throw Broken("I-Opened", name(process.self.node) + " opens " + name(shard) + ", which is damaged there");
}

// By the disks: on how many the events are that this cut gives their places, and those of shards that it gives another
// set. One that was lost counts.
void Simulation::check_quorum(const sharding::Cut& cut) const {
  const auto check = [&](ShardId shard, ShardOffset offset) {
    const auto& set = log_.state().shards[shard.value].replicas;
    const auto event = history_.covered(shard).at(offset);
    std::uint32_t have = 0;
    for (const auto node : set.nodes) {
      const Node& on = *nodes_[node - 1];
      const auto& kept = on.disk.synced(shard);
      const auto had = on.had.find(shard);
      const bool once = had != on.had.end() && had->second.contains(offset) && had->second.at(offset) == event;
      have += once || (!kept.damaged && kept.at(offset) == event);
    }
    if (have < set.quorum)
      throw Broken("I-Quorum", "cut " + digits(cut.number) + " covers offset " + digits(offset) + " of " + name(shard) +
                                   ", or gives it another set, and " + std::to_string(have) + " of " +
                                   std::to_string(set.nodes.size()) + " replicas have it");
  };
  for (const auto& segment : cut.segments)
    for (auto offset = segment.first; offset < segment.end; ++offset) check(segment.shard, offset);
  for (const auto& [shard, set] : cut.replicas)
    for (const auto& [offset, event] : history_.covered(shard)) check(shard, offset);
  check_same(false);
}

// `all`: nobody is behind; else of those who follow the newest writer.
void Simulation::check_same(bool all) const {
  const auto& log = log_.state();
  for (std::uint16_t s = 0; s != options_.shards; ++s) {
    const ShardId shard{s};
    for (const auto number_of : log.shards[s].replicas.nodes) {
      const auto& disk = nodes_[number_of - 1]->disk.synced(shard);
      if (disk.damaged) continue;
      for (const auto& [first, record] : disk.records) {
        if ((!all || nodes_[number_of - 1]->away) && disk.epoch != log.shards[s].epoch && first >= disk.covered) break;
        for (std::uint32_t i = 0; i != record.events.size(); ++i) {
          const auto right = history_.covered(shard).find(first + i);
          if (right == history_.covered(shard).end()) break;
          if (right->second != EventAt{record.append, record.events[i]})
            throw Broken("I-Same", name(number_of) + " has append " + std::to_string(record.append) + " at offset " +
                                       digits(first + i) + " of " + name(shard) + ", where cuts cover append " +
                                       std::to_string(right->second.append));
        }
      }
    }
  }
}

// -- at rest

// A minority stays away, for good.
void Simulation::come_to_rest_replicated() {
  look_at_broken();
  const auto& log = log_.state();
  for (auto& node : nodes_) {
    if (node->broken || !network_.one_in(3) || !may_break(*node)) continue;
    if (std::ranges::any_of(log.shards, [&](const auto& shard) {
          return shard.replicas.has(node->number) && shard.replicas.nodes.size() == shard.replicas.quorum;
        }))
      continue;
    tell("node", node->number, "stays away");
    crash(*node);
    node->away = node->broken = true;
  }
}

void Simulation::check_rest_replicated() {
  const auto stuck = [](const std::string& what) { throw Broken("I-Live", what); };
  const auto& log = log_.state();
  // An emptied disk is given what was folded by a node that keeps all that it keeps: here there may be none.
  const auto never_whole = [&](const Node& node) {
    return options_.replicas < options_.nodes && node.process->order.catches_up();
  };
  const auto has_quorum = [&](std::size_t shard) {
    const auto& set = log.shards[shard].replicas;
    return std::ranges::count_if(set.nodes, [&](std::uint32_t of) {
             return nodes_[of - 1]->process && !never_whole(*nodes_[of - 1]) &&
                    nodes_[of - 1]->process->order.keeps(ShardId{static_cast<std::uint16_t>(shard)}) &&
                    !nodes_[of - 1]->disk.synced(ShardId{static_cast<std::uint16_t>(shard)}).damaged;
           }) >= static_cast<std::ptrdiff_t>(set.quorum);
  };
  // Where one has none, appends over several shards wait for their parts there.
  bool all_there = true;
  for (std::uint16_t s = 0; s != options_.shards; ++s) all_there = all_there && has_quorum(s);
  check_same(true);
  if (options_.row_logs) check_row_logs_equal();
  for (const auto& node : nodes_) {
    if (!node->process) continue;
    const auto& order = node->process->order;
    tell("node", node->number, "has applied cut", order.cut(), ", knows", order.waits(), "more",
         order.catches_up() ? "and waits for history" : "");
    for (const auto& [id, shard] : node->disk.state().shards)
      tell("  shard", id, "epoch", shard.epoch, "covered", shard.covered, "tail", shard.tail, "follows",
           order.follows(id).value_or(Epoch{0}), shard.damaged ? "damaged" : "");
    auto& real = *node->process->real;
    for (const auto& [id, shard] : node->disk.state().shards) {
      if (!real.writers.is_open(id)) continue;
      const auto& set = order.replicas(id);
      std::string who;
      for (const auto of : set.nodes) who += " " + std::to_string(of);
      const auto asked = real.narrowed.asked().find(id);
      tell("  writes shard", id, "of" + who + ", quorum", set.quorum, "has it up to", real.gate.quorum_has(id, set),
           real.gate.waits(id) ? "waits" : "",
           asked == real.narrowed.asked().end()
               ? ""
               : "without " + std::to_string(asked->second.by.without) + " has up to " +
                     digits(real.gate.quorum_has(id, real.narrowed.counted(id, set))) + " of " +
                     digits(asked->second.tail) + (asked->second.said ? ", as said" : ""));
    }
    for (const auto& lag : node->process->real->shipping.lags())
      if (lag.events != 0 || !lag.heard)
        tell("node", node->number, "ships shard", lag.shard, "to node", lag.node, lag.heard ? "," : "unheard,",
             lag.events, "events behind");
  }
  for (std::uint16_t s = 0; s != options_.shards; ++s) {
    const ShardId shard{s};
    const auto owner = log.shards[s].node;
    const auto& set = log.shards[s].replicas;
    if (!has_quorum(s)) continue;
    if (owner == 0) stuck(name(shard) + " has no writer at rest");
    const Node& writer = *nodes_[owner - 1];
    if (!writer.process || !writer.process->order.writes(shard) || !writer.process->real->writers.is_open(shard))
      stuck(name(shard) + " is not open at rest");
    const auto& disk = writer.disk.state().shards.at(shard);
    if (all_there && disk.covered != disk.tail) stuck(name(shard) + " has unordered events at rest");
    for (const auto of : set.nodes) {
      const Node& node = *nodes_[of - 1];
      if (!node.process || node.disk.synced(shard).damaged || never_whole(node)) continue;
      if (!node.process->order.keeps(shard)) continue;  // it has to learn it once more: its disk was lost
      const auto& kept = node.disk.state().shards.at(shard);
      if (kept.covered != disk.covered || kept.tail != disk.tail)
        stuck(name(of) + " is behind in " + name(shard) + " at rest: cuts cover it up to offset " +
              digits(kept.covered) + ", it ends at " + digits(kept.tail) + ", its writer's at " + digits(disk.tail));
      history_.page(shard, history_.watermark(), kept.placed, name(of) + ", at rest");
    }
  }
  for (const auto& node : nodes_) {
    if (!node->process || never_whole(*node)) continue;
    if (node->process->order.cut() != log.last_cut) stuck(name(node->number) + " does not know the last cut at rest");
    if (all_there && !node->process->real->clients.empty())
      stuck("append " + std::to_string(node->process->real->clients.begin()->second) + " at " + name(node->number) +
            " has no answer at rest");
  }
}

}  // namespace evershard::simulation
