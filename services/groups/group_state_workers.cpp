// GroupState's workers: who has which share, who comes and who goes.

#include <algorithm>
#include <limits>

#include "evershard/services/groups/group_state.hpp"

namespace evershard::actors {
namespace {

/// Source: splitmix64's finalizer.
std::uint64_t mixed(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ull;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

Refused no_worker(GroupWorkerId worker) {
  return refuse(ErrorCode::not_found,
                "worker " + std::to_string(worker) +
                    " is not in the group: nothing was heard of it for as long as a lease, or it was dropped");
}

}  // namespace

/// Rendezvous hashing: when a worker comes or goes, only its own share moves. Of a global order: the one that has been
/// there longest.
GroupWorkerId GroupState::owner_of(std::uint64_t lane) const {
  if (workers_.empty()) return 0;
  if (settings_.order == GroupOrder::global) return workers_.begin()->first;
  GroupWorkerId owner = 0;
  std::uint64_t best = 0;
  for (const auto& [id, worker] : workers_) {
    const auto weight = mixed(lane ^ mixed(id + 0x9e3779b97f4a7c15ull));
    if (owner != 0 && weight <= best) continue;
    owner = id;
    best = weight;
  }
  return owner;
}

GroupWorkerId GroupState::join(std::string name, std::uint32_t credit, GroupTime now) {
  see(now);
  const auto id = ++last_worker_;
  workers_.emplace(id, Worker{.name = std::move(name), .credit = credit, .heard = now_});
  refresh_all();
  return id;
}

Result<void> GroupState::heard(GroupWorkerId worker, GroupTime now) {
  see(now);
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return no_worker(worker);
  found->second.heard = now_;
  return {};
}

Result<void> GroupState::renew(GroupWorkerId worker, std::span<const GlobalPosition> positions, GroupTime now) {
  EVERSHARD_TRY(heard(worker, now));
  const auto ends = now_ + settings_.lease.count();
  const auto& in_flight = workers_.at(worker).in_flight;
  if (positions.empty()) {
    for (const auto position : in_flight) set_timer(entries_.find(position), ends);
    return {};
  }
  Result<void> all;
  for (const auto position : positions) {
    if (in_flight.contains(position.value))
      set_timer(entries_.find(position.value), ends);
    else
      all = refuse(ErrorCode::fenced,
                   "position " + std::to_string(position.value) + " is no longer with this worker: its lease ran out");
  }
  return all;
}

// Others lie in its buffer, and no handler has seen them. One that is lost before it said anything at all broke down on
// the first one, most likely.
bool GroupState::counts(const Entry& entry) const {
  const auto& worker = workers_.at(entry.worker);
  if (entry.begun || worker.began) return entry.begun;
  return std::ranges::all_of(worker.in_flight,
                             [&](std::uint64_t other) { return entries_.at(other).delivery >= entry.delivery; });
}

void GroupState::expire(Entries::iterator entry, bool counts, std::string_view reason, std::int64_t wall_ms) {
  ++counters_.expired;
  if (counts) return fail(entry, reason, {}, wall_ms);
  const auto lane = entry->second.lane;
  land(entry);
  refresh(lane);
}

void GroupState::remove_worker(std::map<GroupWorkerId, Worker>::iterator worker) {
  const auto id = worker->first;
  workers_.erase(worker);
  refresh_all();  // what was ready for it has another owner now
  ready_.erase(id);
}

void GroupState::leave(GroupWorkerId worker, GroupTime now) {
  see(now);
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return;
  const auto in_flight = found->second.in_flight;
  for (const auto position : in_flight) land(entries_.find(position));
  remove_worker(found);
}

void GroupState::lose(GroupWorkerId worker, GroupTime now, std::int64_t wall_ms) {
  see(now);
  const auto found = workers_.find(worker);
  if (found == workers_.end()) return;
  std::vector<std::pair<std::uint64_t, bool>> in_flight;  // all are judged before the first goes
  for (const auto position : found->second.in_flight) in_flight.emplace_back(position, counts(entries_.at(position)));
  for (const auto& [position, counted] : in_flight)
    expire(entries_.find(position), counted, "not settled: its worker was lost", wall_ms);
  remove_worker(found);
}

std::vector<GroupWorkerFigures> GroupState::worker_figures() const {
  std::map<GroupWorkerId, GroupWorkerFigures> figures;
  for (const auto& [id, worker] : workers_)
    figures[id] = {id, worker.name, worker.credit, worker.in_flight.size(), 0, {}, worker.acknowledged};
  if (!figures.empty()) {
    for (const auto& [number, lane] : lanes_) {
      auto& one = figures.at(owner_of(number));
      one.share += lane.positions.size();
      const auto first = lane.positions.empty() ? std::numeric_limits<std::uint64_t>::max() : *lane.positions.begin();
      if (one.oldest.value == 0 || first < one.oldest.value) one.oldest = GlobalPosition(first);
    }
  }
  std::vector<GroupWorkerFigures> all;
  for (auto& [id, one] : figures) all.push_back(std::move(one));
  return all;
}

}  // namespace evershard::actors
