#include "evershard/storage/index/scan_cursor.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "evershard/storage/index/read_work.hpp"
#include "evershard/storage/index/record_fetch.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/removal_mask.hpp"

namespace evershard::storage {
namespace {

constexpr std::uint64_t event_units = 300;  ///< of spend()
constexpr std::uint64_t long_scan_events = 20'000;

bool has(const RecordView& record, ShardOffset offset) {
  return record.first() <= offset && offset - record.first() < record.size();
}

}  // namespace

ScanCursor::ScanCursor(const Rows& rows, const Walk& walk, std::optional<std::uint64_t> limit, bool whole)
    : rows_(rows),
      walk_(walk),
      at_(walk.begin()),
      whole_(whole),
      positions_(walk.range.empty() ? 0 : walk.range.last - walk.range.first + 1),
      left_(std::min(positions_, limit.value_or(std::numeric_limits<std::uint64_t>::max()))),
      long_(left_ >= long_scan_events),
      order_(rows, walk.direction, whole ? sharding::CutOf::store : sharding::CutOf::node) {}

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

/// Over what lies on other nodes, onto the run of at_.
Result<void> ScanCursor::skip_elsewhere() {
  while (positions_ != 0 && (at_ < run_.position || at_ - run_.position >= run_.count)) {
    journal_ = nullptr;
    auto run = order_.run_of(at_);
    if (!run) return refuse(std::move(run).error());
    run_ = *run;
    if (run_.is_elsewhere()) pass(walk_.forwards() ? run_.count - (at_ - run_.position) : at_ - run_.position + 1);
  }
  return {};
}

void ScanCursor::pass(std::uint64_t positions) {
  positions = std::min(positions, positions_);
  positions_ -= positions;
  at_ = walk_.forwards() ? at_ + positions : GlobalPosition{at_.value - positions};
}

/// Onto the run and record of at_.
Result<void> ScanCursor::step() {
  EVERSHARD_TRY(skip_elsewhere());
  if (positions_ == 0) return {};
  const ShardOffset offset = run_.offset + (at_ - run_.position);
  if (journal_ != nullptr && journal_->record && has(*journal_->record, offset)) return {};
  auto journal = read(run_.shard, offset);
  if (!journal) return damaged_at(at_, std::move(journal).error());
  journal_ = *journal;
  return {};
}

Result<void> ScanCursor::visit(std::size_t events_max, std::size_t bytes_max, const RecordedVisitor& visitor) {
  events_max = std::max<std::size_t>(events_max, 1);
  std::size_t taken = 0, bytes = 0;
  while (!at_end() && taken < events_max && (taken == 0 || bytes < bytes_max)) {
    auto stepped = spend(event_units);
    if (stepped) stepped = step();
    if (!stepped) {
      if (taken > 0) break;
      return stepped;
    }
    if (positions_ == 0) break;
    const ShardOffset record = journal_->record->first();
    const auto index = static_cast<std::uint16_t>(run_.offset + (at_ - run_.position) - record);
    auto view = journal_->record->event(index);
    if (!view) {
      if (taken > 0) break;
      return damaged_at(at_, std::move(view).error());
    }
    if (const auto* mask = rows_.mask()) mask->apply(*view);
    to_view(*view, at_, {run_.shard, record, index}, event_);
    bytes += bytes_of(event_);
    visitor(event_);
    ++taken;
    --left_;
    pass(1);
  }
  return {};
}

Result<std::size_t> ScanCursor::next_positions(std::size_t events_max, std::vector<GlobalPosition>& out) {
  events_max = std::max<std::size_t>(events_max, 1);
  std::size_t given = 0;
  while (given < events_max && !at_end()) {
    if (!whole_) EVERSHARD_TRY(skip_elsewhere());
    if (positions_ == 0) break;
    out.push_back(at_);
    pass(1);
    --left_;
    ++given;
  }
  return given;
}

}  // namespace evershard::storage
