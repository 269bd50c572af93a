#include "evershard/storage/journal/journal_sum.hpp"

#include <algorithm>
#include <string>

#include "evershard/storage/journal/checksum.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/latest_snapshot.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/journal/varint.hpp"
#include "evershard/storage/order/applied.hpp"
#include "evershard/storage/refusals.hpp"

namespace evershard::storage {
namespace {

Result<ShardOffset> covered_until(const Rows& rows, ShardId shard) {
  const auto key = keys::covered(shard);
  const std::string_view wanted[] = {key};
  const auto row = rows.get(Family::state, wanted);
  if (!row) return refuse(row.error());
  if (!(*row)->found(0)) return ShardOffset{1};
  const auto covered = decode_covered((*row)->value(0));
  if (!covered) return refuse(covered.error());
  return covered->end;
}

/// Each part with its length: no two events are alike that differ.
void append_event(const EventView& event, std::string& out) {
  const auto text = [&](std::string_view part) {
    append_varint(out, part.size());
    out += part;
  };
  out += static_cast<char>(event.state);
  append_varint(out, event.seq_nr.value);
  out.append(reinterpret_cast<const char*>(event.id.bytes.data()), event.id.bytes.size());
  text(event.aggregate_type);
  text(event.aggregate_value);
  text(event.type);
  text(event.payload);
  text(bytes_if(event.metadata));  // whether there is an empty one, the content hash says
  append_varint(out, static_cast<std::uint64_t>(event.format));
  append_varint(out, static_cast<std::uint64_t>(event.occurred_at.micros));
  append_varint(out, event.index);
  append_varint(out, event.count);
  if (event.request)
    out.append(reinterpret_cast<const char*>(event.request->bytes.data()), event.request->bytes.size());
  append_varint(out, event.content_hash.value_or(0));
  text(event.command_id.value_or(std::string_view()));
  text(event.reply);
  // What is left of a removed event's tags depends on the release that removed it.
  text(event.state == EventState::removed ? std::string_view() : event.tags_bytes);
  text(event.also_bytes);
}

/// But for the times, which each disk has of its own clock. One that is damaged is as good as none.
Result<void> append_snapshot(const Rows& rows, std::string_view row, const AggregateId& aggregate, std::string& out) {
  const auto snapshot = whole_snapshot(rows, aggregate, row);
  if (!snapshot && snapshot.error().code == ErrorCode::corruption) return {};  // verify finds it, on that disk
  if (!snapshot) return refuse(snapshot.error());
  append_varint(out, snapshot->version.value);
  append_varint(out, snapshot->position.value);
  append_varint(out, static_cast<std::uint64_t>(snapshot->format));
  append_varint(out, snapshot->schema_revision);
  out += snapshot->payload;
  return {};
}

}  // namespace

Result<JournalSum> journal_sum(const Rows& rows, ShardId shard, ShardOffset from, ShardOffset until,
                               std::uint64_t events_max) {
  const auto covered = covered_until(rows, shard);
  if (!covered) return refuse(covered.error());
  const auto end = std::min({until, *covered, from + events_max});
  auto ends = row_log_ends(rows, shard);
  if (!ends) return refuse(std::move(ends).error());
  JournalSum sum{std::max(from, end), 0, *std::move(ends)};
  std::string bytes, sums;
  auto next = from;
  const auto missing = [&] {
    return corrupt("offset " + std::to_string(next.value) + " of shard " + std::to_string(shard.value) +
                   " is not in the journal");
  };
  const auto journal = rows.cursor(Family::journal, {.prefix = {}, .scan = true});
  for (journal->seek_for_prev(keys::journal(shard, from)); next < end; journal->next()) {
    EVERSHARD_TRY(journal->status());
    if (!journal->valid()) return missing();
    const auto key = keys::decode_journal(journal->key());
    if (!key) return refuse(key.error());
    if (key->shard != shard || key->offset > next) return missing();
    const auto record = RecordView::open(journal->value(), shard, key->offset);
    if (!record) return refuse(record.error());
    if (key->offset + record->size() <= next) return missing();
    for (; next < end && next < key->offset + record->size(); ++next) {
      const auto event = record->event(next - key->offset);
      if (!event) return refuse(event.error());
      bytes.clear();
      append_event(*event, bytes);
      append_fixed(sums, checksum(bytes));
    }
  }
  sum.sum = checksum(sums);
  return sum;
}

Result<JournalSum> snapshots_sum(const Rows& rows, ShardId shard) {
  auto ends = row_log_ends(rows, shard);
  if (!ends) return refuse(std::move(ends).error());
  JournalSum sums{ShardOffset{1}, 0, *std::move(ends), 0};
  std::string bytes;
  const auto prefix = row_log_prefix_of(shard);
  const auto cursor = rows.cursor(Family::state, {.prefix = prefix, .scan = true});
  for (cursor->seek(prefix); cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) {
    const auto entry = decode_row_log(shard, cursor->value());
    if (!entry) return refuse(entry.error());
    for (const auto& aggregate : entry->snapshots) {
      const auto newest = row_log_at_of(rows, aggregate);
      if (!newest) return refuse(newest.error());
      if (*newest != entry->at) continue;
      const auto key = keys::snapshot(aggregate, std::nullopt);
      const std::string_view wanted[] = {key};
      const auto row = rows.get(Family::state, wanted);
      if (!row) return refuse(row.error());
      bytes = key;
      if ((*row)->found(0)) EVERSHARD_TRY(append_snapshot(rows, (*row)->value(0), aggregate, bytes));
      *sums.snapshots += checksum(bytes);
    }
  }
  EVERSHARD_TRY(cursor->status());
  return sums;
}

}  // namespace evershard::storage
