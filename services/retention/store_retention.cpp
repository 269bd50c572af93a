#include "evershard/services/retention/store_retention.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/reserved.hpp"
#include "evershard/protocol/retention_events.hpp"
#include "evershard/services/retention/retention_pace.hpp"
#include "evershard/services/retention/retention_payloads.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/journal/removal_mask.hpp"

namespace evershard::cluster {
namespace {

constexpr std::size_t batch_bytes = 512u << 10;
constexpr auto turn_wait = std::chrono::milliseconds(100);
constexpr std::size_t take_over_events = 1'000;
constexpr int tries_max = 100;  // of an aggregate that is written to meanwhile

storage::StateWrite put_row(std::string key, const storage::RemovalRow& row, const AggregateId& aggregate) {
  return {std::move(key), storage::encode_removal(row, aggregate)};
}

}  // namespace

Result<void> check_removable(const AggregateId& aggregate) {
  EVERSHARD_TRY(AggregateId::check(aggregate));
  if (!is_own_aggregate(aggregate.type)) return {};
  return refuse(ErrorCode::invalid_argument,
                in_quotes(aggregate.text()) + " is reserved: what the store itself keeps is not removed");
}

StoreRetention::StoreRetention(storage::Store& store, const storage::Reader& reader, RetentionWriter& writer,
                               SubjectKeys* keys, Touched touched, std::function<void(const char*)> at_step)
    : store_(store),
      reader_(reader),
      writer_(writer),
      keys_(keys),
      touched_(std::move(touched)),
      at_step_(std::move(at_step)),
      hidden_(store.rows(), reader) {}

Result<StoreRetention::Lock> StoreRetention::turn(const RetentionOrder& order, const Progress& progress) {
  EVERSHARD_TRY(check(order));
  if (!order.dry_run) EVERSHARD_TRY(check_fits(RetentionPayload(EventId{}.text(), order).take()));
  Lock lock(mutex_, std::defer_lock);
  while (!lock.try_lock()) {
    EVERSHARD_TRY(storage::report(progress, 0, 0));
    std::this_thread::sleep_for(turn_wait);
  }
  writer_.begin();
  return lock;
}

Result<void> StoreRetention::check_fits(const std::string& entry) const {
  return cluster::check_fits(entry, writer_.limits());
}

bool StoreRetention::is_ours(const AggregateId& aggregate) const {
  return writer_.has(sharding::shard_of(sharding::stream_hash(aggregate), store_.identity().shards));
}

Result<RetentionResult> StoreRetention::truncate(const AggregateId& aggregate, SeqNr before,
                                                 const TruncateOptions& options, const Progress& progress) {
  EVERSHARD_TRY(check_removable(aggregate));
  auto lock = turn(options, progress);
  if (!lock) return refuse(std::move(lock).error());
  Pace pace{writer_, progress, options.bytes_per_second};
  if (!options.dry_run) EVERSHARD_TRY(finish_others_and(aggregate, pace));
  return truncate_in_turn(aggregate, before, options, pace);
}

Result<RetentionResult> StoreRetention::remove(const AggregateId& aggregate, const RetentionOrder& order,
                                               const Progress& progress) {
  EVERSHARD_TRY(check_removable(aggregate));
  auto lock = turn(order, progress);
  if (!lock) return refuse(std::move(lock).error());
  Pace pace{writer_, progress, order.bytes_per_second};
  if (!order.dry_run) EVERSHARD_TRY(finish_others_and(aggregate, pace));
  return remove_in_turn(aggregate, {}, order, pace);
}

Result<void> StoreRetention::finish(const Progress& progress) {
  auto lock = turn({}, progress);
  if (!lock) return refuse(std::move(lock).error());
  Pace pace{writer_, progress};
  const auto unfinished = finish_in_turn(pace);
  if (!unfinished) return refuse(unfinished.error());
  return unfinished->told();
}

Result<void> StoreRetention::settle(const Progress& progress) {
  auto lock = turn({}, progress);
  if (!lock) return refuse(std::move(lock).error());
  auto left = writer_.settle(progress);
  if (!left) return refuse(std::move(left).error());
  if (!left->empty()) return refuse(std::move(left->front().why));
  return {};
}

Result<RetentionResult> StoreRetention::truncate_in_turn(const AggregateId& aggregate, SeqNr before,
                                                         const TruncateOptions& options, Pace& pace) {
  EVERSHARD_TRY(writer_.wait_settled(aggregate));
  const auto view = store_.view();
  auto head = reader_.head(view, aggregate);
  if (!head) return refuse(std::move(head).error());
  if (head->version == SeqNr{0})
    return refuse(ErrorCode::not_found, "there is no aggregate " + in_quotes(aggregate.text()));
  if (before.value < 2 || before > head->version + 1) {
    return refuse(ErrorCode::invalid_argument,
                  in_quotes(aggregate.text()) + " is at version " + std::to_string(head->version.value) +
                      ": it can be truncated before 2 to " + std::to_string(head->version.value + 1) + ", not before " +
                      std::to_string(before.value));
  }
  if (before == head->version + 1 && has_ended(view, aggregate, head->version))
    return refuse(ErrorCode::invalid_argument, "the last event of " + in_quotes(aggregate.text()) +
                                                   " says that it ended for good, and is kept: it " +
                                                   "can be truncated before " + std::to_string(head->version.value));
  auto removed = storage::removed_of(store_.rows(), aggregate);
  if (!removed) return refuse(std::move(removed).error());
  auto hidden = is_hidden(view, aggregate, *head);
  if (!hidden) return refuse(std::move(hidden).error());

  RetentionResult result{.version = head->version, .before = before};
  auto cover = standing_snapshot(aggregate);
  if (!cover) return refuse(std::move(cover).error());
  if (*cover && (*cover)->version + 1 >= before) {
    result.covered_by = (*cover)->version;
    result.covered_revision = (*cover)->schema_revision;
  }
  if (*hidden || (*removed && (*removed)->before >= before)) {
    if (*removed) result.before = (*removed)->before;
    return result;  // gone already
  }
  if (!result.covered_by && !options.uncovered) {
    auto latest = reader_.latest_snapshot(aggregate);
    if (!latest) return refuse(std::move(latest).error());
    return refuse(ErrorCode::invalid_argument,
                  "no snapshot stands for the events of " + in_quotes(aggregate.text()) + " below " +
                      std::to_string(before.value) + ": " +
                      (*latest ? "the latest one is of version " + std::to_string((*latest)->version.value) +
                                     (*cover ? "" : ", which cannot be opened: its key is not there")
                               : std::string("there is none")) +
                      ", its state could not be made any more. Take one of version " +
                      std::to_string(before.value - 1) + " or later, or confirm that it is not needed (uncovered)");
  }
  const auto from = first_to_go(aggregate, *removed);
  if (!from) return refuse(from.error());
  auto copies = copies_below(aggregate, before - 1, false);
  if (!copies) return refuse(std::move(copies).error());
  result.snapshots = *copies;
  result.aggregates = 1;
  if (options.dry_run) {
    auto figures = would_go(aggregate, *from, before, pace);
    if (!figures) return refuse(std::move(figures).error());
    add(result, *figures);
    return result;
  }

  auto last = event_of(view, aggregate, before - 1);
  if (!last) return refuse(std::move(last).error());
  const auto id = EventId::random();
  result.operation = id.text();
  const storage::RemovalRow row{
      .before = before, .from = *from, .last = last->position, .aggregate = false, .operation = result.operation};
  RetentionPayload payload(result.operation, options);
  payload.text("aggregate", aggregate.text())
      .number("before", before.value)
      .number("version", head->version.value)
      .number("snapshots", *copies);
  if (result.covered_by)
    payload.number("covered_by", result.covered_by->value).number("covered_revision", result.covered_revision);
  else
    payload.flag("uncovered", true);
  auto entry = payload.take();
  EVERSHARD_TRY(check_fits(entry));
  auto event = retention_event(retention_log(), retention::truncation_ordered, std::move(entry));
  event.id = id;
  event.also = {aggregate};
  storage::RowWrites rows;
  rows.state = {put_row(storage::removing_key(aggregate), row, aggregate),
                put_row(storage::removed_key(aggregate), row, aggregate)};
  rows.snapshots_to_go.push_back({aggregate, before - 1, false});
  EVERSHARD_TRY(writer_.append_with(Append{}.event(std::move(event)), std::move(rows)));
  store_.removals().hide(aggregate, before);
  step(Steps::ordered);
  auto figures = rewrite(aggregate, row, pace);
  if (!figures) return refuse(std::move(figures).error());
  add(result, *figures);
  return result;
}

Result<RetentionResult> StoreRetention::remove_in_turn(const AggregateId& aggregate, std::optional<SeqNr> only_at,
                                                       const RetentionOrder& order, Pace& pace) {
  for (int tries = 0;; ++tries) {
    EVERSHARD_TRY(writer_.wait_settled(aggregate));
    const auto view = store_.view();
    auto head = reader_.head(view, aggregate);
    if (!head) return refuse(std::move(head).error());
    if (head->version == SeqNr{0})
      return refuse(ErrorCode::not_found, "there is no aggregate " + in_quotes(aggregate.text()));
    if (only_at && head->version != *only_at) return RetentionResult{};
    auto hidden = is_hidden(view, aggregate, *head);
    if (!hidden) return refuse(std::move(hidden).error());
    RetentionResult result{.version = head->version, .before = head->version};
    if (*hidden) return result;  // gone already

    auto removed = storage::removed_of(store_.rows(), aggregate);
    if (!removed) return refuse(std::move(removed).error());
    const SeqNr before = head->version + 1;  // its own event of the removal stands there
    const auto from = first_to_go(aggregate, *removed);
    if (!from) return refuse(from.error());
    auto snapshots = copies_below(aggregate, before, true);
    if (!snapshots) return refuse(std::move(snapshots).error());
    result.aggregates = 1;
    result.before = before;
    result.version = before;
    result.snapshots = *snapshots;
    if (order.dry_run) {
      result.version = head->version;
      auto figures = would_go(aggregate, *from, before, pace);
      if (!figures) return refuse(std::move(figures).error());
      add(result, *figures);
      return result;
    }

    const auto id = EventId::random();
    result.operation = id.text();
    const storage::RemovalRow row{
        .before = before, .from = *from, .last = head->last_position, .aggregate = true, .operation = result.operation};
    auto logged = retention_event(retention_log(), retention::removal_ordered,
                                  RetentionPayload(result.operation, order)
                                      .text("aggregate", aggregate.text())
                                      .number("before", before.value)
                                      .number("version", head->version.value)
                                      .number("snapshots", *snapshots)
                                      .take());
    EVERSHARD_TRY(check_fits(logged.payload));
    logged.id = id;
    logged.also = {aggregate};
    RetentionPayload marked(result.operation, order);
    marked.number("version", head->version.value);
    if (has_ended(view, aggregate, head->version)) marked.flag(retention::stream_had_ended, true);
    auto marker = retention_event(aggregate, retention::aggregate_removed, marked.take());
    storage::RowWrites rows;
    rows.state = {put_row(storage::removing_key(aggregate), row, aggregate),
                  put_row(storage::removed_key(aggregate), row, aggregate)};
    rows.snapshots_to_go.push_back({aggregate, before, true});
    auto done = writer_.append_with(Append{}
                                        .event(std::move(marker))
                                        .event(std::move(logged))
                                        .expect(aggregate, ExpectedVersion::exactly(head->version)),
                                    std::move(rows));
    if (!done && done.error().code == ErrorCode::version_conflict && tries < tries_max) {
      EVERSHARD_TRY(pace.report(0, 0));
      continue;  // events were added meanwhile: the order was to remove all events
    }
    if (!done) return refuse(std::move(done).error());
    store_.removals().hide(aggregate, before);
    touched_(aggregate);  // it would go on answering from its state in memory where nothing is written
    step(Steps::ordered);
    auto figures = rewrite(aggregate, row, pace);
    if (!figures) return refuse(std::move(figures).error());
    add(result, *figures);
    return result;
  }
}

Result<void> StoreRetention::take_over(const AggregateId& aggregate, const EventId& marker) {
  auto lock = turn({}, {});
  if (!lock) return refuse(std::move(lock).error());
  const auto view = store_.view();
  auto removed = storage::removed_of(store_.rows(), aggregate);
  if (!removed) return refuse(std::move(removed).error());
  StreamOptions options;
  if (*removed) options.from = (*removed)->before;
  auto events = reader_.open(view, aggregate, options);
  std::vector<RecordedEvent> page;
  std::optional<GlobalPosition> last;
  for (;;) {
    page.clear();
    EVERSHARD_TRY(events->next(take_over_events, batch_bytes, page));
    if (page.empty()) return {};  // not there: nothing to hide
    for (const auto& event : page) {
      if (event.id == marker) {
        if (*removed && (*removed)->aggregate && (*removed)->before == event.seq_nr) return {};  // it is so already
        const storage::RemovalRow row{
            .before = event.seq_nr, .from = event.seq_nr, .last = last.value_or(GlobalPosition{0}), .aggregate = true};
        storage::RowWrites rows;
        // Replicas hide what is being removed, and there is nothing that would still have to be rewritten.
        rows.state = {put_row(storage::removing_key(aggregate), row, aggregate),
                      put_row(storage::removed_key(aggregate), row, aggregate),
                      {storage::removing_key(aggregate), std::nullopt}};
        EVERSHARD_TRY(writer_.write_rows(std::move(rows)));
        store_.removals().hide(aggregate, event.seq_nr);
        store_.removals().done(aggregate);
        touched_(aggregate);
        return {};
      }
      if (event.state != EventState::removed && event.type != retention::aggregate_removed) return {};
      last = event.position;
    }
  }
}

Result<StoreRetention::Unfinished> StoreRetention::finish_in_turn(Pace& pace) {
  Unfinished unfinished;
  auto unsettled = writer_.settle(pace.progress);
  if (!unsettled) return refuse(std::move(unsettled).error());
  for (auto& left : *unsettled) {
    if (!unfinished.first) unfinished.first = left.why;
    if (left.aggregate) unfinished.aggregates.emplace_back(*std::move(left.aggregate), std::move(left.why));
  }
  auto removing = storage::removal_rows(store_.rows(), storage::removing_prefix);
  if (!removing) return refuse(std::move(removing).error());
  for (auto& row : removing->damaged) pass_over(unfinished, std::move(row.why));
  for (const auto& [aggregate, row] : removing->rows) {
    // What is not settled may be the event that says that it is done.
    if (!is_ours(aggregate) || std::ranges::find(unfinished.aggregates, aggregate,
                                                 &std::pair<AggregateId, Error>::first) != unfinished.aggregates.end())
      continue;
    store_.removals().hide(aggregate, row.before);
    auto figures = rewrite(aggregate, row, pace);
    if (figures) continue;
    if (figures.error().code != ErrorCode::corruption) return refuse(std::move(figures).error());
    pass_over(unfinished, figures.error());
    unfinished.aggregates.emplace_back(aggregate, std::move(figures).error());
  }
  auto erased = finish_erasures(pace);
  if (!erased && erased.error().code != ErrorCode::corruption) return refuse(std::move(erased).error());
  if (!erased) pass_over(unfinished, std::move(erased).error());
  return unfinished;
}

Result<void> StoreRetention::finish_others_and(const AggregateId& aggregate, Pace& pace) {
  const auto unfinished = finish_in_turn(pace);
  if (!unfinished) return refuse(unfinished.error());
  const auto own = std::ranges::find(unfinished->aggregates, aggregate, &std::pair<AggregateId, Error>::first);
  if (own != unfinished->aggregates.end()) return refuse(own->second);
  return {};
}

Result<SeqNr> StoreRetention::first_to_go(const AggregateId& aggregate,
                                          const std::optional<storage::RemovalRow>& removed) const {
  if (!removed) return SeqNr{1};
  auto unfinished = storage::removing_of(store_.rows(), aggregate);
  if (!unfinished) return refuse(std::move(unfinished).error());
  return *unfinished ? std::min((*unfinished)->from, removed->before) : removed->before;
}

/// From the first record again where it was broken off: what is rewritten already stays as it is.
Result<storage::RewriteFigures> StoreRetention::rewrite(const AggregateId& aggregate, const storage::RemovalRow& row,
                                                        Pace& pace) {
  const auto not_all_yet = [&](const Error& why) {
    // The shard is not here any more. A caller that got `wrong_shard` would take it that nothing was done.
    const auto code = why.code == ErrorCode::wrong_shard ? ErrorCode::unavailable : why.code;
    return refuse(code, in_quotes(aggregate.text()) + " is removed for every reader up to " +
                            std::to_string(row.before.value - 1) +
                            ", but its records are not all written anew yet: " + why.what);
  };
  storage::StreamRemoval removal(store_, store_.view(), aggregate, row.from, row.before);
  const auto total = row.before - row.from;
  while (!removal.at_end()) {
    const auto bytes = removal.figures().bytes_before;
    auto records = removal.next(batch_bytes);
    if (!records) return not_all_yet(records.error());
    storage::RowWrites rows;
    rows.rewrites = *std::move(records);
    const auto written = writer_.write_rows(std::move(rows));
    if (!written && written.error().code == ErrorCode::wrong_shard) return not_all_yet(written.error());
    EVERSHARD_TRY(written);
    step(Steps::rewritten);
    EVERSHARD_TRY(pace.passed(removal.figures().bytes_before - bytes, removal.at() - row.from, total));
  }
  const auto& figures = removal.figures();
  auto event = retention_event(retention_log(), row.aggregate ? retention::removal_done : retention::truncation_done,
                               RetentionPayload(row.operation, {})
                                   .text("aggregate", aggregate.text())
                                   .number("before", row.before.value)
                                   .figures(figures)
                                   .take());
  event.also = {aggregate};
  storage::RowWrites rows;
  rows.state.push_back({storage::removing_key(aggregate), std::nullopt});
  // Once more: one that was under way when the removal was ordered may have come behind it.
  if (row.aggregate) rows.snapshots_to_go.push_back({aggregate, row.before, true});
  EVERSHARD_TRY(writer_.append_with(Append{}.event(std::move(event)), std::move(rows)));
  store_.removals().done(aggregate);
  step(Steps::done);
  return figures;
}

Result<storage::RewriteFigures> StoreRetention::would_go(const AggregateId& aggregate, SeqNr from, SeqNr before,
                                                         Pace& pace) const {
  storage::StreamRemoval removal(store_, store_.view(), aggregate, from, before);
  storage::RewriteFigures figures;
  while (!removal.at_end()) {
    const auto events = removal.figures().events;
    auto records = removal.next(batch_bytes);
    if (!records) return refuse(std::move(records).error());
    figures += pace.counted_once(*records, removal.figures().events - events);
    EVERSHARD_TRY(pace.report(removal.at() - from, before - from));
  }
  return figures;
}

bool StoreRetention::has_ended(const storage::View& view, const AggregateId& aggregate, SeqNr version) const {
  const auto last = event_of(view, aggregate, version);
  return last && last->type == stream_ended_type;
}

Result<RecordedEvent> StoreRetention::event_of(const storage::View& view, const AggregateId& aggregate,
                                               SeqNr seq_nr) const {
  StreamOptions options;
  options.from = seq_nr;
  options.limit = 1;
  std::vector<RecordedEvent> events;
  EVERSHARD_TRY(reader_.open(view, aggregate, options)->next(1, 1, events));
  if (events.empty())
    return refuse(ErrorCode::corruption,
                  "event " + std::to_string(seq_nr.value) + " of " + in_quotes(aggregate.text()) + " is not there");
  return std::move(events.front());
}

Result<std::optional<RecordedSnapshot>> StoreRetention::standing_snapshot(const AggregateId& aggregate) const {
  auto latest = reader_.latest_snapshot(aggregate);
  if (!latest || !*latest) return latest;
  const auto id = sealed_by((*latest)->format, (*latest)->payload);
  if (!id) return latest;
  if (keys_ == nullptr) return std::nullopt;
  const auto key = keys_->find(*id);
  if (!key && key.error().code != ErrorCode::corruption && key.error().code != ErrorCode::not_found)
    return refuse(key.error());
  if (!key || !*key)
    return std::nullopt;  // its key is gone or damaged: nobody can open it, so that it stands for nothing
  return latest;
}

Result<std::uint64_t> StoreRetention::copies_below(const AggregateId& aggregate, SeqNr below, bool latest) const {
  auto all = reader_.snapshots(aggregate, Timestamp::first());
  if (!all) return refuse(std::move(all).error());
  return static_cast<std::uint64_t>(std::ranges::count_if(
      *all, [&](const auto& snapshot) { return snapshot.version < below && (latest || !snapshot.latest); }));
}

}  // namespace evershard::cluster
