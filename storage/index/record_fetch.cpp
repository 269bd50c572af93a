#include "evershard/storage/index/record_fetch.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/removal_mask.hpp"

namespace evershard::storage {
namespace {

constexpr std::size_t whole_from = 3;              // events of one record that are asked for at once, as a mean
constexpr std::size_t kept_bytes_max = 64u << 10;  // what is larger costs little beside its own reading

}  // namespace

Refused damaged(ShardId shard, ShardOffset offset, std::string_view what) {
  ErrorDetails details;
  details.shard = shard;
  details.offset = offset;
  return refuse(
      ErrorCode::corruption,
      "shard " + std::to_string(shard.value) + " offset " + std::to_string(offset.value) + ": " + std::string(what),
      std::move(details));
}

Refused damaged_at(GlobalPosition position, Error why) {
  if (why.code != ErrorCode::corruption) return refuse(std::move(why));
  ErrorDetails details = why.details ? *why.details : ErrorDetails{};
  details.position = position;
  return refuse(why.code, std::move(why.what), std::move(details));
}

bool RecordFetch::take_batch() {
  kept_batch_ = {};
  if (cache_ == nullptr || whole_) return false;
  kept_batch_ = cache_->find_batch(found_);
  if (!kept_batch_) return false;
  kept_.clear();
  bytes_ += kept_batch_.bytes_of_all();
  cache_->count(found_.size(), 0);
  return true;
}

void RecordFetch::take_kept() {
  kept_.clear();
  kept_.resize(found_.size());
  order_.clear();
  for (std::uint32_t i = 0; i != found_.size(); ++i) {
    if (cache_ != nullptr && !whole_) kept_[i] = cache_->find(found_[i].location.shard, found_[i].location.offset());
    if (kept_[i])
      bytes_ += kept_[i].bytes().size();
    else
      order_.push_back(i);
  }
  if (cache_ != nullptr && !whole_) cache_->count(found_.size() - order_.size(), order_.size());
}

Result<void> RecordFetch::fetch(std::span<const FoundEvent> found) {
  found_ = found;
  bytes_ = 0;
  records_.clear();
  batches_.clear();
  if (take_batch()) return {};
  const auto rewrites = cache_ == nullptr ? 0 : cache_->rewrites();
  take_kept();
  if (order_.empty()) {
    if (cache_ != nullptr) cache_->keep_batch(found_, kept_, rewrites);
    return {};
  }
  auto place = [&](std::uint32_t i) { return std::pair(found[i].location.shard, found[i].location.record); };
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });

  keys_.clear();
  record_of_.resize(found.size());
  for (const std::uint32_t i : order_) {
    const EventLocation& location = found[i].location;
    if (records_.empty() || place(i) != std::pair(records_.back().shard, records_.back().first)) {
      records_.push_back(
          {location.shard, location.record, 0, static_cast<std::uint32_t>(records_.size()), std::nullopt, {}});
      keys_.push_back(keys::journal(location.shard, location.record));
    }
    record_of_[i] = static_cast<std::uint32_t>(records_.size() - 1);
  }
  key_views_.assign(keys_.begin(), keys_.end());

  // Of who reads whole records the blocks are kept, of who wants one event here and there the events.
  whole_ = order_.size() >= whole_from * records_.size();
  const bool keep_blocks = cache_ == nullptr || whole_ || cache_->has_room();
  if (auto batch = rows_.get(Family::journal, key_views_, keep_blocks); batch) {
    batches_.push_back(std::move(*batch));
    for (Record& record : records_) open(record);
  } else if (batch.error().code != ErrorCode::corruption) {
    return refuse(std::move(batch).error());
  } else {
    EVERSHARD_TRY(get_one_by_one(keep_blocks));
  }
  if (cache_ != nullptr && !whole_) keep_events(rewrites);
  return {};
}

void RecordFetch::keep_events(std::uint64_t rewrites) {
  for (const std::uint32_t i : order_) {
    const auto& view = records_[record_of_[i]].view;
    if (!view) continue;
    const auto& location = found_[i].location;
    if (const auto bytes = view->bytes_of(location.index); bytes && bytes->size() <= kept_bytes_max)
      cache_->keep(location.shard, location.offset(), *bytes, rewrites);
  }
}

// A damaged block fails the whole multi-get: it costs those events alone that lie in it.
Result<void> RecordFetch::get_one_by_one(bool keep) {
  for (std::size_t i = 0; i < records_.size(); ++i) {
    Record& record = records_[i];
    auto alone = rows_.get(Family::journal, std::span(key_views_).subspan(i, 1), keep);
    if (!alone) {
      if (alone.error().code != ErrorCode::corruption) return refuse(std::move(alone).error());
      record.damage = alone.error().what;
      continue;
    }
    record.batch = static_cast<std::uint32_t>(batches_.size());
    record.row = 0;
    batches_.push_back(std::move(*alone));
    open(record);
  }
  return {};
}

void RecordFetch::open(Record& record) {
  const RowBatch& batch = *batches_[record.batch];
  if (!batch.found(record.row)) {
    record.damage = "the journal has no such record";
    return;
  }
  bytes_ += batch.value(record.row).size();
  auto view = RecordView::open(batch.value(record.row), record.shard, record.first);
  if (view) {
    record.view = std::move(*view);
  } else {
    record.damage = view.error().what;
  }
}

Result<EventView> RecordFetch::event(std::size_t i) const {
  auto event = read(i);
  if (const auto* mask = rows_.mask(); mask && event) mask->apply(*event);
  return event;
}

Result<EventView> RecordFetch::read(std::size_t i) const {
  const EventLocation& location = found_[i].location;
  if (kept_batch_) return event_of(kept_batch_.bytes(i), location.shard, location.offset());
  if (kept_[i]) return event_of(kept_[i].bytes(), location.shard, location.offset());
  const Record& record = records_[record_of_[i]];
  if (!record.view) return damaged(location.shard, location.offset(), record.damage);
  if (location.index >= record.view->size()) {
    return damaged(location.shard, location.offset(), "the record ends before this event");
  }
  return record.view->event(location.index);
}

Result<EventView> fetch_one(RecordFetch& fetch, const FoundEvent& found) {
  EVERSHARD_TRY(fetch.fetch(std::span(&found, 1)));
  return fetch.event(0);
}

}  // namespace evershard::storage
