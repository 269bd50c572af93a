#include "evershard/storage/index/tail_rebuild.hpp"

#include <algorithm>

#include "evershard/sharding/cut.hpp"
#include "evershard/storage/journal/event_terms.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/refusals.hpp"

namespace evershard::storage {
TailRebuild::TailRebuild(const Rows& rows, const sharding::TermHasher& hasher, Tails& tails, Options options)
    : rows_(rows), hasher_(hasher), tails_(tails), options_(std::move(options)) {}

Result<void> TailRebuild::run(GlobalPosition watermark) {
  auto next = tails_.next();
  const auto first = next;
  group_first_ = next;
  auto order = rows_.cursor(Family::order, {.prefix = {}, .scan = true});
  CutNumber number;
  for (order->seek(keys::order(next)); next <= watermark; order->next()) {
    EVERSHARD_TRY(order->status());
    auto key = order->valid() ? keys::decode_order(order->key()) : Result<GlobalPosition>(GlobalPosition{0});
    if (!key) return refuse(std::move(key).error());
    if (*key != next) return corrupt("the cut of position " + std::to_string(next.value) + " is missing");
    auto cut = sharding::decode_cut(order->value(), options_.whole ? sharding::CutOf::store : sharding::CutOf::node);
    if (!cut) return refuse(std::move(cut).error());
    // A node's cut that gives no position has no row.
    const bool follows = options_.whole ? cut->number == number + 1 : cut->number > number;
    if (cut->first_position != next || (number.value != 0 && !follows))
      return corrupt("cut " + std::to_string(cut->number.value) + " at position " + std::to_string(next.value) +
                     " is out of sequence");
    number = cut->number;
    for (const auto& run : sharding::runs_of(*cut)) runs_.push_back(run);
    group_events_ += cut->events();
    next = cut->last_position() + 1;
    if (group_events_ < options_.group_events) continue;
    EVERSHARD_TRY(add_group());
    EVERSHARD_TRY(report(options_.progress, next - first, watermark + 1 - first));
  }
  if (next != watermark + 1) return corrupt("the cuts go on behind position " + std::to_string(watermark.value));
  return add_group();
}

Result<void> TailRebuild::add_group() {
  if (group_events_ == 0) return {};
  entries_.assign(group_events_, Entry{});
  terms_.clear();
  texts_.clear();
  // Of each shard, runs ascend in offset as they do in position.
  std::ranges::stable_sort(runs_, {}, &sharding::Run::shard);
  for (std::size_t begin = 0, end = 0; begin < runs_.size(); begin = end) {
    auto shard = runs_[begin].shard;
    while (end < runs_.size() && runs_[end].shard == shard) ++end;
    EVERSHARD_TRY(gather(shard, begin, end));
  }

  if (!tails_.switch_if_full() && tails_.load() >= 2) {
    EVERSHARD_TRY(options_.make_room());
    tails_.switch_if_full();
  }
  for (std::uint64_t i = 0; i < group_events_; ++i) {
    auto& entry = entries_[i];
    if (!options_.whole && entry.event.location.record.value == 0) {  // another node's
      tails_.active().skip(1);
      continue;
    }
    entry.event.position = group_first_ + i;
    entry.event.terms = std::span(terms_).subspan(entry.terms_begin, entry.terms_end - entry.terms_begin);
    entry.event.aggregate_text = std::string_view(texts_).substr(entry.text_begin, entry.text_end - entry.text_begin);
    tails_.active().add(entry.event);
    if (!entry.known) EVERSHARD_TRY(end_tail());
  }
  tails_.added();
  group_first_ = group_first_ + group_events_;
  tails_.show(group_first_ - 1);
  group_events_ = 0;
  runs_.clear();
  return {};
}

/// A tail holds no stream with a gap in its seq_nrs.
Result<void> TailRebuild::end_tail() {
  tails_.added();
  tails_.show(tails_.next() - 1);
  if (tails_.switch_if_any()) return {};
  EVERSHARD_TRY(options_.make_room());
  tails_.switch_if_any();
  return {};
}

Result<void> TailRebuild::gather(ShardId shard, std::size_t begin, std::size_t end) {
  if (shard.value >= options_.shards)
    return corrupt("a cut names shard " + std::to_string(shard.value) + " of " + std::to_string(options_.shards));
  auto journal = rows_.cursor(Family::journal, {.prefix = {}, .scan = true});
  journal->seek_for_prev(keys::journal(shard, runs_[begin].offset));
  Result<RecordView> record = corrupt("no record");
  ShardOffset first, behind;  // of the record at hand
  auto open = [&]() -> Result<bool> {
    EVERSHARD_TRY(journal->status());
    if (!journal->valid()) return false;
    auto key = keys::decode_journal(journal->key());
    if (!key) return refuse(std::move(key).error());
    if (key->shard != shard) return false;
    record = RecordView::open(journal->value(), shard, key->offset);
    if (!record && !options_.skip_damaged) return refuse(record.error());
    first = key->offset;
    behind = record ? first + record->size() : first + 1;
    return true;
  };
  auto there = open();
  if (!there) return refuse(std::move(there).error());

  for (std::size_t i = begin; i < end; ++i) {
    const auto& run = runs_[i];
    for (auto offset = run.offset; offset < run.offset + run.count; ++offset) {
      while (*there && offset >= behind) {
        journal->next();
        there = open();
        if (!there) return refuse(std::move(there).error());
      }
      if (!*there || offset < first)
        EVERSHARD_TRY(missing(run, offset));
      else
        EVERSHARD_TRY(take(record, offset, run));
    }
  }
  return {};
}

Result<void> TailRebuild::missing(const sharding::Run& run, ShardOffset offset) {
  ++damaged_;
  if (options_.skip_damaged) {
    auto& entry = entries_[run.position + (offset - run.offset) - group_first_];
    entry.event.location = EventLocation{run.shard, offset, 0};
    entry.terms_begin = static_cast<std::uint32_t>(terms_.size());
    terms_.push_back(hasher_.type({}));
    entry.terms_end = static_cast<std::uint32_t>(terms_.size());
    return {};
  }
  ErrorDetails details;
  details.shard = run.shard;
  details.offset = offset;
  return refuse(ErrorCode::corruption,
                "the record of shard " + std::to_string(run.shard.value) + " with offset " +
                    std::to_string(offset.value) + " is missing",
                std::move(details));
}

Result<void> TailRebuild::take(const Result<RecordView>& record, ShardOffset offset, const sharding::Run& run) {
  if (!record) return missing(run, offset);
  auto index = offset - record->first();
  auto view = record->event(index);
  if (!view) {
    if (!options_.skip_damaged) return refuse(std::move(view).error());
    return missing(run, offset);
  }
  auto& entry = entries_[run.position + (offset - run.offset) - group_first_];
  entry.event.location = EventLocation{run.shard, record->first(), static_cast<std::uint16_t>(index)};
  take_event(*view, entry);
  return {};
}

void TailRebuild::take_event(const EventView& view, Entry& entry) {
  entry.known = true;
  entry.event.id = view.id;
  entry.event.seq_nr = view.seq_nr;
  entry.terms_begin = static_cast<std::uint32_t>(terms_.size());
  add_terms(view, hasher_, terms_);
  entry.terms_end = static_cast<std::uint32_t>(terms_.size());
  if (!view.aggregate_type.empty()) {
    entry.text_begin = static_cast<std::uint32_t>(texts_.size());
    texts_.append(view.aggregate_type).append(1, '-').append(view.aggregate_value);
    entry.text_end = static_cast<std::uint32_t>(texts_.size());
    entry.event.stream = hasher_.aggregate(std::string_view(texts_).substr(entry.text_begin));
  }
  if (view.request) entry.event.request = request_key(*view.request, view.id);
  if (view.command_id)
    entry.event.command =
        command_key({std::string(view.aggregate_type), std::string(view.aggregate_value)}, *view.command_id);
}

}  // namespace evershard::storage
