#include "evershard/storage/staging.hpp"

#include <algorithm>
#include <limits>

#include "evershard/protocol/check.hpp"
#include "evershard/storage/keys.hpp"

namespace evershard::storage {
namespace {

constexpr std::size_t record_events_max = std::numeric_limits<std::uint16_t>::max();  // an index in a record has two bytes

}  // namespace

Staging::Staging(const sharding::OrderState& start, std::size_t record_bytes) : record_bytes_(record_bytes), shards_(start.shards.size()) {
  applied_.number = start.last_cut;
  applied_.watermark = start.watermark;
  applied_.coordinator = start.coordinator;
  for (std::size_t i = 0; i < shards_.size(); ++i) {
    shards_[i].next = start.shards[i].next;
    if (start.shards[i].epoch != Epoch{1}) applied_.epochs.emplace_back(ShardId{static_cast<std::uint16_t>(i)}, start.shards[i].epoch);
  }
}

void Staging::stage(const CommitBatch& batch, TailIndex& tail, RowSink& sink, SnapshotSlots& snapshots) {
  if (batch.cut) {
    const auto& cut = *batch.cut;
    EVERSHARD_CHECK(cut.number == applied_.number + 1, "cuts are staged in the order of their numbers");
    EVERSHARD_CHECK(cut.first_position == applied_.watermark + 1, "positions are dense");
    EVERSHARD_CHECK(tail.next() == cut.first_position, "the tail takes the next position");
    EVERSHARD_CHECK(cut.events() == batch.events.size(), "a cut covers exactly the batch's events");
  } else {
    EVERSHARD_CHECK(batch.appends.empty() && batch.events.empty(), "events need a cut");
  }
  for (const auto& placed : batch.appends) place(placed, batch, sink);
  tail.add(entries_);
  entries_.clear();
  for (auto id : open_) finish(id, shards_[id.value], sink);
  open_.clear();

  for (const auto& placed : batch.appends)
    if (!placed.append->snapshots.empty()) stage_snapshots(placed, batch, sink, snapshots);
  for (const auto& placed : batch.snapshots) snapshots.write(placed.snapshot, placed.position, Timestamp::now(), sink);
  for (const auto& write : batch.state) {
    if (write.value)
      sink.put(Family::state, write.key, *write.value);
    else
      sink.erase(Family::state, write.key);
  }
  if (batch.cut) {
    const auto& cut = *batch.cut;
    EVERSHARD_CHECK(tail.next() == cut.last_position() + 1, "every event of the cut is in the tail");
    bytes_.clear();
    sharding::encode(cut, bytes_);
    sink.put(Family::order, keys::order(cut.first_position), bytes_);
    take_epochs(cut);
    sink.put(Family::state, keys::applied(), encode(applied_));
  }
}

void Staging::place(const PlacedAppend& placed, const CommitBatch& batch, RowSink& sink) {
  const auto& append = *placed.append;
  EVERSHARD_CHECK(placed.first_event + append.events.size() <= batch.events.size(), "an append's events are in its batch");
  TailEvent entry;
  entry.position = placed.first_position;
  for (std::size_t i = 0; i < append.events.size(); ++i, ++entry.position) {
    const auto& event = append.events[i];
    const auto& place = batch.events[placed.first_event + i];
    EVERSHARD_CHECK(event.shard.value < shards_.size(), "a shard of this store");
    auto& shard = shards_[event.shard.value];
    EVERSHARD_CHECK(place.offset >= shard.next, "offsets ascend");
    auto body = append.body_of(event);
    if (shard.open && (place.offset != shard.next || shard.builder.events() >= record_events_max ||
                       shard.builder.bytes() + body.size() > record_bytes_)) {
      finish(event.shard, shard, sink);
      shard.first = place.offset;
      shard.builder.begin(event.shard, place.offset);
      shard.open = true;
    } else if (!shard.open) {
      open_.push_back(event.shard);
      shard.first = place.offset;
      shard.builder.begin(event.shard, place.offset);
      shard.open = true;
    }
    entry.location = EventLocation{event.shard, shard.first, static_cast<std::uint16_t>(place.offset - shard.first)};
    shard.builder.add(body, event.body_hash, place.seq_nr);
    shard.next = place.offset + 1;

    entry.id = event.id;
    entry.command = append.command_of(i);
    entry.terms = append.terms_of(event);
    entry.seq_nr = place.seq_nr;
    if (event.aggregate != EncodedEvent::no_aggregate) {
      const auto& aggregate = append.aggregates[event.aggregate];
      // The own aggregate's term stands last and is the stream's: a stream needs no postings.
      entry.terms = entry.terms.first(entry.terms.size() - 1);
      entry.stream = aggregate.stream;
      entry.aggregate_text = aggregate.text;
    } else {
      entry.stream = 0;
      entry.aggregate_text = {};
    }
    entries_.push_back(entry);
  }
}

void Staging::finish(ShardId id, Shard& shard, RowSink& sink) {
  sink.put(Family::journal, keys::journal(id, shard.first), shard.builder.finish());
  shard.open = false;
}

void Staging::take_epochs(const sharding::Cut& cut) {
  applied_.number = cut.number;
  applied_.watermark = cut.last_position();
  applied_.coordinator = cut.coordinator;
  auto take = [&](ShardId shard, Epoch epoch) {
    auto at = std::ranges::lower_bound(applied_.epochs, shard, {}, [](const auto& entry) { return entry.first; });
    if (at != applied_.epochs.end() && at->first == shard)
      at->second = epoch;
    else if (epoch != Epoch{1})
      applied_.epochs.emplace(at, shard, epoch);
  };
  for (const auto& segment : cut.segments)
    if (segment.epoch != Epoch{1} || !applied_.epochs.empty()) take(segment.shard, segment.epoch);
  for (const auto& opening : cut.openings) take(opening.shard, opening.epoch);
}

void Staging::stage_snapshots(const PlacedAppend& placed, const CommitBatch& batch, RowSink& sink, SnapshotSlots& snapshots) {
  const auto& append = *placed.append;
  for (const auto& encoded : append.snapshots) {
    auto snapshot = encoded.snapshot;
    auto position = placed.first_position;
    for (std::size_t i = 0; i < append.events.size(); ++i) {
      if (append.events[i].aggregate != encoded.aggregate) continue;
      snapshot.version = batch.events[placed.first_event + i].seq_nr;  // the last one stays: the version the append leaves
      position = placed.first_position + i;
    }
    snapshots.write(snapshot, position, append.appended_at, sink);
  }
}

}  // namespace evershard::storage
