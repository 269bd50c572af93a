#include "tests/simulation/disk.hpp"

#include <algorithm>

#include "evershard/protocol/check.hpp"

namespace evershard::simulation {

void SimulatedDisk::write(Write write) {
  follow(write);
  writes_.push_back(std::move(write));
  cuts_.push_back(state_.cut);
}

void SimulatedDisk::crash(std::size_t writes) {
  EVERSHARD_CHECK(writes >= synced_ && writes <= writes_.size(), "what was synced survives");
  writes_.resize(writes);
  cuts_.resize(writes);
  state_ = {};
  for (const Write& write : writes_) follow(write);
  synced_ = writes_.size();  // who opens it flushes what was recovered
}

void SimulatedDisk::follow(const Write& write) {
  if (const auto* record = std::get_if<JournalRecord>(&write)) {
    DiskShard& shard = state_.shards[record->shard];
    shard.records[record->first] = *record;
    shard.tail = std::max(shard.tail, record->first + record->events.size());
    return;
  }
  const auto& apply = std::get<cluster::NodeStep::Apply>(write);
  for (const auto& opening : apply.openings) {
    DiskShard& shard = state_.shards[opening.shard];
    shard.epoch = opening.epoch;
    if (!opening.loses()) continue;
    shard.covered = shard.tail = opening.lost_until;
    shard.damaged = false;
    shard.records.erase(shard.records.lower_bound(opening.lost_from), shard.records.end());
  }
  for (const auto& own : apply.own) {
    DiskShard& shard = state_.shards[own.segment.shard];
    auto position = own.first_position;
    for (auto offset = own.segment.first; offset < own.segment.end; ++offset) {
      if (std::ranges::count(own.segment.refused, offset) != 0) continue;
      auto record = shard.records.upper_bound(offset);
      if (record != shard.records.begin() && offset - (--record)->first < record->second.events.size())
        shard.placed[position] = {record->second.append, record->second.events[offset - record->first]};
      ++position;
    }
    shard.covered = own.segment.end;
  }
  for (const ShardId shard : apply.damaged) state_.shards[shard].damaged = true;
  state_.cut = apply.number;
  state_.watermark = apply.watermark;
}

}  // namespace evershard::simulation
