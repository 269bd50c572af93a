// The simulation's row logs: what the shell around RowLogs does with states that writers keep beside the journal, and
// what is judged of it.

#include <algorithm>
#include <utility>

#include "evershard/cluster/replication/taken_snapshots.hpp"
#include "tests/simulation/parts.hpp"

namespace evershard::simulation {

using cluster::RowLogBy;
using cluster::RowLogs;

namespace {

constexpr std::uint32_t groups = 2, keys = 4;  ///< the first ones are groups', whose states have one version

}  // namespace

struct Simulation::RowPart {
  ShardId shard;
  Epoch epoch;
  storage::RowLogAt after;
  std::vector<std::pair<storage::RowLogAt, std::uint32_t>> entries{};
  std::map<std::uint32_t, RowDisk::State> states{};
  bool whole = false;
};

void Simulation::begin_row_log(Process& process, ShardId shard, Epoch epoch) {
  const auto& disk = process.node.rows.shards[shard];
  process.real->rows.begin(shard, epoch, disk.ends(), disk.whole || options_.off == Off::rows_whole);
}

void Simulation::tell_rows(const Process& process, cluster::FollowerTold& told) const {
  for (auto& shard : told.shards) {
    const auto disk = process.node.rows.shards.find(shard.shard);
    if (disk != process.node.rows.shards.end()) shard.rows = disk->second.ends();
    shard.rows_whole =
        options_.off == Off::rows_whole || (disk != process.node.rows.shards.end() && disk->second.whole);
  }
}

void Simulation::tick_row_logs(Process& process) {
  RealWriters& real = *process.real;
  real.rows.again();
  log_owed(process);
  if (!resting_) settle(process);
  if (process.order.welcomed() && std::exchange(real.learned_rows, false)) say_hello(process);
}

bool Simulation::may_settle(const Process& process, ShardId shard) const {
  const auto& real = *process.real;
  return real.writers.is_open(shard) && real.shipping.ships(shard) &&
         (options_.off == Off::rows_asked || real.rows.ready(shard));
}

// Not at once: so its process may end before.
void Simulation::log_owed(Process& process) {
  RealWriters& real = *process.real;
  for (const auto& [shard, key] : std::exchange(real.unlogged, {})) {
    if (!real.shipping.ships(shard)) continue;
    if (!may_settle(process, shard)) {
      real.unlogged.emplace(shard, key);
      continue;
    }
    log_state(process, shard, key);
    real.rows.paid(shard);
  }
}

/// As it is on this disk.
void Simulation::log_state(Process& process, ShardId shard, std::uint32_t key) {
  auto& disk = process.node.rows.shards[shard];
  const auto at = process.real->rows.next(shard);
  disk.log(key, at);
  process.real->rows.written(shard, disk.ends());
  for (auto& waiting : process.real->rows_waiting)
    if (waiting.shard == shard && waiting.key == key && options_.off != Off::rows_replaced) waiting.at = at;
}

void Simulation::settle(Process& process) {
  RealWriters& real = *process.real;
  for (std::uint16_t s = 0; s != options_.shards; ++s) {
    const ShardId shard{s};
    if (!may_settle(process, shard) || process.order.replicas(shard).quorum < 2) continue;
    for (auto left = network_.pick(3); left != 0; --left) {
      const auto key = static_cast<std::uint32_t>(network_.pick(keys));
      auto& disk = process.node.rows.shards[shard];
      const auto before = disk.states[key];
      const RowDisk::State state{key < groups ? SeqNr{1} : before.version + 1 + network_.pick(2),
                                 states_before_.size()};
      states_before_.push_back(before.number);
      const auto at = real.rows.next(shard);
      tell("node", process.self.node, "keeps state", state.number, "made of", before.number, "in shard", shard,
           "under epoch", at.epoch, "entry", at.number, "key", key);
      disk.put(key, state);
      log_state(process, shard, key);
      real.rows_waiting.push_back({shard, at, key, state});
      ++outcome_.settled;
      check_row_log(process, shard);
    }
  }
}

Simulation::RowPart Simulation::row_part(const Node& node, ShardId shard, storage::RowLogAt after) {
  RowPart part{shard, {}, after};
  const auto disk = node.rows.shards.find(shard);
  if (disk == node.rows.shards.end()) return part;
  for (auto at = disk->second.entries.upper_bound(after);
       at != disk->second.entries.end() && at->first.epoch == after.epoch; ++at) {
    part.entries.emplace_back(*at);
    if (const auto state = disk->second.states.find(at->second); state != disk->second.states.end())
      part.states.insert(*state);
    if (network_.one_in(4)) break;
  }
  return part;
}

void Simulation::look_at_row_logs(Process& process) {
  RealWriters& real = *process.real;
  for (const auto& wanted : real.rows.to_ask()) {
    to_peer(process, wanted.node, [this, wanted, self = process.self](Process& there) {
      const auto part = row_part(there.node, wanted.shard, wanted.after);
      to_peer(there, self.node, [this, wanted, part, self](Process& here) {
        if (here.self == self) take_asked_rows(here, wanted, part);
      });
    });
  }
  for (const auto& [shard, epoch] : real.rows.to_mark()) {
    process.node.rows.shards[shard].whole = true;
    real.rows.marked(shard);
  }
  for (const auto& wanted : real.rows.to_send()) {
    auto part = wanted.whole ? RowPart{wanted.shard, {}, {}} : row_part(process.node, wanted.shard, wanted.after);
    part.whole = wanted.whole;
    part.epoch = wanted.epoch;
    to_peer(process, wanted.node,
            [this, part = std::move(part), from = process.self.node](Process& there) { take_rows(there, from, part); });
  }
  for (const auto& waiting : std::exchange(real.rows_waiting, {})) {
    if (!real.writers.is_open(waiting.shard) || real.writers.epoch(waiting.shard) != waiting.at.epoch) continue;
    if (real.rows.quorum_has(waiting.shard, waiting.at,
                             real.narrowed.counted(waiting.shard, process.order.replicas(waiting.shard))))
      row_log_answered(waiting);
    else
      real.rows_waiting.push_back(waiting);
  }
}

void Simulation::take_asked_rows(Process& process, const RowLogs::Wanted& wanted, const RowPart& part) {
  RealWriters& real = *process.real;
  if (!real.rows.asks(wanted) || part.entries.empty()) return;
  const auto by = real.rows.ready(wanted.shard) ? RowLogBy::replica_late : RowLogBy::replica;
  const bool late = by == RowLogBy::replica_late;
  ++(late ? outcome_.rows_asked_late : outcome_.rows_asked);
  if (late && options_.off == Off::rows_late) return real.rows.not_taken(wanted);
  auto& disk = process.node.rows.shards[wanted.shard];
  std::set<std::uint32_t> anew;
  const auto before = disk;
  for (const auto& [at, key] : part.entries) {
    const bool newer = before.has_newer(key, at);
    const auto there = part.states.find(key);
    const auto here = before.states.find(key);
    std::optional<SeqNr> version;
    if (here != before.states.end()) version = here->second.version;
    const bool taken =
        there != part.states.end() &&
        (options_.off == Off::rows_version || cluster::takes_snapshot(by, there->second.version, version, newer));
    if (!late && (options_.off == Off::rows_owed ? !newer : taken))
      newer ? disk.log_instead(key, at) : disk.log(key, at);
    if (taken) disk.put(key, there->second);
    if (cluster::is_logged_anew(by, newer, taken) && options_.off != Off::rows_anew) anew.insert(key);
  }
  tell("node", process.self.node, "asked node", wanted.node, late ? "late" : "", "for what it has of shard",
       wanted.shard, "behind entry", wanted.after.number, "of epoch", wanted.after.epoch, "and takes",
       part.entries.size(), "entries,", anew.size(), "states are logged anew");
  for (const auto key : anew) {
    if (late)
      log_state(process, wanted.shard, key);
    else
      real.unlogged.emplace(wanted.shard, key);
  }
  if (!late && !anew.empty() && options_.off != Off::rows_owed) real.rows.owe(wanted.shard);
  real.rows.given(wanted, part.entries.back().first.number, disk.ends());
  check_row_log(process, wanted.shard);
  turn_soon(process);
}

void Simulation::take_rows(Process& process, std::uint32_t from, const RowPart& part) {
  RealWriters& real = *process.real;
  if (process.order.follows(part.shard) != part.epoch || !real.followed.holds(part.shard) ||
      real.shipping.ships(part.shard))
    return;
  auto& disk = process.node.rows.shards[part.shard];
  if (part.whole && !std::exchange(disk.whole, true))
    real.learned_rows |= process.order.replicas(part.shard).learns(process.self.node);
  if (storage::number_of(disk.ends(), part.after.epoch) == part.after.number) {
    const auto before = disk;
    for (const auto& [at, key] : part.entries) {
      disk.log(key, at);
      const auto state = part.states.find(key);
      const auto here = before.states.find(key);
      if (state == part.states.end()) continue;
      // One of a later version came to the writer with an older entry, and is with it since.
      if (!before.has_newer(key, at) || (here != before.states.end() && state->second.version > here->second.version))
        disk.put(key, state->second);
    }
  }
  cluster::FollowerTold told;
  told.shards.push_back({part.shard, part.epoch, real.followed.tail(part.shard)});
  tell_follower(process, from, std::move(told));
}

// -- judged

bool Simulation::comes_from(std::uint64_t state, std::uint64_t earlier) const {
  while (state > earlier) state = states_before_[state];
  return state == earlier;
}

void Simulation::row_log_answered(const RealWriters::RowsWaiting& written) {
  tell("state", written.state.number, "of shard", written.shard, "is answered");
  ++outcome_.settled_answered;
  auto& last = states_answered_[{written.shard, written.key}];
  if (written.key < groups && !comes_from(written.state.number, last.number) &&
      !comes_from(last.number, written.state.number))
    throw Broken("I-Rows", "states " + std::to_string(last.number) + " and " + std::to_string(written.state.number) +
                               " of shard " + std::to_string(written.shard.value) +
                               " were answered, and neither is made of the other");
  const bool later = written.key < groups ? written.state.number > last.number : written.state.version > last.version;
  if (later) last = written.state;
}

// What was answered is with the writer of the newest opening, once it has asked a quorum.
void Simulation::check_row_log(const Process& process, ShardId shard) const {
  if (!may_settle(process, shard) || process.real->writers.epoch(shard) != log_.state().shards[shard.value].epoch)
    return;
  const auto disk = process.node.rows.shards.find(shard);
  for (std::uint32_t key = 0; key != keys; ++key) {
    const auto answered = states_answered_.find({shard, key});
    if (answered == states_answered_.end()) continue;
    RowDisk::State here;
    if (disk != process.node.rows.shards.end())
      if (const auto found = disk->second.states.find(key); found != disk->second.states.end()) here = found->second;
    const auto& [version, number] = answered->second;
    if (key < groups ? comes_from(here.number, number) : here.version >= version) continue;
    throw Broken("I-Rows", "node " + std::to_string(process.self.node) + " writes shard " +
                               std::to_string(shard.value) + " and has state " + std::to_string(here.number) +
                               ", which is not made of state " + std::to_string(number) + ", which was answered");
  }
}

void Simulation::check_row_logs_equal() const {
  const auto& log = log_.state();
  for (std::uint16_t s = 0; s != options_.shards; ++s) {
    const ShardId shard{s};
    const auto owner = log.shards[s].node;
    if (owner == 0 || !nodes_[owner - 1]->process || !may_settle(*nodes_[owner - 1]->process, shard)) continue;
    const auto states_of = [&](const Node& node) {
      auto states = node.rows.shards.contains(shard) ? node.rows.shards.at(shard).states
                                                     : std::map<std::uint32_t, RowDisk::State>{};
      std::erase_if(states, [](const auto& of) { return of.second.number == 0; });
      return states;
    };
    for (const auto number : log.shards[s].replicas.nodes) {
      const Node& node = *nodes_[number - 1];
      if (!node.process || node.process->failed || node.process->order.catches_up() ||
          !node.process->order.keeps(shard) || node.disk.synced(shard).damaged)
        continue;
      if (states_of(node) != states_of(*nodes_[owner - 1]))
        throw Broken("I-Rows", "node " + std::to_string(number) + " has other states of shard " + std::to_string(s) +
                                   " than its writer, node " + std::to_string(owner) + ", at rest");
    }
  }
}

}  // namespace evershard::simulation
