// The simulation's aggregates: loaded from a snapshot and what is behind it, as one on their owner's node would be;
// each command brings events, and now and then the next snapshot.

#include <algorithm>

#include "tests/simulation/parts.hpp"

namespace evershard::simulation {
namespace {

std::string name_of(ShardId shard, std::uint32_t aggregate) {
  return "aggregate " + std::to_string(aggregate) + " of shard " + std::to_string(shard.value);
}

}  // namespace

// A snapshot is derived from what is ordered, and from nothing else.
void Simulation::check_snapshot(const Process& process, ShardId shard, std::uint32_t aggregate,
                                const SnapshotAt& snapshot) const {
  const auto broken = [&](const std::string& why) {
    throw Broken("I-Snapshot", "node " + std::to_string(process.self.node) + " has a snapshot of version " +
                                   std::to_string(snapshot.version.value) + " of " + name_of(shard, aggregate) + why);
  };
  if (snapshot.position > process.order.watermark())
    broken(", from position " + std::to_string(snapshot.position.value) + ", and has applied cuts up to position " +
           std::to_string(process.order.watermark().value));
  const auto there = history_.folded(shard, aggregate, snapshot.position, snapshot.position - 1);
  if (there.version != snapshot.version)
    broken(", at position " + std::to_string(snapshot.position.value) + " it has version " +
           std::to_string(there.version.value));
  if (there.state != snapshot.state) broken(", which is not what its events make of it");
}

// What the product's NodeReader does for an aggregate, by the disk alone; and whether that is what folding all of it
// gives.
std::optional<Fold> Simulation::load(const Process& process, ShardId shard, std::uint32_t aggregate, GlobalPosition w) {
  if (process.order.page(shard, w) != cluster::NodeOrder::Page::answer) return std::nullopt;
  const auto found = process.node.disk.state().shards.find(shard);
  if (found == process.node.disk.state().shards.end()) return std::nullopt;
  const DiskShard& disk = found->second;
  const auto by = "node " + std::to_string(process.self.node);
  // What was given up elsewhere, by a cut that has not come here yet; behind that cut it is gone.
  bool to_hear_of_it = false;
  for (const auto& [position, event] : disk.placed) {
    const auto& lost_at = history_.sequence()[position.value - 1].lost_at;
    if (lost_at && *lost_at < process.order.watermark())
      throw Broken("I-NoSkip", by + " has position " + std::to_string(position.value) + " of shard " +
                                   std::to_string(shard.value) + ", which was given up when the watermark was " +
                                   std::to_string(lost_at->value));
    to_hear_of_it |= lost_at.has_value();
  }
  if (to_hear_of_it) return std::nullopt;

  GlobalPosition after;
  Fold loaded;
  if (const auto latest = disk.snapshots.find(aggregate); latest != disk.snapshots.end()) {
    check_snapshot(process, shard, aggregate, latest->second);
    if (latest->second.position <= w) {
      after = latest->second.position;
      loaded = {latest->second.version, latest->second.state};
      ++outcome_.loads_from_snapshots;
    }
  }
  const bool tells = !process.skip_lost && options_.off != Off::snapshot_over_loss;
  if (tells &&
      std::ranges::any_of(disk.lost, [&](const auto& range) { return range.first < w && after < range.second; })) {
    ++outcome_.loads_refused;
    return std::nullopt;
  }
  for (GlobalPosition at = after + 1; !process.skip_lost && at <= w; ++at) {
    const auto& placed = history_.sequence()[at.value - 1];
    if (placed.shard == shard && placed.lost_at)
      throw Broken("I-NoSkip", by + " loads " + name_of(shard, aggregate) + " over position " +
                                   std::to_string(at.value) + ", which was lost, and says nothing");
  }
  for (auto placed = disk.placed.upper_bound(after); placed != disk.placed.end() && placed->first <= w; ++placed) {
    const auto [append, event] = placed->second;
    if (history_.request(append).events[event].aggregate != aggregate) continue;
    loaded.take(append, event);
    if (disk.versions.at(placed->first) != loaded.version)
      throw Broken("I-Version", by + " has version " + std::to_string(disk.versions.at(placed->first).value) + " of " +
                                    name_of(shard, aggregate) + " behind version " +
                                    std::to_string(loaded.version.value - 1));
  }
  ++outcome_.loads;
  if (loaded != history_.folded(shard, aggregate, w, history_.watermark()))
    throw Broken("I-Snapshot", by + " loads " + name_of(shard, aggregate) + " up to position " +
                                   std::to_string(w.value) + " as something else than all its events make of it");
  // What was written with an event is there with it.
  const auto newest = history_.snapshot_version(shard, aggregate, process.order.watermark(),
                                                [&](GlobalPosition at) { return disk.placed.contains(at); });
  const auto latest = disk.snapshots.find(aggregate);
  if (newest.value != 0 && !disk.bare.contains(aggregate) &&
      (latest == disk.snapshots.end() || latest->second.version < newest))
    throw Broken("I-Atomic", by + " has version " + std::to_string(newest.value) + " of " + name_of(shard, aggregate) +
                                 ", and not the snapshot that was written with it");
  return loaded;
}

// At the owner, as long as it is that: a live aggregate goes with its shard.
void Simulation::command(std::uint64_t number) {
  constexpr std::uint32_t aggregates = 3;
  const ShardId shard{static_cast<std::uint16_t>(network_.pick(options_.shards))};
  const auto aggregate = static_cast<std::uint32_t>(network_.pick(aggregates));
  const auto owner = log_.state().shards[shard.value].node;
  const auto asked =
      owner != 0 && !network_.one_in(6) ? owner : 1 + static_cast<std::uint32_t>(network_.pick(nodes_.size()));
  auto& process = nodes_[asked - 1]->process;
  if (!process || process->failed) return;
  const auto w = process->order.watermark();
  if (network_.one_in(4)) (void)load(*process, shard, aggregate, GlobalPosition{network_.pick(w.value + 1)});
  const auto loaded = load(*process, shard, aggregate, w);
  if (!loaded || !process->real->writers.is_open(shard)) return;

  Request request;
  for (auto n = 1 + network_.pick(3); n != 0; --n) request.events.push_back({shard, {1 + network_.pick(5)}, aggregate});
  if (network_.one_in(3))
    request.events.push_back({ShardId{static_cast<std::uint16_t>(network_.pick(options_.shards))},
                              {1 + network_.pick(5)},
                              static_cast<std::uint32_t>(network_.pick(aggregates))});
  if (network_.one_in(3)) request.conditions.push_back({{false, {{{}, {1 + network_.pick(5)}}}}, w});
  const bool snapshot = !network_.one_in(3);
  const bool named = snapshot && network_.one_in(2);
  if (!named || network_.one_in(2))
    request.expected.push_back({shard, aggregate, ExpectedVersion::exactly(loaded->version)});
  if (snapshot) {
    Fold after = *loaded;
    for (std::uint32_t i = 0; i != request.events.size(); ++i)
      if (request.events[i].shard == shard && request.events[i].aggregate == aggregate)
        after.take(history_.requests(), i);
    request.snapshot = Request::Snapshot{shard, aggregate, after, named, history_.losses_of(shard)};
  }
  const AppendId id = history_.add(std::move(request));
  submit_real(*process, id);
  if (network_.one_in(4)) send_whole(number, id, 2);
}

}  // namespace evershard::simulation
