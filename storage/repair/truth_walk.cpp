#include "evershard/storage/repair/truth_walk.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "evershard/storage/journal/keys.hpp"

namespace evershard::storage {
namespace {

constexpr std::size_t group_runs_max = 65'536;
constexpr std::uint64_t group_events_max = 262'144;
constexpr std::uint64_t shards_scanned_max = 64;  // reading ahead pays for few and long stretches
constexpr std::uint64_t single_steps_max = 4'096;

std::string number(std::uint64_t n) { return std::to_string(n); }

/// Seeks to key_of(n) for the lowest n in [from, until) whose block can be read. Returns: whether there is one.
template <class KeyOf>
bool seek_readable(RowCursor& cursor, std::uint64_t from, std::uint64_t until, KeyOf key_of) {
  std::uint64_t step = 1;
  for (std::uint64_t n = from, tries = 0; n < until; n += step, ++tries) {
    if (tries >= single_steps_max) step *= 2;
    cursor.seek(key_of(n));
    if (cursor.status()) return true;
    if (step > until - n) break;
  }
  return false;
}

/// A shard's records, one after the other, over whatever cannot be read.
class ShardRecords {
 public:
  ShardRecords(RowCursor& rows, ShardId shard, ShardOffset end) : rows_(rows), shard_(shard), end_(end) {}

  /// The record that has `offset`, or the first one after it.
  Result<void> open(ShardOffset offset) {
    rows_.seek_for_prev(keys::journal(shard_, offset));
    if (rows_.status() && !in_shard()) rows_.seek(keys::journal(shard_, offset));
    EVERSHARD_TRY(settle(offset));
    if (record_ && behind() <= offset) return next();
    return {};
  }
  Result<void> next() {
    auto at = first_;
    rows_.next();
    return settle(at + 1);
  }

  [[nodiscard]] bool valid() const { return valid_; }
  [[nodiscard]] ShardOffset first() const { return first_; }
  /// Behind its last event; of a record that cannot be opened: behind its first.
  [[nodiscard]] ShardOffset behind() const { return first_ + (record_ ? record_->size() : 1); }
  [[nodiscard]] const std::optional<RecordView>& record() const { return record_; }
  /// Why there is nothing to be read between the record before and this one.
  std::string why;

 private:
  [[nodiscard]] bool in_shard() const {
    if (!rows_.valid()) return false;
    auto key = keys::decode_journal(rows_.key());
    return !key || key->shard == shard_;
  }

  Result<void> settle(ShardOffset from) {
    record_.reset();
    valid_ = false;
    for (;;) {
      if (auto status = rows_.status(); !status) {
        if (status.error().code == ErrorCode::unavailable) return status;
        why = status.error().what;
        if (!seek_readable(rows_, from.value, end_.value,
                           [&](std::uint64_t n) { return keys::journal(shard_, ShardOffset{n}); }))
          return {};
        continue;
      }
      if (!rows_.valid()) return {};
      auto key = keys::decode_journal(rows_.key());
      if (!key) {
        why = key.error().what;
        rows_.next();
        continue;
      }
      if (key->shard != shard_) return {};
      first_ = key->offset;
      valid_ = true;
      auto record = RecordView::open(rows_.value(), shard_, first_);
      if (record)
        record_ = *record;
      else
        why = record.error().what;
      return {};
    }
  }

  RowCursor& rows_;
  const ShardId shard_;
  const ShardOffset end_;
  bool valid_ = false;
  ShardOffset first_;
  std::optional<RecordView> record_;
};

}  // namespace

void TruthVisitor::cut(const sharding::Cut&) {}
void TruthVisitor::record(ShardId, ShardOffset, std::string_view) {}
void TruthVisitor::missing(GlobalPosition, std::uint64_t, const std::string&) {}
void TruthVisitor::missing_cut(GlobalPosition, std::uint64_t, const std::string&) {}
void TruthVisitor::contradiction(const std::string&) {}

Result<void> TruthWalk::run(GlobalPosition from, GlobalPosition until, const Progress& progress) {
  auto total = until - from;
  auto order = rows_.cursor(Family::order, {.prefix = {}, .scan = true});
  order->seek_for_prev(keys::order(from));
  if (order->status() && !order->valid()) order->seek(keys::order(from));
  auto next = from;
  std::string why;
  auto lost = [&](GlobalPosition behind) {
    visitor_.missing_cut(next, behind - next, why.empty() ? "no cut has them" : why);
    next = behind;
    std::ranges::fill(next_offset_, ShardOffset{0});
    why.clear();
  };
  while (next < until) {
    if (auto status = order->status(); !status) {
      if (status.error().code == ErrorCode::unavailable) return status;
      why = status.error().what;
      if (seek_readable(*order, next.value, until.value,
                        [](std::uint64_t n) { return keys::order(GlobalPosition{n}); }))
        continue;
      lost(until);
      break;
    }
    if (!order->valid()) {
      lost(until);
      break;
    }
    auto key = keys::decode_order(order->key());
    auto cut = key ? sharding::decode_cut(order->value(), of_) : Result<sharding::Cut>(refuse(key.error()));
    if (cut && cut->first_position != *key)
      cut = refuse(ErrorCode::corruption, "the cut under position " + number(key->value) + " says it begins at " +
                                              number(cut->first_position.value));
    if (!cut) {
      why = cut.error().what;
      order->next();
      continue;
    }
    // The first one may begin before; of an overlap, what came first counts.
    if (*key < next && cut->last_position() < next) {
      order->next();
      continue;
    }
    if (*key < next && next != from) {
      visitor_.contradiction("the cut at position " + number(key->value) + " begins before position " +
                             number(next.value) + ", where the one before it ends");
      order->next();
      continue;
    }
    if (*key > next) lost(std::min(*key, until));
    if (next >= until) break;
    next = cut->last_position() + 1;
    EVERSHARD_TRY(take_cut(*cut));
    if (runs_.size() >= group_runs_max || events_ >= group_events_max) {
      EVERSHARD_TRY(gather());
      EVERSHARD_TRY(report(progress, std::min<std::uint64_t>(next - from, total), total));
    }
    order->next();
  }
  EVERSHARD_TRY(gather());
  return report(progress, total, total);
}

Result<void> TruthWalk::take_cut(const sharding::Cut& cut) {
  auto name = "cut " + number(cut.number.value) + " at position " + number(cut.first_position.value);
  if (number_ >= cut.number) visitor_.contradiction(name + " comes after cut " + number(number_.value));
  number_ = cut.number;
  for (const auto& segment : cut.segments) {
    if (segment.is_elsewhere()) continue;
    if (segment.shard.value >= next_offset_.size()) {
      visitor_.contradiction(name + " names shard " + number(segment.shard.value) + " of " +
                             number(next_offset_.size()));
      continue;
    }
    auto& expected = next_offset_[segment.shard.value];
    // A cut by which everything of a node was refused has no row there: what it covered is passed over. One that is
    // missing leaves a hole in the positions.
    const bool fits = of_ == sharding::CutOf::node ? expected <= segment.first : expected == segment.first;
    if (expected != ShardOffset{0} && !fits)
      visitor_.contradiction(name + " goes on in shard " + number(segment.shard.value) + " at offset " +
                             number(segment.first.value) + ", the one before ended before " + number(expected.value));
    expected = segment.end;
  }
  visitor_.cut(cut);
  for (const auto& run : sharding::runs_of(cut))
    if (run.shard.value < next_offset_.size()) runs_.push_back(run);
  events_ += cut.events();
  return {};
}

Result<void> TruthWalk::gather() {
  std::ranges::stable_sort(runs_, {}, &sharding::Run::shard);
  for (std::size_t begin = 0, end = 0; begin < runs_.size(); begin = end) {
    while (end < runs_.size() && runs_[end].shard == runs_[begin].shard) ++end;
    EVERSHARD_TRY(gather_shard(begin, end));
  }
  runs_.clear();
  events_ = 0;
  return {};
}

Result<void> TruthWalk::gather_shard(std::size_t begin, std::size_t end) {
  auto shard = runs_[begin].shard;
  auto group_begin = runs_[begin].offset;
  auto group_end = runs_[end - 1].offset + runs_[end - 1].count;
  auto rows = rows_.cursor(Family::journal, {.prefix = {}, .scan = next_offset_.size() <= shards_scanned_max});
  ShardRecords records(*rows, shard, group_end);
  EVERSHARD_TRY(records.open(group_begin));
  auto count = [&] {
    if (records.valid() && records.first() >= group_begin && records.first() < group_end)
      visitor_.record(shard, records.first(), rows->value());
  };
  count();
  for (std::size_t i = begin; i < end; ++i) {
    const auto& run = runs_[i];
    auto run_end = run.offset + run.count;
    for (auto offset = run.offset; offset < run_end;) {
      while (records.valid() && records.record() && offset >= records.behind()) {
        records.why.clear();
        EVERSHARD_TRY(records.next());
        count();
      }
      auto position = run.position + (offset - run.offset);
      if (records.valid() && records.record() && offset >= records.first()) {
        auto index = static_cast<std::uint16_t>(offset - records.first());
        auto event = records.record()->event(index);
        if (event)
          visitor_.event(position, {shard, records.first(), index}, *event);
        else
          visitor_.missing(position, 1, event.error().what);
        ++offset;
        continue;
      }
      // Nothing to be read up to the next record.
      if (records.valid() && !records.record() && offset >= records.first()) {
        EVERSHARD_TRY(records.next());
        count();
        if (records.valid() && records.first() <= offset) continue;
      }
      auto behind = records.valid() ? std::min(records.first(), run_end) : run_end;
      auto what = behind - offset == 1
                      ? "shard " + number(shard.value) + ", offset " + number(offset.value) + ": its record is missing"
                      : "shard " + number(shard.value) + ", offsets " + number(offset.value) + " to " +
                            number(behind.value - 1) + ": their records are missing";
      if (!records.why.empty()) what += ": " + records.why;
      visitor_.missing(position, behind - offset, what);
      offset = behind;
    }
  }
  return {};
}

}  // namespace evershard::storage
