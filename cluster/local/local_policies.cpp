// Time to live: policies as definitions in the store itself, and what one run of them removes.

#include <algorithm>
#include <utility>

#include "evershard/cluster/local/local_retention.hpp"
#include "evershard/cluster/local/retention_pace.hpp"
#include "evershard/cluster/local/retention_payloads.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/protocol/retention_events.hpp"
#include "evershard/storage/keys.hpp"
#include "evershard/storage/order_lookup.hpp"
#include "evershard/storage/snapshot_row.hpp"

namespace evershard::cluster {
namespace {

constexpr std::size_t aggregates_a_page = 256;
constexpr std::size_t events_a_batch = 256;
constexpr std::size_t records_bytes_max = 2u << 20;

AggregateId policy_aggregate(const std::string& name) { return {std::string(retention::policy_type), name}; }

Result<void> check_policy(const RetentionPolicy& policy) {
  const auto bad = [&](const std::string& why) { return refuse(ErrorCode::invalid_argument, "policy " + in_quotes(policy.name) + ": " + why); };
  if (policy.name.empty()) return refuse(ErrorCode::invalid_argument, "a policy has a name");
  EVERSHARD_TRY(AggregateId::check(policy_aggregate(policy.name)));
  if (name_of(policy.kind) == "unknown") return bad("its kind is none of events, truncate, remove");
  if (policy.type.empty()) return bad("it names a type, of events or of aggregates");
  if (is_reserved(policy.type)) return bad("types that begin with '$' are the store's own");
  if (policy.kind != RetentionPolicy::Kind::events) EVERSHARD_TRY(AggregateId::check({policy.type, "x"}));
  if (policy.keep.count() < 1) return bad("it keeps for at least a second");
  if (policy.keep > std::chrono::hours(24 * 366) * 1'000) return bad("it keeps for at most a thousand years");
  if (policy.uncovered && policy.kind != RetentionPolicy::Kind::events) return bad("only a policy of events may go without snapshots");
  return {};
}

/// When it ends to be kept. Shape: the policy was checked.
Timestamp keep_since(const RetentionPolicy& policy) {
  return {Timestamp::now().micros - std::chrono::duration_cast<std::chrono::microseconds>(policy.keep).count()};
}

}  // namespace

Result<void> LocalRetention::set_policy(const RetentionPolicy& policy, const RetentionOrder& order) {
  EVERSHARD_TRY(check_policy(policy));
  if (order.dry_run) return {};
  auto done = committer_.append(Append{}.event(retention_event(policy_aggregate(policy.name), retention::policy_created, policy_payload(policy, order))));
  if (!done) return refuse(std::move(done).error());
  return {};
}

Result<void> LocalRetention::drop_policy(const std::string& name, const RetentionOrder& order) {
  auto all = policies();
  if (!all) return refuse(std::move(all).error());
  if (std::ranges::find(*all, name, &RetentionPolicy::name) == all->end()) return refuse(ErrorCode::not_found, "there is no policy " + in_quotes(name));
  if (order.dry_run) return {};
  auto done = committer_.append(Append{}.event(retention_event(policy_aggregate(name), retention::policy_dropped, RetentionPayload({}, order).take())));
  if (!done) return refuse(std::move(done).error());
  return {};
}

Result<std::vector<RetentionPolicy>> LocalRetention::policies() {
  std::vector<RetentionPolicy> found;
  const auto view = store_.view();
  std::optional<AggregateId> after;
  for (;;) {
    auto page = reader_.aggregates(view, retention::policy_type, after, aggregates_a_page);
    if (!page) return refuse(std::move(page).error());
    for (const auto& info : *page) {
      auto event = event_of(view, info.aggregate, info.version);
      if (!event) return refuse(std::move(event).error());
      if (event->type == retention::policy_dropped) continue;
      auto policy = policy_of(info.aggregate.value, event->payload);
      if (!policy) return refuse(ErrorCode::corruption, "policy " + in_quotes(info.aggregate.value) + " says nothing this program knows, at position " + std::to_string(event->position.value));
      found.push_back(*std::move(policy));
    }
    if (page->size() < aggregates_a_page) return found;
    after = page->back().aggregate;
  }
}

Result<RetentionResult> LocalRetention::run(const RetentionOrder& order, const Progress& progress) {
  auto lock = turn(progress);
  if (!lock) return refuse(std::move(lock).error());
  Pace pace{progress, order.bytes_per_second};
  // What is damaged is told when everything else is done: it must not keep the rest of the store from its policies.
  Unfinished unfinished;
  if (!order.dry_run) {
    auto left = finish_in_turn(pace);
    if (!left) return refuse(std::move(left).error());
    unfinished = *std::move(left);
  }
  auto all = policies();
  if (!all) return refuse(std::move(all).error());
  RetentionResult total;
  for (const auto& policy : *all) {
    auto applied = apply(policy, order, pace, total, unfinished);
    if (!applied && applied.error().code != ErrorCode::corruption) return refuse(std::move(applied).error());
    if (!applied && !unfinished.first) unfinished.first = std::move(applied).error();
  }
  auto expired = expire_snapshots(order.dry_run, pace);
  if (!expired) return refuse(std::move(expired).error());
  total.snapshots += *expired;
  if (order.dry_run || (total.events == 0 && total.snapshots == 0)) {
    EVERSHARD_TRY(unfinished.told());
    return total;
  }
  total.operation = EventId::random().text();
  auto event = retention_event(retention_log(), retention::policies_applied,
                               RetentionPayload(total.operation, order)
                                   .number("aggregates", total.aggregates)
                                   .number("snapshots", total.snapshots)
                                   .figures({total.events, total.records, total.bytes_before, total.bytes_after})
                                   .take());
  auto done = committer_.append(Append{}.event(std::move(event)));
  if (!done) return refuse(std::move(done).error());
  EVERSHARD_TRY(unfinished.told());
  return total;
}

Result<void> LocalRetention::apply(const RetentionPolicy& policy, const RetentionOrder& order, Pace& pace, RetentionResult& total, Unfinished& unfinished) {
  auto by_policy = order;
  by_policy.reason = "policy " + policy.name + (order.reason.empty() ? "" : ": " + order.reason);
  return policy.kind == RetentionPolicy::Kind::events ? apply_to_events(policy, by_policy, pace, total) : apply_to_aggregates(policy, by_policy, pace, total, unfinished);
}

/// Removed events are not found again: what is left to look at is what is kept.
Result<void> LocalRetention::apply_to_events(const RetentionPolicy& policy, const RetentionOrder& order, Pace& pace, RetentionResult& total) {
  const auto since = keep_since(policy);
  const auto view = store_.view();
  auto cursor = reader_.open(view, Query{}.types({policy.type}), {});
  std::optional<AggregateId> known;  // the one looked at last, and up to where its events are stood for
  SeqNr covered{0};
  std::vector<storage::FoundEvent> found;
  for (std::vector<RecordedEvent> page; !cursor->at_end(); page.clear()) {
    EVERSHARD_TRY(cursor->next(events_a_batch, records_bytes_max, page));
    if (page.empty()) break;
    EVERSHARD_TRY(pace.report(page.back().position.value, view.watermark.value));
    found.clear();
    for (const auto& event : page) {
      if (event.occurred_at >= since || event.type != policy.type) continue;
      if (event.aggregate && is_reserved(event.aggregate->type)) continue;
      if (event.aggregate && !policy.uncovered) {
        if (known != event.aggregate) {
          auto latest = standing_snapshot(*event.aggregate);
          if (!latest) return refuse(std::move(latest).error());
          covered = *latest ? (*latest)->version : SeqNr{0};
          known = event.aggregate;
        }
        if (event.seq_nr > covered) continue;
      }
      auto place = storage::locate(store_.rows(), event.position, sharding::CutOf::store);
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
    add(total, figures);
    if (order.dry_run || records->empty()) continue;
    std::ranges::sort(found, {}, &storage::FoundEvent::position);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    for (const auto& event : found) {
      if (!ranges.empty() && ranges.back().second + 1 == event.position.value) ++ranges.back().second;
      else ranges.emplace_back(event.position.value, event.position.value);
    }
    // What is removed and the record of it are one write: there is nothing to be done behind it.
    storage::RowWrites rows;
    rows.rewrites = *std::move(records);
    auto event = retention_event(retention_log(), retention::events_removed,
                                 RetentionPayload(EventId::random().text(), order).text("policy", policy.name).text("type", policy.type).ranges("positions", ranges).figures(figures).take());
    auto done = committer_.append_with(Append{}.event(std::move(event)), std::move(rows));
    if (!done) return refuse(std::move(done).error());
    EVERSHARD_TRY(pace.passed(figures.bytes_before, page.back().position.value, view.watermark.value));
  }
  return {};
}

Result<void> LocalRetention::apply_to_aggregates(const RetentionPolicy& policy, const RetentionOrder& order, Pace& pace, RetentionResult& total, Unfinished& unfinished) {
  std::optional<AggregateId> after;
  for (;;) {
    const auto view = store_.view();
    auto page = reader_.aggregates(view, policy.type, after, aggregates_a_page);
    if (!page) return refuse(std::move(page).error());
    for (const auto& info : *page) {
      EVERSHARD_TRY(pace.report(0, 0));
      auto done = policy.kind == RetentionPolicy::Kind::remove ? remove_if_old(info, view, policy, order, pace) : truncate_if_old(info, view, policy, order, pace);
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
      if (!unfinished.first) unfinished.first = std::move(done).error();
    }
    if (page->size() < aggregates_a_page) return {};
    after = page->back().aggregate;
  }
}

Result<RetentionResult> LocalRetention::remove_if_old(const AggregateInfo& info, const storage::View& view, const RetentionPolicy& policy, const RetentionOrder& order, Pace& pace) {
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

/// When something was there behind a removed event, whose own time is gone: the event was not later. Nothing: all behind it is removed too.
Result<std::optional<Timestamp>> LocalRetention::time_behind(const storage::View& view, GlobalPosition position, Pace& pace) const {
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

Result<RetentionResult> LocalRetention::truncate_if_old(const AggregateInfo& info, const storage::View& view, const RetentionPolicy& policy, const RetentionOrder& order, Pace& pace) {
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
      ended = event.seq_nr > (*latest)->version || (event.state != EventState::removed && event.occurred_at >= since);
      if (ended) break;
      before = event.seq_nr + 1;
    }
  }
  if (before == from) return RetentionResult{};
  TruncateOptions truncate;
  static_cast<RetentionOrder&>(truncate) = order;
  return truncate_in_turn(info.aggregate, before, truncate, pace);
}

Result<std::uint64_t> LocalRetention::expire_snapshots(bool dry_run, Pace& pace) {
  const auto now = Timestamp::now();
  const std::string prefix(1, static_cast<char>(storage::keys::StateKey::Kind::snapshot));
  std::uint64_t expired = 0, looked_at = 0;
  storage::RowWrites rows;
  const auto write = [&]() -> Result<void> {
    if (dry_run || rows.empty()) return {};
    return committer_.write_rows(std::exchange(rows, {}));
  };
  auto cursor = store_.rows().cursor(storage::Family::state, {.prefix = prefix, .scan = true});
  for (cursor->seek(prefix); cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) {
    if (++looked_at % aggregates_a_page == 0) {
      EVERSHARD_TRY(pace.report(0, 0));
      EVERSHARD_TRY(write());
    }
    auto key = storage::keys::decode_state(cursor->key());
    if (!key || !key->retained) continue;
    auto snapshot = storage::decode_snapshot(cursor->value(), key->aggregate);
    if (!snapshot || !snapshot->expires_at || *snapshot->expires_at > now) continue;  // what is damaged is verify's to name
    ++expired;
    if (rows.snapshots_to_go.empty() || rows.snapshots_to_go.back().aggregate != key->aggregate) rows.snapshots_to_go.push_back({key->aggregate, SeqNr{0}, false});
  }
  EVERSHARD_TRY(cursor->status());
  EVERSHARD_TRY(write());
  return expired;
}

}  // namespace evershard::cluster
