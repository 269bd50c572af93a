#include "tests/simulation/disk.hpp"

#include <algorithm>
#include <utility>

#include "evershard/protocol/check.hpp"

namespace evershard::simulation {

void SimulatedDisk::write(Write write) {
  follow(write);
  writes_.push_back(std::move(write));
  cuts_.push_back(state_.cut);
}

void SimulatedDisk::sync(std::size_t writes) {
  for (; synced_ < writes; ++synced_) keep(writes_[synced_]);
}

const SimulatedDisk::Synced& SimulatedDisk::synced(ShardId shard) const {
  static const Synced none;
  const auto kept = kept_.find(shard);
  return kept == kept_.end() ? none : kept->second;
}

std::optional<EventAt> SimulatedDisk::Synced::at(ShardOffset offset) const {
  auto record = records.upper_bound(offset);
  if (record == records.begin() || offset - (--record)->first >= record->second.events.size()) return std::nullopt;
  return EventAt{record->second.append, record->second.events[offset - record->first]};
}

void SimulatedDisk::keep(const Write& write) {
  if (const auto* record = std::get_if<JournalRecord>(&write)) {
    Synced& kept = kept_[record->shard];
    kept.records[record->first] = *record;
    kept.tail = std::max(kept.tail, record->first + record->events.size());
  } else if (const auto* off = std::get_if<TakeOff>(&write)) {
    Synced& kept = kept_[off->shard];
    kept.records.erase(kept.records.lower_bound(off->from), kept.records.end());
    kept.tail = std::min(kept.tail, off->from);
    kept.epoch = std::max(kept.epoch, off->followed);
  } else {
    const auto& apply = std::get<cluster::NodeStep::Apply>(write);
    for (const auto* openings : {&apply.openings, &apply.followed})
      for (const auto& opening : *openings) {
        Synced& kept = kept_[opening.shard];
        kept.epoch = std::max(kept.epoch, opening.epoch);
        if (!opening.loses()) continue;
        kept.records.erase(kept.records.lower_bound(opening.lost_from), kept.records.end());
        kept.tail = kept.covered = opening.lost_until;
        kept.damaged = false;
      }
    for (const auto& own : apply.own) kept_[own.segment.shard].covered = own.segment.end;
    for (const ShardId damaged : apply.damaged) kept_[damaged].damaged = true;
  }
}

void SimulatedDisk::crash(std::size_t writes) {
  EVERSHARD_CHECK(writes >= synced_ && writes <= writes_.size(), "what was synced survives");
  writes_.resize(writes);
  cuts_.resize(writes);
  state_ = {};
  for (const Write& write : writes_) follow(write);
  sync(writes_.size());  // who opens it flushes what was recovered
}

void SimulatedDisk::forget_waiting() {
  for (Write& write : writes_) {
    auto* record = std::get_if<JournalRecord>(&write);
    if (record && record->first >= state_.shards[record->shard].covered) record->snapshots.clear();
  }
  crash(writes_.size());
}

namespace {

void take(DiskShard& shard, const JournalRecord::Snapshot& snapshot, GlobalPosition position) {
  auto& latest = shard.snapshots[snapshot.aggregate];
  if (latest.version <= snapshot.version) latest = {snapshot.version, position, snapshot.state};
  shard.bare.erase(snapshot.aggregate);
}

}  // namespace

void DiskShard::give_up(ShardOffset from) {
  records.erase(records.lower_bound(from), records.end());
  const auto first = std::ranges::find_if(offsets, [&](const auto& at) { return at.second >= from; });
  if (first == offsets.end()) return;
  const auto position = first->first;
  offsets.erase(first, offsets.end());
  placed.erase(placed.lower_bound(position), placed.end());
  versions.erase(versions.lower_bound(position), versions.end());
  for (const auto& [aggregate, snapshot] : snapshots)
    if (snapshot.position >= position) bare.insert(aggregate);
  std::erase_if(snapshots, [&](const auto& snapshot) { return snapshot.second.position >= position; });
}

void SimulatedDisk::follow(const Write& write) {
  if (const auto* record = std::get_if<JournalRecord>(&write)) {
    DiskShard& shard = state_.shards[record->shard];
    shard.records[record->first] = *record;
    shard.tail = std::max(shard.tail, record->first + record->events.size());
    if (record->at_once)
      for (const auto& snapshot : record->snapshots) take(shard, snapshot, state_.watermark);
    return;
  }
  if (const auto* off = std::get_if<TakeOff>(&write)) {
    DiskShard& shard = state_.shards[off->shard];
    shard.records.erase(shard.records.lower_bound(off->from), shard.records.end());
    shard.tail = std::min(shard.tail, off->from);
    shard.followed = std::max(shard.followed, off->followed);
    return;
  }
  const auto& apply = std::get<cluster::NodeStep::Apply>(write);
  // Positions of cuts that were folded before this one come first.
  auto before = state_.watermark;
  if (apply.number != state_.cut + 1)
    before = apply.own.empty() ? apply.watermark : apply.own.front().first_position - 1;
  for (const auto& opening : apply.openings) {
    DiskShard& shard = state_.shards[opening.shard];
    shard.epoch = opening.epoch;
    if (!opening.loses()) continue;
    shard.covered = shard.tail = opening.lost_until;
    shard.lost.emplace_back(shard.damaged ? shard.whole_to : GlobalPosition{0}, before);
    shard.damaged = false;
    shard.give_up(opening.lost_from);
  }
  for (const auto& opening : apply.followed) state_.shards[opening.shard].epoch = opening.epoch;
  for (const auto& own : apply.own) {
    DiskShard& shard = state_.shards[own.segment.shard];
    auto position = own.first_position;
    for (auto offset = own.segment.first; offset < own.segment.end; ++offset) {
      if (std::ranges::count(own.segment.refused, offset) != 0) continue;
      auto record = shard.records.upper_bound(offset);
      if (record != shard.records.begin() && offset - (--record)->first < record->second.events.size()) {
        const auto event = offset - record->first;
        shard.placed[position] = {record->second.append, record->second.events[event]};
        shard.offsets[position] = offset;
        if (record->second.real) shard.versions[position] = record->second.real->place.seq_nrs[event];
        for (const auto& snapshot : record->second.snapshots)
          if (snapshot.event == offset) take(shard, snapshot, position);
      }
      ++position;
    }
    shard.covered = own.segment.end;
  }
  for (const ShardId id : apply.damaged) {
    DiskShard& shard = state_.shards[id];
    if (!std::exchange(shard.damaged, true))
      shard.whole_to = std::ranges::count(apply.holes, id) == 0 ? state_.watermark : GlobalPosition{0};
  }
  state_.cut = apply.number;
  state_.watermark = apply.watermark;
  if (apply.led) state_.led = *apply.led;
}

}  // namespace evershard::simulation
