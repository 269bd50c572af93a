#include "evershard/storage/journal/staging.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "evershard/protocol/check.hpp"
#include "evershard/storage/journal/append_reader.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/records.hpp"

namespace evershard::storage {
namespace {

Applied applied_at(const sharding::OrderState& start) {
  Applied applied;
  applied.number = start.last_cut;
  applied.watermark = start.watermark;
  applied.coordinator = start.coordinator;
  for (std::size_t i = 0; i < start.shards.size(); ++i)
    if (start.shards[i].epoch != Epoch{1})
      applied.epochs.emplace_back(ShardId{static_cast<std::uint16_t>(i)}, start.shards[i].epoch);
  return applied;
}

/// Rows for followers, beside those that are written.
class MadeRows final : public RowSink {
 public:
  explicit MadeRows(RowSink& sink) : sink_(sink) {}
  void put(Family family, std::string_view key, std::string_view value) override {
    sink_.put(family, key, value);
    if (family == Family::journal) {
      const auto at = keys::decode_journal(key);
      EVERSHARD_CHECK(at.has_value(), "a key that was made is one");
      add(at->shard, &ShippedRows::records, at->offset, value);
    } else {
      const auto at = keys::decode_state(key);
      EVERSHARD_CHECK(at && at->kind == keys::StateKey::Kind::waiting, "an append brings a row that waits, or none");
      add(at->shard, &ShippedRows::waiting, at->offset, value);
    }
  }
  void erase(Family family, std::string_view key) override { sink_.erase(family, key); }

  void give(std::vector<ShippedRows>& made) {
    for (auto& [shard, rows] : shards_) {
      rows.shard = shard;
      rows.first = rows.settled = rows.end = rows.records.front().first;
      for (const auto& record : rows.records) {
        EVERSHARD_CHECK(record.first == rows.end, "a node's journal has no gap within a batch");
        rows.end = record.first + RecordView::open(record.bytes, shard, record.first).value().size();
      }
      made.push_back(std::move(rows));
    }
  }

 private:
  void add(ShardId shard, std::vector<ShippedRows::Row> ShippedRows::*rows, ShardOffset first, std::string_view bytes) {
    (shards_[shard].*rows).push_back({first, std::string(bytes)});
  }
  RowSink& sink_;
  std::map<ShardId, ShippedRows> shards_;
};

}  // namespace

Staging::Staging(const sharding::OrderState& start, std::vector<ShardOffset> journal_ends, Unordered unordered,
                 std::size_t record_bytes, std::map<ShardId, Covered> covered, RefusedRows refused)
    : journal_(std::move(journal_ends), record_bytes),
      unordered_(std::move(unordered)),
      applied_(applied_at(start)),
      covered_(std::move(covered)),
      refused_(std::move(refused)) {}

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
  journal_.finish(sink);

  for (const auto& placed : batch.appends)
    if (!placed.append->snapshots.empty()) stage_snapshots(placed, batch, sink, snapshots);
  for (const auto& placed : batch.snapshots) snapshots.write(placed.snapshot, placed.position, Timestamp::now(), sink);
  for (const auto& write : batch.state) {
    if (write.value)
      sink.put(Family::state, write.key, *write.value);
    else
      sink.erase(Family::state, write.key);
  }
  for (const auto& going : batch.snapshots_to_go) snapshots.remove(going, Timestamp::now(), sink);
  for (const auto& rewrite : batch.rewrites) sink.put_again(rewrite.shard, rewrite.record, rewrite.bytes);
  if (batch.cut) {
    EVERSHARD_CHECK(tail.next() == batch.cut->last_position() + 1, "every event of the cut is in the tail");
    put_order(*batch.cut, sink);
  }
}

void Staging::stage_journal(const JournalBatch& batch, std::vector<ShippedRows>* made, RowSink& sink) {
  MadeRows also(sink);
  RowSink& own = made == nullptr ? sink : also;
  for (const auto& journaled : batch.appends) journal(journaled, own);
  journal_.finish(own);
  unordered_.end_batch();
  if (made != nullptr) also.give(*made);
  for (const ReadRows* shipped : batch.shipped) take_shipped(*shipped, sink);
}

void Staging::take_shipped(const ReadRows& read, RowSink& sink) {
  const auto& rows = read.rows;
  EVERSHARD_CHECK(rows.first == journal_.next(rows.shard), "what is shipped joins on to what is there");
  for (const auto& [first, bytes] : rows.records) sink.put(Family::journal, keys::journal(rows.shard, first), bytes);
  for (std::size_t i = 0; i < rows.waiting.size(); ++i) {
    sink.put(Family::state, keys::waiting(rows.shard, rows.waiting[i].first), rows.waiting[i].bytes);
    unordered_.add(rows.shard, rows.waiting[i].first, read.waiting[i]);
  }
  auto location = read.locations.begin();
  for (const auto& append : read.appends) {
    for (std::size_t i = 0; i < append.append.events.size(); ++i, ++location)
      unordered_.add(tail_event(append, i, *location));
  }
  EVERSHARD_CHECK(location == read.locations.end(), "each event has its location");
  unordered_.end_batch();
  journal_.go_on_at(rows.shard, rows.end);
  auto& row = covered_[rows.shard];
  if (rows.settled <= std::max(rows.first, row.end)) return;
  row.settled = rows.settled;
  put_covered(rows.shard, row, sink);
}

ShardOffset Staging::stage_take_off(ShardId shard, ShardOffset from, Epoch followed, RowSink& sink) {
  auto& row = covered_[shard];
  EVERSHARD_CHECK(from >= row.end, "what cuts cover stays");
  unordered_.give_up(shard, from);
  if (from < journal_.next(shard)) journal_.go_on_at(shard, from);
  row.followed = followed;
  row.settled = std::min(row.settled, from);
  put_covered(shard, row, sink);
  return row.begins();
}

void Staging::put_covered(ShardId shard, Covered& row, RowSink& sink) {
  if (row.settled <= row.end) row.settled = ShardOffset{0};
  sink.put(Family::state, keys::covered(shard), encode_covered(row));
}

void Staging::stage_cut(const sharding::Cut& cut, const std::vector<ShardId>& damaged,
                        const std::vector<ShardId>& holes, TailIndex& tail, RowSink& sink, SnapshotSlots& snapshots) {
  // The log gives up cuts that name no shard of this node: it is told of them as one, of positions elsewhere.
  EVERSHARD_CHECK(cut.number > applied_.number, "cuts are applied in the order of their numbers");
  EVERSHARD_CHECK(cut.first_position == applied_.watermark + 1, "positions are dense");
  EVERSHARD_CHECK(tail.next() == cut.first_position, "the tail takes the next position");
  // Where cuts before it were folded, what they gave to others comes first: among that is what was lost.
  auto lost_up_to = cut.first_position - 1;
  if (cut.number != applied_.number + 1 && !cut.segments.empty() && cut.segments.front().is_elsewhere())
    lost_up_to = lost_up_to + cut.segments.front().events();
  for (const auto& opening : cut.openings) {
    if (opening.loses()) give_up(opening, lost_up_to, sink);
  }
  auto position = cut.first_position;
  std::map<ShardId, ShardOffset> ends;
  for (const auto& segment : cut.segments) {
    if (segment.is_elsewhere()) {
      tail.add(entries_);
      entries_.clear();
      tail.skip(segment.events());
      position = position + segment.events();
      continue;
    }
    const auto before = placed_.size();
    unordered_.take(segment, placed_);
    for (auto i = before; i < placed_.size(); ++i, ++position) {
      placed_[i].event.position = position;
      entries_.push_back(placed_[i].event);
    }
    ends[segment.shard] = segment.end;
  }
  for (const auto& [shard, end] : ends) {
    settle_waiting(shard, end, sink, snapshots);
    covered_[shard].end = end;
    put_covered(shard, covered_[shard], sink);
  }
  for (const ShardId shard : damaged) {
    auto& row = covered_[shard];
    if (std::exchange(row.damaged, true)) continue;
    // What was missed before has its positions before this cut's.
    row.whole_to = std::ranges::find(holes, shard) == holes.end() ? cut.first_position - 1 : GlobalPosition{0};
    put_covered(shard, row, sink);
  }
  tail.add(entries_);
  entries_.clear();
  placed_.clear();
  EVERSHARD_CHECK(tail.next() == cut.last_position() + 1, "every position of the cut is in the tail");
  put_order(cut, sink);
}

/// What the disk has of the shard from the loss on goes, and it goes on where the cuts end. What has its places there
/// is in indexes that are being read and sealed: it goes when the store is opened again, and nobody reads the shard
/// before.
void Staging::give_up(const sharding::Opening& opening, GlobalPosition up_to, RowSink& sink) {
  auto& row = covered_[opening.shard];
  const auto from = std::min(row.end, opening.lost_from);
  const auto given_up = unordered_.give_up(opening.shard);
  for (const ShardOffset record : given_up.records) {
    if (record >= from) sink.erase(Family::journal, keys::journal(opening.shard, record));
  }
  for (const ShardOffset first : given_up.waiting) sink.erase(Family::state, keys::waiting(opening.shard, first));
  journal_.go_on_at(opening.shard, opening.lost_until);
  // What is known of a disk that is not damaged is how far its cuts were applied, not which of them named the shard.
  const auto after = row.damaged ? row.whole_to : GlobalPosition{0};
  if (row.has_placed(from)) row.gone_from = row.gone_from.value == 0 ? from : std::min(row.gone_from, from);
  row.lost.push_back({from, opening.lost_until, after, up_to, opening.epoch});
  row.damaged = false;
  row.whole_to = GlobalPosition{0};
  row.end = opening.lost_until;
  row.settled = ShardOffset{0};  // nothing is there
  put_covered(opening.shard, row, sink);
}

/// Of one append of several shards' events in turn, a cut has several segments of one shard.
void Staging::settle_waiting(ShardId shard, ShardOffset end, RowSink& sink, SnapshotSlots& snapshots) {
  for (const auto& [first, row] : unordered_.take_waiting(shard, end)) {
    EVERSHARD_CHECK(first + row.events <= end, "a cut covers whole appends");
    sink.erase(Family::state, keys::waiting(shard, first));
    for (const auto& waiting : row.snapshots) {
      const auto placed = std::ranges::find_if(placed_, [&](const auto& p) {
        return p.event.location.shard == shard && p.event.location.offset() == waiting.event;
      });
      if (placed != placed_.end()) snapshots.write(waiting.snapshot, placed->event.position, row.appended_at, sink);
    }
  }
}

void Staging::place(const PlacedAppend& placed, const CommitBatch& batch, RowSink& sink) {
  const auto& append = *placed.append;
  EVERSHARD_CHECK(placed.first_event + append.events.size() <= batch.events.size(),
                  "an append's events are in its batch");
  for (std::size_t i = 0; i < append.events.size(); ++i) {
    const auto& place = batch.events[placed.first_event + i];
    auto entry = add_record(append, i, place.offset, place.seq_nr, sink);
    entry.position = placed.first_position + i;
    entries_.push_back(entry);
  }
}

TailEvent Staging::add_record(const EncodedAppend& append, std::size_t i, ShardOffset offset, SeqNr seq_nr,
                              RowSink& sink) {
  const auto& event = append.events[i];
  TailEvent entry;
  entry.location = journal_.add(event.shard, offset, append.body_of(event), event.body_hash, seq_nr, event.state, sink);
  entry.id = event.id;
  entry.command = append.command_of(i);
  entry.request = append.request_of(i);
  entry.terms = append.terms_of(event);
  entry.seq_nr = seq_nr;
  if (event.aggregate != EncodedEvent::no_aggregate) {
    const auto& aggregate = append.aggregates[event.aggregate];
    // The own aggregate's term stands last and is the stream's: a stream needs no postings.
    entry.terms = entry.terms.first(entry.terms.size() - 1);
    entry.stream = aggregate.stream;
    entry.aggregate_text = aggregate.text;
  }
  return entry;
}

void Staging::journal(const JournalAppend& journaled, RowSink& sink) {
  const auto& append = *journaled.append;
  const auto& place = *journaled.place;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> last_of;  // an aggregate, its last event here: its snapshot's
  std::uint32_t events = 0;
  for (std::size_t i = 0; i < append.events.size(); ++i) {
    const auto& event = append.events[i];
    if (event.shard != place.shard) continue;
    EVERSHARD_CHECK(events < place.events(), "a place has all of the append's events of its shard");
    unordered_.add(add_record(append, i, place.first + events, place.seq_nrs[events], sink));
    if (!append.snapshots.empty() && event.aggregate != EncodedEvent::no_aggregate) {
      const auto known = std::ranges::find(last_of, event.aggregate, [](const auto& pair) { return pair.first; });
      if (known == last_of.end())
        last_of.emplace_back(event.aggregate, events);
      else
        known->second = events;
    }
    ++events;
  }
  EVERSHARD_CHECK(events != 0 && events == place.events(),
                  "a place has the append's events of its shard, and no others");
  EVERSHARD_CHECK(place.tentative || (place.conditions.empty() && !place.part),
                  "what has a condition or is a part is tentative");

  WaitingRow row;
  row.events = events;
  row.tentative = place.tentative;
  row.conditions = place.conditions;
  row.part = place.part;
  row.appended_at = append.appended_at;
  for (const auto& encoded : append.snapshots) {
    const auto made = std::ranges::find(last_of, encoded.aggregate, [](const auto& pair) { return pair.first; });
    if (made == last_of.end()) continue;
    auto& waiting = row.snapshots.emplace_back(WaitingSnapshot{encoded.snapshot, place.first + made->second});
    waiting.snapshot.version = place.seq_nrs[made->second];
  }
  if (!row.tentative && row.snapshots.empty()) return;
  sink.put(Family::state, keys::waiting(place.shard, place.first), encode(row));
  unordered_.add(place.shard, place.first, std::move(row));
}

void Staging::put_order(const sharding::Cut& cut, RowSink& sink) {
  if (cut.events() != 0) {
    bytes_.clear();
    if (refused_.keys.empty()) {
      sharding::encode(cut, bytes_);
    } else {
      auto row = cut;
      row.segments.insert(row.segments.begin(), refused_.segments.begin(), refused_.segments.end());
      sharding::encode(row, bytes_);
      for (const auto& key : refused_.keys) sink.erase(Family::state, key);
      refused_ = {};
    }
    sink.put(Family::order, keys::order(cut.first_position), bytes_);
  } else if (!cut.segments.empty()) {  // a node's cut: its row would stand where the next one's does
    refused_.keys.push_back(refused_key(cut.number));
    refused_.segments.insert(refused_.segments.end(), cut.segments.begin(), cut.segments.end());
    sink.put(Family::state, refused_.keys.back(), refused_row(cut));
  }
  applied_.take(cut);
  sink.put(Family::state, keys::applied(), encode(applied_));
}

void Staging::stage_snapshots(const PlacedAppend& placed, const CommitBatch& batch, RowSink& sink,
                              SnapshotSlots& snapshots) {
  const auto& append = *placed.append;
  for (const auto& encoded : append.snapshots) {
    auto snapshot = encoded.snapshot;
    auto position = placed.first_position;
    for (std::size_t i = 0; i < append.events.size(); ++i) {
      if (append.events[i].aggregate != encoded.aggregate) continue;
      snapshot.version =
          batch.events[placed.first_event + i].seq_nr;  // the last one stays: the version the append leaves
      position = placed.first_position + i;
    }
    snapshots.write(snapshot, position, append.appended_at, sink);
  }
}

}  // namespace evershard::storage
