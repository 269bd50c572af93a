// Erasure of a subject: its key is destroyed, then what was sealed with it is taken out of the records.

#include <algorithm>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/name.hpp"
#include "evershard/protocol/retention_events.hpp"
#include "evershard/services/retention/retention_pace.hpp"
#include "evershard/services/retention/retention_payloads.hpp"
#include "evershard/services/retention/store_retention.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/snapshot_row.hpp"
#include "evershard/storage/order/order_lookup.hpp"

namespace evershard::cluster {
namespace {

constexpr std::size_t events_a_page = 256;
constexpr std::size_t page_bytes_max = 2u << 20;

/// Among the checkpoints and definitions, which a program that does not know them leaves alone. The value: the
/// operation's name.
constexpr std::string_view erasing_prefix = "retention/erasing/";

std::string erasing_key(const KeyId& key) {
  return storage::keys::checkpoint(std::string(erasing_prefix) + key.text());
}

}  // namespace

Result<RetentionResult> StoreRetention::erase(const std::string& subject, const RetentionOrder& order,
                                              const Progress& progress) {
  EVERSHARD_TRY(check_name("subject", subject, subject_bytes_max));
  if (keys_ == nullptr)
    return refuse(ErrorCode::invalid_argument,
                  "the store was opened without keys (--keys): nothing can be erased in it");
  auto lock = turn(order, progress);
  if (!lock) return refuse(std::move(lock).error());
  Pace pace{writer_, progress, order.bytes_per_second};
  if (!order.dry_run) EVERSHARD_TRY(finish_in_turn(pace));
  auto key = keys_->current(subject);
  if (!key) return refuse(std::move(key).error());
  if (!*key)
    return refuse(ErrorCode::not_found,
                  "subject " + in_quotes(subject) +
                      " has no key: nothing was sealed for it with these keys, or it is erased already");

  RetentionResult result;
  if (order.dry_run) {
    auto figures = take_out_in_turn(**key, true, pace);
    if (!figures) return refuse(std::move(figures).error());
    add(result, *figures);
    return result;
  }
  const auto id = EventId::random();
  result.operation = id.text();
  auto event = retention_event(retention_log(), retention::erasure_ordered,
                               RetentionPayload(result.operation, order).text("key", (*key)->text()).take());
  EVERSHARD_TRY(check_fits(event.payload));
  event.id = id;
  storage::RowWrites rows;
  rows.state.push_back({erasing_key(**key), result.operation});
  EVERSHARD_TRY(writer_.append_with(Append{}.event(std::move(event)), std::move(rows)));
  step(Steps::ordered);
  auto figures = erase_ordered(**key, result.operation, pace);
  if (!figures) return refuse(std::move(figures).error());
  add(result, *figures);
  return result;
}

/// Whatever was broken off before: the same once more.
Result<storage::RewriteFigures> StoreRetention::erase_ordered(const KeyId& key, const std::string& operation,
                                                              Pace& pace) {
  EVERSHARD_TRY(keys_->destroy(key));
  EVERSHARD_TRY(touch_who_has_snapshots(key, pace));
  auto figures = take_out_in_turn(key, false, pace);
  if (!figures) return figures;
  auto event = retention_event(retention_log(), retention::erasure_done,
                               RetentionPayload(operation, {}).text("key", key.text()).figures(*figures).take());
  storage::RowWrites rows;
  rows.state.push_back({erasing_key(key), std::nullopt});
  EVERSHARD_TRY(writer_.append_with(Append{}.event(std::move(event)), std::move(rows)));
  step(Steps::done);
  return figures;
}

/// Without its keys' directory a store cannot go on with it: whoever opens it with one does.
Result<void> StoreRetention::finish_erasures(Pace& pace) {
  if (keys_ == nullptr) return {};
  const auto prefix = storage::keys::checkpoint(erasing_prefix);
  std::vector<std::pair<KeyId, std::string>> left;
  auto cursor = store_.rows().cursor(storage::Family::state, {.prefix = prefix});
  for (cursor->seek(prefix); cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) {
    const auto id = KeyId::parse(cursor->key().substr(prefix.size()));
    if (!id) return refuse(ErrorCode::corruption, "a row of an erasure that is under way names no key");
    left.emplace_back(*id, cursor->value());
  }
  EVERSHARD_TRY(cursor->status());
  for (const auto& [key, operation] : left) EVERSHARD_TRY(erase_ordered(key, operation, pace));
  return {};
}

/// A state may be a subject's although no event of it is.
Result<void> StoreRetention::touch_who_has_snapshots(const KeyId& key, Pace& pace) const {
  const std::string prefix(1, static_cast<char>(storage::keys::StateKey::Kind::snapshot));
  std::uint64_t looked_at = 0;
  auto cursor = store_.rows().cursor(storage::Family::state, {.prefix = prefix, .scan = true});
  for (cursor->seek(prefix); cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) {
    if (++looked_at % events_a_page == 0) EVERSHARD_TRY(pace.report(0, 0));
    const auto at = storage::keys::decode_state(cursor->key());
    if (!at) continue;  // as below
    const auto snapshot = storage::decode_snapshot(cursor->value(), at->aggregate);
    if (snapshot && sealed_by(snapshot->format, snapshot->payload) == key)
      touched_(at->aggregate);  // what is damaged is verify's to name
  }
  return cursor->status();
}

Result<storage::RewriteFigures> StoreRetention::take_out(const KeyId& key, const RetentionOrder& order,
                                                         const Progress& progress) {
  auto unrecorded = order;
  unrecorded.dry_run = true;  // it is recorded by who ordered it: no entry of its own has to fit
  auto lock = turn(unrecorded, progress);
  if (!lock) return refuse(std::move(lock).error());
  Pace pace{writer_, progress, order.bytes_per_second};
  if (!order.dry_run) EVERSHARD_TRY(touch_who_has_snapshots(key, pace));
  return take_out_in_turn(key, order.dry_run, pace);
}

Result<storage::RewriteFigures> StoreRetention::take_out_in_turn(const KeyId& key, bool dry_run, Pace& pace) {
  const auto view = store_.view();
  auto cursor = reader_.open(view, Query::all(), {});
  const auto is_sealed = [&](const storage::EventView& event, const storage::FoundEvent&) -> Result<bool> {
    return event.state == EventState::live && sealed_by(event.format, event.payload) == key;
  };
  storage::RewriteFigures total;
  std::vector<storage::FoundEvent> found;
  for (std::vector<RecordedEvent> page; !cursor->at_end(); page.clear()) {
    EVERSHARD_TRY(cursor->next(events_a_page, page_bytes_max, page));
    if (page.empty()) break;
    EVERSHARD_TRY(pace.report(page.back().position.value, view.watermark.value));
    found.clear();
    for (const auto& event : page) {
      if (!writer_.has(event.shard) || event.state != EventState::live || sealed_by(event.format, event.payload) != key)
        continue;
      if (event.aggregate && !dry_run) touched_(*event.aggregate);
      auto place =
          storage::locate(store_.rows(), event.position, view.whole ? sharding::CutOf::store : sharding::CutOf::node);
      if (!place) return refuse(std::move(place).error());
      found.push_back(*place);
    }
    if (found.empty()) continue;
    std::ranges::sort(found, {}, &storage::FoundEvent::location);  // events of one record follow each other by place
    storage::RewriteFigures figures;
    auto records = storage::rewritten(store_.rows(), found, is_sealed, figures, EventState::erased);
    if (!records) return refuse(std::move(records).error());
    total += figures;
    if (dry_run) continue;
    storage::RowWrites rows;
    rows.rewrites = *std::move(records);
    EVERSHARD_TRY(writer_.write_rows(std::move(rows)));
    step(Steps::rewritten);
    EVERSHARD_TRY(pace.passed(figures.bytes_before, page.back().position.value, view.watermark.value));
  }
  return total;
}

}  // namespace evershard::cluster
