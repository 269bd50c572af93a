#include "evershard/storage/scan_cursor.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "evershard/storage/keys.hpp"
#include "evershard/storage/record_fetch.hpp"

namespace evershard::storage {
namespace {

constexpr std::uint64_t long_scan_events = 20'000;

bool has(const RecordView& record, ShardOffset offset) {
  return record.first() <= offset && offset - record.first() < record.size();
}

}  // namespace

ScanCursor::ScanCursor(const Rows& rows, const Walk& walk, std::optional<std::uint64_t> limit)
    : rows_(rows),
      walk_(walk),
      at_(walk.begin()),
      left_(walk.range.empty() ? 0
                               : std::min(walk.range.last - walk.range.first + 1,
                                          limit.value_or(std::numeric_limits<std::uint64_t>::max()))),
      long_(left_ >= long_scan_events),
      order_(rows, walk.direction) {}

Result<ScanCursor::Journal*> ScanCursor::read(ShardId shard, ShardOffset offset) {
  Journal& journal = journals_[shard];
  if (journal.record && has(*journal.record, offset)) return &journal;
  if (journal.cursor == nullptr) {
    journal.prefix = keys::journal(shard, ShardOffset{0}).substr(0, sizeof(ShardId::rep));
    journal.cursor = rows_.cursor(Family::journal, {.prefix = journal.prefix, .scan = long_});
  }
  const bool neighbour =
      journal.record && (walk_.forwards() ? offset == journal.record->first() + journal.record->size()
                                          : offset + 1 == journal.record->first());
  journal.record.reset();
  RowCursor& cursor = *journal.cursor;
  if (neighbour) {
    walk_.forwards() ? cursor.next() : cursor.prev();
  } else {
    cursor.seek_for_prev(keys::journal(shard, offset));
  }
  EVERSHARD_TRY(cursor.status());
  if (!cursor.valid()) return damaged(shard, offset, "the journal has no record of it");
  auto key = keys::decode_journal(cursor.key());
  if (!key) return refuse(std::move(key).error());
  if (key->shard != shard) return damaged(shard, offset, "the journal has no record of it");
  auto record = RecordView::open(cursor.value(), shard, key->offset);
  if (!record) return refuse(std::move(record).error());
  if (!has(*record, offset)) return damaged(shard, offset, "the journal has no record of it");
  journal.record = std::move(*record);
  return &journal;
}

/// Onto the run and record of at_.
Result<void> ScanCursor::step() {
  if (at_ < run_.position || at_ - run_.position >= run_.count) {
    journal_ = nullptr;
    auto run = order_.run_of(at_);
    if (!run) return refuse(std::move(run).error());
    run_ = *run;
  }
  const ShardOffset offset = run_.offset + (at_ - run_.position);
  if (journal_ != nullptr && journal_->record && has(*journal_->record, offset)) return {};
  auto journal = read(run_.shard, offset);
  if (!journal) return refuse(std::move(journal).error());
  journal_ = *journal;
  return {};
}

Result<void> ScanCursor::next(std::size_t events_max, std::size_t bytes_max, std::vector<RecordedEvent>& out) {
  events_max = std::max<std::size_t>(events_max, 1);
  std::size_t taken = 0, bytes = 0;
  while (left_ > 0 && taken < events_max && (taken == 0 || bytes < bytes_max)) {
    if (auto stepped = step(); !stepped) {
      if (taken > 0) break;
      return stepped;
    }
    const ShardOffset record = journal_->record->first();
    const auto index = static_cast<std::uint16_t>(run_.offset + (at_ - run_.position) - record);
    auto view = journal_->record->event(index);
    if (!view) {
      if (taken > 0) break;
      return refuse(std::move(view).error());
    }
    out.push_back(to_event(*view, at_, {run_.shard, record, index}));
    bytes += bytes_of(out.back());
    ++taken;
    --left_;
    at_ = walk_.behind(at_);
  }
  return {};
}

Result<std::size_t> ScanCursor::next_positions(std::size_t events_max, std::vector<GlobalPosition>& out) {
  const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(std::max<std::size_t>(events_max, 1), left_));
  for (std::size_t i = 0; i < n; ++i, at_ = walk_.behind(at_)) out.push_back(at_);
  left_ -= n;
  return n;
}

}  // namespace evershard::storage
