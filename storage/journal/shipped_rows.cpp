#include "evershard/storage/journal/shipped_rows.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "evershard/storage/journal/journal_appends.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/order/applied.hpp"
#include "evershard/storage/refusals.hpp"

namespace evershard::storage {
namespace {

Refused damaged(const ShippedRows& rows, const std::string& why) {
  return corrupt("rows of shard " + std::to_string(rows.shard.value) + " from offset " +
                 std::to_string(rows.first.value) + " are damaged: " + why);
}

/// The first offset that no cut applied here covers.
Result<ShardOffset> covered_end(const Rows& rows, ShardId shard) {
  const auto key = keys::covered(shard);
  const std::string_view keys_wanted[] = {key};
  auto found = rows.get(Family::state, keys_wanted);
  if (!found) return refuse(std::move(found).error());
  if (!(*found)->found(0)) return ShardOffset{1};
  const auto covered = decode_covered((*found)->value(0));
  if (!covered) return refuse(covered.error());
  return covered->end;
}

struct WaitingAt {
  ShippedRows::Row row;
  WaitingRow read;
};

Result<std::vector<WaitingAt>> waiting_from(const Rows& rows, ShardId shard, ShardOffset from) {
  std::vector<WaitingAt> waiting;
  auto cursor = rows.cursor(Family::state, {});
  for (cursor->seek(keys::waiting(shard, from)); cursor->valid(); cursor->next()) {
    auto key = keys::decode_state(cursor->key());
    if (!key) return refuse(std::move(key).error());
    if (key->kind != keys::StateKey::Kind::waiting || key->shard != shard) break;
    auto row = decode_waiting(cursor->value());
    if (!row) return refuse(std::move(row).error());
    waiting.push_back({{key->offset, std::string(cursor->value())}, std::move(*row)});
  }
  EVERSHARD_TRY(cursor->status());
  return waiting;
}

}  // namespace

Result<ReadRows> read_rows(ShippedRows rows, const sharding::TermHasher& hasher) {
  ReadRows read;
  if (rows.first.value == 0 || rows.end <= rows.first || rows.settled < rows.first || rows.settled > rows.end)
    return damaged(rows, "they are no range");
  auto least = rows.settled;
  for (const auto& row : rows.waiting) {
    if (row.first < least || row.first >= rows.end) return damaged(rows, "an append that waits is not theirs");
    auto waiting = decode_waiting(row.bytes);
    if (!waiting) return refuse(std::move(waiting).error());
    if (waiting->events == 0 || waiting->events > rows.end - row.first)
      return damaged(rows, "an append that waits goes on behind them");
    least = row.first + waiting->events;
    read.waiting.push_back(std::move(*waiting));
  }
  std::size_t used = 0;
  JournalAppends appends(
      rows.shard, hasher,
      [&](ShardOffset offset) -> const WaitingRow* {
        if (used == rows.waiting.size() || rows.waiting[used].first != offset) return nullptr;
        return &read.waiting[used++];
      },
      read.appends);
  auto offset = rows.first;
  for (const auto& row : rows.records) {
    if (row.first != offset) return damaged(rows, "a record does not join on");
    const auto record = RecordView::open(row.bytes, rows.shard, row.first);
    if (!record) return refuse(record.error());
    for (std::size_t i = 0; i != record->size(); ++i, ++offset) {
      if (offset == rows.settled && appends.left() != 0) return damaged(rows, "an append is there in part");
      const auto event = record->event(i);
      if (!event) return refuse(event.error());
      EVERSHARD_TRY(appends.take(*event, offset, offset < rows.settled));
      read.locations.push_back({rows.shard, row.first, static_cast<std::uint16_t>(i)});
    }
  }
  if (offset != rows.end) return damaged(rows, "records are missing");
  if (appends.left() != 0) return damaged(rows, "an append is there in part");
  if (used != rows.waiting.size()) return damaged(rows, "an append waits where none begins");
  read.rows = std::move(rows);
  return read;
}

Result<std::string> record_of(const Rows& rows, ShardId shard, ShardOffset first) {
  const auto key = keys::journal(shard, first);
  const std::string_view wanted[] = {key};
  auto found = rows.get(Family::journal, wanted);
  if (!found) return refuse(std::move(found).error());
  if (!(*found)->found(0))
    return corrupt("the record of shard " + std::to_string(shard.value) + " with offset " +
                   std::to_string(first.value) + " is missing");
  return std::string((*found)->value(0));
}

Result<ShippedRows> rows_from(const Rows& rows, ShardId shard, ShardOffset from, std::size_t bytes_max) {
  ShippedRows found{shard, from, from, from, {}, {}};
  const auto before = covered_end(rows, shard);
  if (!before) return refuse(before.error());
  auto waiting = waiting_from(rows, shard, std::max(from, *before));
  if (!waiting) return refuse(std::move(waiting).error());
  auto journal = rows.cursor(Family::journal, {.prefix = {}, .scan = true});
  std::size_t bytes = 0;
  std::uint32_t left = 0;  // of the append at hand: the range ends behind a whole one
  for (journal->seek_for_prev(keys::journal(shard, from)); journal->valid(); journal->next()) {
    if (bytes >= bytes_max && left == 0) break;
    auto key = keys::decode_journal(journal->key());
    if (!key) return refuse(std::move(key).error());
    if (key->shard != shard || key->offset > found.end) break;
    const auto record = RecordView::open(journal->value(), shard, key->offset);
    if (!record) return refuse(record.error());
    const auto end = key->offset + record->size();
    if (end <= found.end) break;  // what is asked for is not there
    for (auto offset = std::max(found.end, *before); offset < end; ++offset) {
      const auto event = record->event(offset - key->offset);
      if (!event) return refuse(event.error());
      if (left == 0) {
        const auto row = std::ranges::find(*waiting, offset, [](const auto& of) { return of.row.first; });
        left = row != waiting->end() ? row->read.events : event->index == 0 ? event->count : 1;
      }
      --left;
    }
    if (key->offset < found.end) {
      auto later = last_events(journal->value(), shard, key->offset, found.end - key->offset);
      if (!later) return refuse(std::move(later).error());
      found.records.push_back({found.end, std::move(*later)});
    } else {
      found.records.push_back({key->offset, std::string(journal->value())});
    }
    bytes += found.records.back().bytes.size();
    found.end = end;
  }
  EVERSHARD_TRY(journal->status());
  // What a cut has decided meanwhile waits no more.
  const auto after = covered_end(rows, shard);
  if (!after) return refuse(after.error());
  found.settled = std::clamp(*after, found.first, found.end);
  if (left != 0 && found.settled != found.end) return ShippedRows{shard, from, from, from, {}, {}};
  for (auto& [row, read] : *waiting)
    if (row.first >= found.settled && row.first < found.end) found.waiting.push_back(std::move(row));
  return found;
}

}  // namespace evershard::storage
