// Time to live: policies as definitions in the store itself, and what one run of them removes.

#include <algorithm>
#include <set>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/protocol/retention_events.hpp"
#include "evershard/services/retention/retention_pace.hpp"
#include "evershard/services/retention/retention_payloads.hpp"
#include "evershard/services/retention/store_retention.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/snapshot_row.hpp"
#include "evershard/storage/order/order_lookup.hpp"

namespace evershard::cluster {
namespace {

constexpr std::size_t aggregates_a_page = 256;
constexpr std::size_t events_a_batch = 256;
constexpr std::size_t records_bytes_max = 2u << 20;

/// When it ends to be kept. Shape: the policy was checked.
Timestamp keep_since(const RetentionPolicy& policy) {
  return {Timestamp::now().micros - std::chrono::duration_cast<std::chrono::microseconds>(policy.keep).count()};
}

}  // namespace

Result<PoliciesApplied> StoreRetention::apply(const std::vector<RetentionPolicy>& policies, const RetentionOrder& order,
                                              const Progress& progress) {
  auto lock = turn(order, progress);
  if (!lock) return refuse(std::move(lock).error());
  Pace pace{writer_, progress, order.bytes_per_second};
  // What is damaged is told when everything else is done: it must not keep the rest of the store from its policies.
  Unfinished unfinished;
  if (!order.dry_run) {
    auto left = finish_in_turn(pace);
    if (!left) return refuse(std::move(left).error());
    unfinished = *std::move(left);
  }
  RetentionResult total;
  for (const auto& policy : policies) {
    auto applied = apply(policy, order, pace, total, unfinished);
    if (!applied && applied.error().code == ErrorCode::cancelled) return refuse(std::move(applied).error());
    // The removals up to then stay: the result has them beside the error.
    if (!applied && applied.error().code != ErrorCode::corruption)
      return PoliciesApplied{std::move(total), std::move(applied).error()};
    if (!applied) pass_over(unfinished, std::move(applied).error());
  }
  pace.aggregates.reset();
  const auto expired = expire_snapshots(order.dry_run, pace, total.snapshots);
  if (!expired && expired.error().code == ErrorCode::cancelled) return refuse(expired.error());
  if (!expired && expired.error().code == ErrorCode::corruption)
    pass_over(unfinished, expired.error());
  else if (!expired)
    unfinished.first = expired.error();
  return PoliciesApplied{std::move(total), std::move(unfinished.first)};
}

Result<void> StoreRetention::apply(const RetentionPolicy& policy, const RetentionOrder& order, Pace& pace,
                                   RetentionResult& total, Unfinished& unfinished) {
  auto by_policy = order;
  by_policy.reason = "policy " + policy.name + (order.reason.empty() ? "" : ": " + order.reason);
  pace.aggregates = policy.kind == RetentionPolicy::Kind::events ? std::nullopt : std::optional<std::uint64_t>(0);
  return policy.kind == RetentionPolicy::Kind::events ? apply_to_events(policy, by_policy, pace, total, unfinished)
                                                      : apply_to_aggregates(policy, by_policy, pace, total, unfinished);
}

/// Removed events are not found again: what is left to look at is what is kept.
Result<void> StoreRetention::apply_to_events(const RetentionPolicy& policy, const RetentionOrder& order, Pace& pace,
                                             RetentionResult& total, Unfinished& unfinished) {
  const auto since = keep_since(policy);
  const auto view = store_.view();
  auto cursor = reader_.open(view, Query{}.types({policy.type}), {});
  std::optional<AggregateId> known;  // the one looked at last, and up to where its events are stood for
  SeqNr covered{0};
  std::vector<storage::FoundEvent> found;
  std::set<AggregateId> stood_for;
  for (std::vector<RecordedEvent> page; !cursor->at_end(); page.clear()) {
    if (auto read = cursor->next(events_a_batch, records_bytes_max, page); !read) {
      // One that cannot be read keeps none behind it.
      const auto& error = read.error();
      if (error.code != ErrorCode::corruption || !error.details || !error.details->position || !page.empty())
        return read;
      pass_over(unfinished, error);
      cursor = reader_.open(view, Query{}.types({policy.type}), {.after = *error.details->position});
      continue;
    }
    if (page.empty()) break;
    EVERSHARD_TRY(pace.report(page.back().position.value, view.watermark.value));
    found.clear();
    stood_for.clear();
    for (const auto& event : page) {
      if (event.occurred_at >= since || event.type != policy.type || !writer_.has(event.shard)) continue;
      if (event.aggregate && is_own_aggregate(event.aggregate->type)) continue;
      if (event.aggregate && !policy.uncovered) {
        if (known != event.aggregate) {
          auto latest = standing_snapshot(*event.aggregate);
          if (!latest) return refuse(std::move(latest).error());
          covered = *latest ? (*latest)->version : SeqNr{0};
          known = event.aggregate;
        }
        if (event.seq_nr > covered) continue;
        stood_for.insert(*event.aggregate);
      }
      auto place =
          storage::locate(store_.rows(), event.position, view.whole ? sharding::CutOf::store : sharding::CutOf::node);
      if (!place) return refuse(std::move(place).error());
      found.push_back(*place);
    }
    if (found.empty()) continue;
    // Events of one record follow each other by place, not by position.
    std::ranges::sort(found, {}, &storage::FoundEvent::location);
    storage::RewriteFigures figures;
    const auto is_due = [&](const storage::EventView& event, const storage::FoundEvent&) -> Result<bool> {
      return event.type == policy.type && event.occurred_at < since;
    };
    auto records = storage::rewritten(store_.rows(), found, is_due, figures);
    if (!records) return refuse(std::move(records).error());
    if (order.dry_run || records->empty()) {
      add(total, pace.counted_once(*records, figures.events));
      continue;
    }
    std::ranges::sort(found, {}, &storage::FoundEvent::position);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    for (const auto& event : found) {
      if (!ranges.empty() && ranges.back().second + 1 == event.position.value)
        ++ranges.back().second;
      else
        ranges.emplace_back(event.position.value, event.position.value);
    }
    // What is removed and the record of it are one write: there is nothing to be done behind it.
    storage::RowWrites rows;
    rows.rewrites = *std::move(records);
    rows.stood_for.assign(stood_for.begin(), stood_for.end());
    auto event = retention_event(retention_log(), retention::events_removed,
                                 RetentionPayload(EventId::random().text(), order)
                                     .text("policy", policy.name)
                                     .text("type", policy.type)
                                     .ranges("positions", ranges)
                                     .figures(figures)
                                     .take());
    EVERSHARD_TRY(writer_.append_with(Append{}.event(std::move(event)), std::move(rows)));
    add(total, figures);
    EVERSHARD_TRY(pace.passed(figures.bytes_before, page.back().position.value, view.watermark.value));
  }
  return {};
}

Result<void> StoreRetention::apply_to_aggregates(const RetentionPolicy& policy, const RetentionOrder& order, Pace& pace,
                                                 RetentionResult& total, Unfinished& unfinished) {
  std::optional<AggregateId> after;
  for (;;) {
    const auto view = store_.view();
    auto page = reader_.aggregates(view, policy.type, after, aggregates_a_page);
    if (!page) return refuse(std::move(page).error());
    for (const auto& info : *page) {
      EVERSHARD_TRY(pace.report(0, 0));
      if (pace.aggregates) ++*pace.aggregates;
      if (!writer_.has(info.shard)) continue;
      // What is still to be settled of it would come behind what is ordered now. What is damaged is ordered all the
      // same: readers are spared it.
      const auto left = std::ranges::find(unfinished.aggregates, info.aggregate, &std::pair<AggregateId, Error>::first);
      if (left != unfinished.aggregates.end() && left->second.code != ErrorCode::corruption) continue;
      auto done = policy.kind == RetentionPolicy::Kind::remove ? remove_if_old(info, view, policy, order, pace)
                                                               : truncate_if_old(info, view, policy, order, pace);
      if (done) {
        total.aggregates += done->aggregates;
        total.events += done->events;
        total.snapshots += done->snapshots;
        total.records += done->records;
        total.bytes_before += done->bytes_before;
        total.bytes_after += done->bytes_after;
        continue;
      }
      if (done.error().code != ErrorCode::corruption) return refuse(std::move(done).error());
      pass_over(unfinished, std::move(done).error());
    }
    if (page->size() < aggregates_a_page) return {};
    after = page->back().aggregate;
  }
}

Result<RetentionResult> StoreRetention::remove_if_old(const AggregateInfo& info, const storage::View& view,
                                                      const RetentionPolicy& policy, const RetentionOrder& order,
                                                      Pace& pace) {
  auto hidden = is_hidden(view, info.aggregate, {info.version, info.last_position});
  if (!hidden) return refuse(std::move(hidden).error());
  if (*hidden) return RetentionResult{};
  auto latest = reader_.latest_snapshot(info.aggregate);
  if (!latest) return refuse(std::move(latest).error());
  auto event = event_of(view, info.aggregate, info.version);
  if (!event) return refuse(std::move(event).error());
  auto last = event->occurred_at;
  if (event->state == EventState::removed) {
    auto behind = time_behind(view, event->position, pace);
    if (!behind) return refuse(std::move(behind).error());
    if (!*behind && !*latest) return RetentionResult{};
    last = *behind ? **behind : (*latest)->taken_at;
  }
  if (last >= keep_since(policy)) return RetentionResult{};
  // What came since the look is younger than the policy: such a one is left to the next run.
  return remove_in_turn(info.aggregate, info.version, order, pace);
}

/// When something was there behind a removed event, whose own time is gone: the event was not later. Nothing: all
/// behind it is removed too.
Result<std::optional<Timestamp>> StoreRetention::time_behind(const storage::View& view, GlobalPosition position,
                                                             Pace& pace) const {
  ReadOptions options;
  options.after = position;
  auto cursor = reader_.open(view, Query::all(), options);
  for (std::vector<RecordedEvent> events; !cursor->at_end(); events.clear()) {
    EVERSHARD_TRY(pace.report(0, 0));
    EVERSHARD_TRY(cursor->next(events_a_batch, records_bytes_max, events));
    if (events.empty()) break;
    for (const auto& event : events) {
      if (event.state != EventState::removed) return std::optional(event.occurred_at);
    }
  }
  return std::optional<Timestamp>{};
}

Result<RetentionResult> StoreRetention::truncate_if_old(const AggregateInfo& info, const storage::View& view,
                                                        const RetentionPolicy& policy, const RetentionOrder& order,
                                                        Pace& pace) {
  auto hidden = is_hidden(view, info.aggregate, {info.version, info.last_position});
  if (!hidden) return refuse(std::move(hidden).error());
  if (*hidden) return RetentionResult{};
  auto latest = standing_snapshot(info.aggregate);
  if (!latest) return refuse(std::move(latest).error());
  if (!*latest) return RetentionResult{};
  auto removed = storage::removed_of(store_.rows(), info.aggregate);
  if (!removed) return refuse(std::move(removed).error());
  StreamOptions options;
  const SeqNr from = *removed ? (*removed)->before : SeqNr{1};
  options.from = from;
  SeqNr before = from;
  const auto since = keep_since(policy);
  auto cursor = reader_.open(view, info.aggregate, options);
  bool ended = from > (*latest)->version;
  for (std::vector<RecordedEvent> events; !ended && !cursor->at_end(); events.clear()) {
    EVERSHARD_TRY(cursor->next(events_a_batch, records_bytes_max, events));
    if (events.empty()) break;
    for (const auto& event : events) {
      ended = event.seq_nr > (*latest)->version || event.type == stream_ended_type ||
              (event.state != EventState::removed && event.occurred_at >= since);
      if (ended) break;
      before = event.seq_nr + 1;
    }
  }
  if (before == from) return RetentionResult{};
  TruncateOptions truncate;
  static_cast<RetentionOrder&>(truncate) = order;
  return truncate_in_turn(info.aggregate, before, truncate, pace);
}

/// Adds to `gone` what is gone.
Result<void> StoreRetention::expire_snapshots(bool dry_run, Pace& pace, std::uint64_t& gone) {
  const auto now = Timestamp::now();
  const std::string prefix(1, static_cast<char>(storage::keys::StateKey::Kind::snapshot));
  std::uint64_t expired = 0, looked_at = 0;
  storage::RowWrites rows;
  const auto write = [&]() -> Result<void> {
    if (!dry_run && !rows.empty()) EVERSHARD_TRY(writer_.write_rows(std::exchange(rows, {})));
    gone += std::exchange(expired, 0);
    return {};
  };
  auto cursor = store_.rows().cursor(storage::Family::state, {.prefix = prefix, .scan = true});
  for (cursor->seek(prefix); cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) {
    if (++looked_at % aggregates_a_page == 0) {
      EVERSHARD_TRY(pace.report(0, 0));
      EVERSHARD_TRY(write());
    }
    auto key = storage::keys::decode_state(cursor->key());
    if (!key || !key->retained || !is_ours(key->aggregate)) continue;  // as below
    auto snapshot = storage::decode_snapshot(cursor->value(), key->aggregate);
    if (!snapshot || !snapshot->expires_at || *snapshot->expires_at > now)
      continue;  // what is damaged is verify's to name
    ++expired;
    if (rows.snapshots_to_go.empty() || rows.snapshots_to_go.back().aggregate != key->aggregate)
      rows.snapshots_to_go.push_back({key->aggregate, SeqNr{0}, false});
  }
  EVERSHARD_TRY(cursor->status());
  return write();
}

}  // namespace evershard::cluster
