#include "evershard/storage/journal/shipped_rows.hpp"

#include <utility>

#include "evershard/storage/journal/append_reader.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/refusals.hpp"

namespace evershard::storage {
namespace {

std::string range_of(const ShippedRows& rows) {
  return "rows of shard " + std::to_string(rows.shard.value) + ", offsets " + std::to_string(rows.first.value) +
         " to before " + std::to_string(rows.end.value);
}

Refused not_whole(const ShippedRows& rows, const std::string& why) {
  return corrupt(range_of(rows) + ", are not whole: " + why);
}

Result<std::vector<WaitingRow>> read_waiting(const ShippedRows& rows) {
  std::vector<WaitingRow> waiting;
  waiting.reserve(rows.waiting.size());
  auto next = rows.settled;
  for (const auto& [first, bytes] : rows.waiting) {
    const auto at = "the append that waits at offset " + std::to_string(first.value);
    if (first < next || first >= rows.end) return not_whole(rows, at + " is out of its place");
    auto row = decode_waiting(bytes);
    if (!row) return refuse(std::move(row).error());
    if (row->events > rows.end - first) return not_whole(rows, at + " ends behind them");
    next = first + row->events;
    waiting.push_back(*std::move(row));
  }
  return waiting;
}

}  // namespace

Result<ReadRows> read_rows(ShippedRows rows, const sharding::TermHasher& hasher) {
  if (rows.first.value == 0 || rows.first > rows.settled || rows.settled > rows.end)
    return not_whole(rows, "what is settled ends before offset " + std::to_string(rows.settled.value));
  auto waiting = read_waiting(rows);
  if (!waiting) return refuse(std::move(waiting).error());
  ReadRows read;
  AppendReader reader(rows.shard, hasher, rows.settled, read.appends);
  std::size_t row = 0;         // the next of those that wait
  bool waits = false;          // the append at hand
  std::uint32_t of_count = 0;  // of the append at hand: events that its first one announced
  auto offset = rows.first;
  for (const auto& [first, bytes] : rows.records) {
    if (first != offset)
      return not_whole(rows, "a record begins at offset " + std::to_string(first.value) + " instead of " +
                                 std::to_string(offset.value));
    auto record = RecordView::open(bytes, rows.shard, first);
    if (!record) return refuse(std::move(record).error());
    if (record->size() > rows.end - first)
      return not_whole(rows, "the record at offset " + std::to_string(first.value) + " ends behind them");
    for (std::size_t i = 0; i < record->size(); ++i, ++offset) {
      auto event = record->event(i);
      if (!event) return refuse(std::move(event).error());
      if (reader.begins()) {
        waits = row < waiting->size() && rows.waiting[row].first == offset;
        of_count = event->count;
      }
      const bool begins = reader.begins();
      EVERSHARD_TRY(reader.take(*event, offset, begins && waits ? &(*waiting)[row] : nullptr));
      if (begins && waits) ++row;
      const auto taken = read.appends.back().append.events.size();
      if (!waits && offset >= rows.settled && (event->index + 1 != taken || event->count != of_count))
        return not_whole(rows, "at offset " + std::to_string(offset.value) + " is event " +
                                   std::to_string(event->index) + " of " + std::to_string(event->count) +
                                   ", within an append of " + std::to_string(of_count));
      read.locations.push_back({rows.shard, first, static_cast<std::uint16_t>(i)});
    }
  }
  if (offset != rows.end) return not_whole(rows, "they end before offset " + std::to_string(offset.value));
  EVERSHARD_TRY(reader.finish(rows.end));
  if (row != waiting->size())
    return not_whole(
        rows, "an append waits at offset " + std::to_string(rows.waiting[row].first.value) + ", where there is none");
  read.waiting = *std::move(waiting);
  read.rows = std::move(rows);
  return read;
}

}  // namespace evershard::storage
