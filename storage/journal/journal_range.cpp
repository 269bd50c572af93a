#include "evershard/storage/journal/journal_range.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/order/applied.hpp"
#include "evershard/storage/refusals.hpp"

namespace evershard::storage {
namespace {

Result<Covered> covered_row(const Rows& rows, ShardId shard) {
  const auto key = keys::covered(shard);
  const std::string_view wanted[] = {key};
  auto row = rows.get(Family::state, wanted);
  if (!row) return refuse(std::move(row).error());
  return (*row)->found(0) ? decode_covered((*row)->value(0)) : Covered{};
}

/// Whether no event was taken off the journal, or given up, in between.
bool same_journal(const Covered& before, const Covered& after) {
  return before.followed == after.followed && before.lost == after.lost;
}

/// [after, before): no loss lies in it, and `from` does.
struct BetweenLosses {
  ShardOffset after{0};
  ShardOffset before{std::numeric_limits<std::uint64_t>::max()};
};
BetweenLosses around(ShardOffset from, const Covered& covered) {
  BetweenLosses around;
  for (const auto& lost : covered.lost) {
    if (lost.until <= from)
      around.after = std::max(around.after, lost.until);
    else
      around.before = std::min(around.before, std::max(lost.from, from));
  }
  return around;
}

struct Records {
  std::vector<ShippedRows::Row> rows;
  ShardOffset end;
  bool all = false;  ///< there are no more
};

Result<Records> read_records(const Rows& rows, ShardId shard, ShardOffset from, const BetweenLosses& bounds,
                             std::size_t bytes_max) {
  Records records{{}, from};
  std::size_t bytes = 0;
  auto journal = rows.cursor(Family::journal, {.prefix = {}, .scan = true});
  for (journal->seek_for_prev(keys::journal(shard, from));; journal->next()) {
    EVERSHARD_TRY(journal->status());
    records.all = true;
    if (!journal->valid() || records.end >= bounds.before) break;
    const auto key = keys::decode_journal(journal->key());
    if (!key) return refuse(key.error());
    if (key->shard != shard || key->offset > records.end || key->offset < bounds.after) break;
    const auto record = RecordView::open(journal->value(), shard, key->offset);
    if (!record) return refuse(record.error());
    if (key->offset + record->size() <= records.end) break;  // what `from` names is not there
    records.all = false;
    if (!records.rows.empty() && bytes >= bytes_max) break;
    auto value = std::string(journal->value());
    auto end = key->offset + record->size();
    if (end > bounds.before) {
      auto part = first_events(value, shard, key->offset, bounds.before - key->offset);
      if (!part) return refuse(std::move(part).error());
      value = *std::move(part);
      end = bounds.before;
    }
    if (key->offset < records.end) {
      auto part = last_events(value, shard, key->offset, records.end - key->offset);
      if (!part) return refuse(std::move(part).error());
      value = *std::move(part);
    }
    bytes += value.size();
    records.rows.push_back({records.end, std::move(value)});
    records.end = end;
  }
  return records;
}

Result<std::vector<ShippedRows::Row>> waiting_rows(const Rows& rows, ShardId shard, ShardOffset from, ShardOffset end) {
  std::vector<ShippedRows::Row> waiting;
  auto cursor = rows.cursor(Family::state, {});
  for (cursor->seek(keys::waiting(shard, from)); cursor->valid(); cursor->next()) {
    const auto key = keys::decode_state(cursor->key());
    if (!key) return refuse(key.error());
    if (key->kind != keys::StateKey::Kind::waiting || key->shard != shard || key->offset >= end) break;
    waiting.push_back({key->offset, std::string(cursor->value())});
  }
  EVERSHARD_TRY(cursor->status());
  return waiting;
}

/// Behind the last of the records that ends with an append.
Result<ShardOffset> last_append_end(const ShippedRows& range) {
  auto last = range.first;
  auto offset = range.first;  // where an append begins
  auto waiting = range.waiting.begin();
  for (const auto& [first, bytes] : range.records) {
    const auto record = RecordView::open(bytes, range.shard, first);
    if (!record) return refuse(record.error());
    const auto end = first + record->size();
    offset = std::max(offset, std::min(range.settled, end));
    while (offset < end) {
      std::uint64_t events = 0;
      while (waiting != range.waiting.end() && waiting->first < offset) ++waiting;
      if (waiting != range.waiting.end() && waiting->first == offset) {
        const auto row = decode_waiting(waiting->bytes);
        if (!row) return refuse(row.error());
        events = row->events;
      } else {
        const auto event = record->event(offset - first);
        if (!event) return refuse(event.error());
        events = event->count;
      }
      if (events == 0)
        return corrupt("shard " + std::to_string(range.shard.value) + ", offset " + std::to_string(offset.value) +
                       ": an append has no events");
      offset = offset + events;
    }
    if (offset == end) last = end;
  }
  return last;
}

void end_with(ShippedRows& range, ShardOffset end) {
  while (!range.records.empty() && range.records.back().first >= end) range.records.pop_back();
  while (!range.waiting.empty() && range.waiting.back().first >= end) range.waiting.pop_back();
  range.end = end;
  range.settled = std::min(range.settled, end);
}

}  // namespace

// Cuts are applied meanwhile, and erase the rows of what waited: they say so after the records and these rows were
// read, not before. What was taken off meanwhile is read once more.
Result<ShippedRows> journal_range(const Rows& rows, ShardId shard, ShardOffset from, std::size_t bytes_max) {
  for (;;) {
    const auto before = covered_row(rows, shard);
    if (!before) return refuse(before.error());
    auto records = read_records(rows, shard, from, around(from, *before), bytes_max);
    if (!records) return refuse(std::move(records).error());
    auto waiting = waiting_rows(rows, shard, from, records->end);
    if (!waiting) return refuse(std::move(waiting).error());
    const auto covered = covered_row(rows, shard);
    if (!covered) return refuse(covered.error());
    if (!same_journal(*before, *covered)) continue;

    ShippedRows range{shard, from, records->end, from, std::move(records->rows), {}};
    range.settled = std::clamp(std::max(covered->end, covered->settled), range.first, range.end);
    for (auto& row : *waiting)
      if (row.first >= range.settled) range.waiting.push_back(std::move(row));
    const auto end = last_append_end(range);
    if (!end) return refuse(end.error());
    if (*end == from && !records->all) {  // one append is larger
      bytes_max = std::max<std::size_t>(range.bytes(), bytes_max) * 2;
      continue;
    }
    if (*end != range.end && records->all)
      return corrupt("the journal of shard " + std::to_string(shard.value) + " ends before offset " +
                     std::to_string(range.end.value) + ", within an append");
    end_with(range, *end);
    return range;
  }
}

Result<void> take_off(const Rows& rows, ShardId shard, ShardOffset begins, ShardOffset from, RowSink& sink) {
  auto journal = rows.cursor(Family::journal, {.prefix = {}, .scan = true});
  journal->seek_for_prev(keys::journal(shard, from));
  if (!journal->valid()) journal->seek(keys::journal(shard, from));
  for (;; journal->next()) {
    EVERSHARD_TRY(journal->status());
    if (!journal->valid()) break;
    const auto key = keys::decode_journal(journal->key());
    if (!key) return refuse(key.error());
    if (key->shard < shard || (key->shard == shard && key->offset < begins)) continue;
    if (key->shard != shard) break;
    if (key->offset >= from) {
      sink.erase(Family::journal, journal->key());
      continue;
    }
    const auto record = RecordView::open(journal->value(), shard, key->offset);
    if (!record) return refuse(record.error());
    if (key->offset + record->size() <= from) continue;
    const auto part = first_events(journal->value(), shard, key->offset, from - key->offset);
    if (!part) return refuse(part.error());
    sink.put(Family::journal, journal->key(), *part);
  }
  const auto waiting = waiting_rows(rows, shard, from, ShardOffset{std::numeric_limits<std::uint64_t>::max()});
  if (!waiting) return refuse(waiting.error());
  for (const auto& row : *waiting) sink.erase(Family::state, keys::waiting(shard, row.first));
  return {};
}

}  // namespace evershard::storage
