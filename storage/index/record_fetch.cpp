#include "evershard/storage/index/record_fetch.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/removal_mask.hpp"

namespace evershard::storage {

Refused damaged(ShardId shard, ShardOffset offset, std::string_view what) {
  ErrorDetails details;
  details.shard = shard;
  details.offset = offset;
  return refuse(
      ErrorCode::corruption,
      "shard " + std::to_string(shard.value) + " offset " + std::to_string(offset.value) + ": " + std::string(what),
      std::move(details));
}

Result<void> RecordFetch::fetch(std::span<const FoundEvent> found) {
  found_ = found;
  order_.resize(found.size());
  std::iota(order_.begin(), order_.end(), 0);
  auto place = [&](std::uint32_t i) { return std::pair(found[i].location.shard, found[i].location.record); };
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) { return place(a) < place(b); });

  records_.clear();
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

  bytes_ = 0;
  batches_.clear();
  auto batch = rows_.get(Family::journal, key_views_);
  if (!batch) {
    if (batch.error().code != ErrorCode::corruption) return refuse(std::move(batch).error());
    return get_one_by_one();
  }
  batches_.push_back(std::move(*batch));
  for (Record& record : records_) open(record);
  return {};
}

// A damaged block fails the whole multi-get: it costs those events alone that lie in it.
Result<void> RecordFetch::get_one_by_one() {
  for (std::size_t i = 0; i < records_.size(); ++i) {
    Record& record = records_[i];
    auto alone = rows_.get(Family::journal, std::span(key_views_).subspan(i, 1));
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
  const Record& record = records_[record_of_[i]];
  const EventLocation& location = found_[i].location;
  if (!record.view) return damaged(location.shard, location.offset(), record.damage);
  if (location.index >= record.view->size()) {
    return damaged(location.shard, location.offset(), "the record ends before this event");
  }
  auto event = record.view->event(location.index);
  if (const auto* mask = rows_.mask(); mask && event) mask->apply(*event);
  return event;
}

Result<EventView> fetch_one(RecordFetch& fetch, const FoundEvent& found) {
  EVERSHARD_TRY(fetch.fetch(std::span(&found, 1)));
  return fetch.event(0);
}

}  // namespace evershard::storage
