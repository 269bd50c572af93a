// Settled schedules: what is known of scheduled appends that were made, refused or cancelled goes after a while.

#include <algorithm>
#include <utility>

#include "evershard/protocol/retention_events.hpp"
#include "evershard/protocol/scheduled.hpp"
#include "evershard/services/retention/retention_pace.hpp"
#include "evershard/services/retention/retention_payloads.hpp"
#include "evershard/services/retention/store_retention.hpp"
#include "evershard/storage/order/order_lookup.hpp"

namespace evershard::cluster {
namespace {

constexpr std::size_t settled_a_batch = 128;
constexpr std::size_t settled_bytes_max = 2u << 20;
constexpr std::chrono::milliseconds keep_max = std::chrono::hours(24 * 366) * 1'000;
/// Those that are young in a row, until all behind them are taken for it: clocks of nodes differ.
constexpr std::size_t young_in_a_row = 256;

}  // namespace

/// What goes in one write.
struct StoreRetention::Settled {
  std::vector<storage::FoundEvent> found{};
  std::uint64_t schedules = 0;
};

/// No marker stands in such a stream: nobody appends to it once it is settled, so nothing can have been decided on what
/// goes. Who schedules under its id again finds the stubs, and is refused.
Result<RetentionResult> StoreRetention::remove_settled_schedules(std::chrono::milliseconds keep,
                                                                 const RetentionOrder& order,
                                                                 const Progress& progress) {
  auto lock = turn(order, progress);
  if (!lock) return refuse(std::move(lock).error());
  Pace pace{writer_, progress, order.bytes_per_second};
  // Of what hangs on a node it is not known whether its records may be written anew.
  if (!order.dry_run) {
    auto unsettled = writer_.settle(pace.progress);
    if (!unsettled) return refuse(std::move(unsettled).error());
  }
  std::vector<ShardId> held;
  for (std::uint32_t shard = 0; shard != store_.identity().shards; ++shard) {
    if (const ShardId id{static_cast<std::uint16_t>(shard)}; writer_.has(id)) held.push_back(id);
  }
  if (held != settled_shards_) {
    settled_removed_ = {};
    settled_shards_ = std::move(held);
  }
  const std::chrono::microseconds kept = std::clamp<std::chrono::milliseconds>(keep, {}, keep_max);
  const Timestamp since{Timestamp::now().micros - kept.count()};
  const auto view = store_.view();
  ReadOptions options;
  options.after = settled_removed_;
  auto cursor = reader_.open(view, Query{}.types({std::string(schedule_settled_type)}), options);
  RetentionResult total;
  bool all = true;  // so far, of those that were settled: they go
  std::size_t young = 0;
  for (std::vector<RecordedEvent> page; !cursor->at_end() && young < young_in_a_row; page.clear()) {
    EVERSHARD_TRY(cursor->next(settled_a_batch, settled_bytes_max, page));
    if (page.empty()) break;
    EVERSHARD_TRY(pace.report(page.back().position.value, view.watermark.value));
    Settled batch;
    auto removed_to = settled_removed_;
    for (const auto& event : page) {
      if (event.type != schedule_settled_type || !event.aggregate || !writer_.has(event.shard)) continue;
      if (event.occurred_at >= since) {
        all = false;
        if (++young == young_in_a_row) break;
        continue;
      }
      young = 0;
      EVERSHARD_TRY(add_schedule(view, event, batch));
      if (all) removed_to = event.position;
    }
    EVERSHARD_TRY(remove_settled(batch, order, pace, total));
    if (!order.dry_run) settled_removed_ = removed_to;
    EVERSHARD_TRY(pace.passed(0, page.back().position.value, view.watermark.value));
  }
  return total;
}

/// All of its stream up to what settled it.
Result<void> StoreRetention::add_schedule(const storage::View& view, const RecordedEvent& settled,
                                          Settled& batch) const {
  auto cursor = reader_.open(view, *settled.aggregate, StreamOptions{});
  for (std::vector<RecordedEvent> events; !cursor->at_end(); events.clear()) {
    EVERSHARD_TRY(cursor->next(settled_a_batch, settled_bytes_max, events));
    if (events.empty()) break;
    for (const auto& event : events) {
      if (event.seq_nr > settled.seq_nr) break;
      if (event.state == EventState::removed) continue;
      auto place =
          storage::locate(store_.rows(), event.position, view.whole ? sharding::CutOf::store : sharding::CutOf::node);
      if (!place) return refuse(std::move(place).error());
      batch.found.push_back(*place);
    }
    if (events.back().seq_nr >= settled.seq_nr) break;
  }
  ++batch.schedules;
  return {};
}

Result<void> StoreRetention::remove_settled(Settled& batch, const RetentionOrder& order, Pace& pace,
                                            RetentionResult& total) {
  auto& found = batch.found;
  if (found.empty()) return {};
  // A schedule that was settled twice, by whatever way, is found twice.
  std::ranges::sort(found, {}, &storage::FoundEvent::location);
  const auto same = std::ranges::unique(found, {}, &storage::FoundEvent::location);
  found.erase(same.begin(), same.end());
  storage::RewriteFigures figures;
  const auto is_of_a_schedule = [](const storage::EventView& event, const storage::FoundEvent&) -> Result<bool> {
    return event.aggregate_type == schedule_type;
  };
  auto records = storage::rewritten(store_.rows(), found, is_of_a_schedule, figures);
  if (!records) return refuse(std::move(records).error());
  if (records->empty()) return {};
  total.aggregates += batch.schedules;
  if (order.dry_run) {
    add(total, pace.counted_once(*records, figures.events));
    return {};
  }
  std::ranges::sort(found, {}, &storage::FoundEvent::position);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
  for (const auto& event : found) {
    if (!ranges.empty() && ranges.back().second + 1 == event.position.value)
      ++ranges.back().second;
    else
      ranges.emplace_back(event.position.value, event.position.value);
  }
  storage::RowWrites rows;
  rows.rewrites = *std::move(records);
  const auto id = EventId::random();
  auto event = retention_event(retention_log(), retention::events_removed,
                               RetentionPayload(id.text(), order)
                                   .number("schedules", batch.schedules)
                                   .ranges("positions", ranges)
                                   .figures(figures)
                                   .take());
  event.id = id;
  EVERSHARD_TRY(writer_.append_with(Append{}.event(std::move(event)), std::move(rows)));
  total.operation = id.text();
  add(total, figures);
  return pace.passed(figures.bytes_before, 0, 0);
}

}  // namespace evershard::cluster
