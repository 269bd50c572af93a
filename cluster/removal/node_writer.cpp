#include "evershard/cluster/removal/node_writer.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

#include "evershard/cluster/node/node_refusals.hpp"
#include "evershard/cluster/removal/retention_intent.hpp"
#include "evershard/protocol/retention_events.hpp"
#include "evershard/protocol/validate.hpp"
#include "evershard/services/retention/patience.hpp"
#include "evershard/services/retention/retention_payloads.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/removal_mask.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/journal/row_log.hpp"
#include "evershard/storage/progress.hpp"

namespace evershard::cluster {
namespace {

constexpr auto entry_shown_within = std::chrono::seconds(5);

/// Whose history the rows are about. Nothing: no aggregate's.
std::optional<AggregateId> aggregate_of(std::string_view row_key) {
  for (const auto name : {storage::removed_prefix, storage::removing_prefix}) {
    const auto prefix = storage::keys::checkpoint(name);
    if (!row_key.starts_with(prefix)) continue;
    if (auto aggregate = AggregateId::parse(row_key.substr(prefix.size()))) return *std::move(aggregate);
  }
  return std::nullopt;
}

std::optional<AggregateId> aggregate_of(const storage::RowWrites& rows) {
  for (const auto& write : rows.state)
    if (auto aggregate = aggregate_of(write.key)) return aggregate;
  return std::nullopt;
}

struct RemovalOf {
  AggregateId aggregate;
  storage::RemovalRow row;
};

/// What the rows remove. Nothing: they remove nothing.
Result<std::optional<RemovalOf>> removal_of(const storage::RowWrites& rows) {
  for (const auto& write : rows.state) {
    auto removing = storage::removing_in(write);
    if (!removing) return refuse(std::move(removing).error());
    if (*removing && (*removing)->row)
      return std::optional(RemovalOf{std::move((*removing)->aggregate), *std::move((*removing)->row)});
  }
  return std::optional<RemovalOf>{};
}

const Event* event_of_type(const Append& append, std::string_view type) {
  const auto found = std::ranges::find(append.events, type, &Event::type);
  return found == append.events.end() ? nullptr : &*found;
}

/// What the log says of what is ordered by the append. Nothing: it orders nothing.
const Event* order_of(const Append& append) {
  const auto* removal = event_of_type(append, retention::removal_ordered);
  return removal != nullptr ? removal : event_of_type(append, retention::truncation_ordered);
}

/// Without the entry of the log that goes with it: that one stands.
bool is_marker_alone(const Append& append) {
  return append.events.size() == 1 && append.events.front().type == retention::aggregate_removed;
}

void name(Append& append) {
  append.request_id = EventId::random();
  for (auto& event : append.events) {
    if (!event.id.given()) event.id = EventId::random();
    if (!event.occurred_at) event.occurred_at = Timestamp::now();
  }
}

/// Nothing was appended, and nothing will be.
bool is_refusal(const Error& error) {
  switch (error.code) {
    case ErrorCode::version_conflict:
    case ErrorCode::condition_failed:
    case ErrorCode::duplicate_event:
    case ErrorCode::invalid_argument:
    case ErrorCode::invalid_query:
    case ErrorCode::too_large:
      return true;
    default:
      return false;
  }
}

Error not_known(const Error& why) {
  const auto code =
      why.code == ErrorCode::timeout || why.code == ErrorCode::io ? ErrorCode::timeout : ErrorCode::unavailable;
  return Error(
      code,
      "it is not known whether it was ordered; if it was, it is done by itself as soon as that is known: " + why.what);
}

}  // namespace

void NodeWriter::shards_are(NodeCommitter::OpenShards open) {
  const std::lock_guard lock(mutex_);
  open_ = std::move(open);
}

NodeCommitter::OpenShards NodeWriter::open() const {
  const std::lock_guard lock(mutex_);
  return open_;
}

void NodeWriter::begin() {
  const std::lock_guard lock(mutex_);
  held_ = open_;
}

Result<bool> NodeWriter::has_unsettled() const {
  const auto prefix = storage::keys::checkpoint(intent_prefix);
  const auto cursor = store_.rows().cursor(storage::Family::state, {.prefix = prefix});
  const auto open_here = open();
  for (cursor->seek(prefix); cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) {
    const auto intent = decode_intent(cursor->value());
    // One that cannot be read is settled by nobody; verify names it.
    if (!intent || !intent->shard || open_here.contains(*intent->shard)) return true;
  }
  EVERSHARD_TRY(cursor->status());
  return false;
}

Result<void> NodeWriter::append_with(Append append, storage::RowWrites rows) {
  name(append);
  EVERSHARD_TRY(check(append, node_.limits()));  // the records that go with it are rewritten by the first commit
  const Intent intent{intent_key(append), keeper_of(append, rows)};
  storage::RowWrites first;
  first.rewrites = std::exchange(rows.rewrites, {});
  first.stood_for = std::exchange(rows.stood_for, {});
  first.state.push_back({intent.key, encode_intent({append, rows, intent.shard})});
  if (const auto aggregate = aggregate_of(rows); aggregate && !has(node_.shard_of(*aggregate)))
    return refuse(not_open(node_.shard_of(*aggregate)));
  EVERSHARD_TRY(write_rows(std::move(first), intent.shard));
  step(Steps::intended);
  return settle(intent, std::move(append), std::move(rows), Sent::first);
}

Result<void> NodeWriter::settle(const Intent& intent, Append append, storage::RowWrites rows, Sent sent) {
  // What is sent again names its ids: it is answered as before, and whoever settles many does not wait for each.
  const auto appended = sent == Sent::first ? patiently([&] { return node_.append(append); }, usual_patience, go_on())
                                            : node_.append(append);
  if (!appended && sent == Sent::again && append.events.size() > 1 &&
      (is_refusal(appended.error()) || appended.error().code == ErrorCode::overloaded)) {
    return settle_in_part(intent, std::move(append), std::move(rows), appended.error());
  }
  if (!appended && is_refusal(appended.error())) {
    EVERSHARD_TRY(is_marker_alone(append) ? drop(intent, retention::removal_dropped, rows, appended.error().what)
                                          : forget(intent));
    return refuse(appended.error());
  }
  if (!appended) return refuse(not_known(appended.error()));
  step(Steps::decided);
  return stands(intent, std::move(rows));
}

/// The rows take the intent's place.
Result<void> NodeWriter::stands(const Intent& intent, storage::RowWrites rows) {
  const auto state = rows.state;
  rows.state.push_back({intent.key, std::nullopt});
  const auto written = write_rows(std::move(rows), intent.shard);
  if (!written) return refuse(not_known(written.error()));
  // Who comes by settle() has nobody else to hide it.
  for (const auto& write : state) {
    const auto removing = storage::removing_in(write);
    if (!removing) return refuse(removing.error());
    if (!*removing) continue;
    const auto& [aggregate, row] = **removing;
    row ? store_.removals().hide(aggregate, row->before) : store_.removals().done(aggregate);
    if (row && row->aggregate) touched_(aggregate);
  }
  return {};
}

/// Behind a loss that an operator accepted one of its events may be gone, and nobody answers it any more. Where the
/// aggregate's own is there, it stands. Where only the log's is, the order has it: the other is appended anew, at the
/// version that was looked at.
Result<void> NodeWriter::settle_in_part(const Intent& intent, Append append, storage::RowWrites rows,
                                        const Error& why) {
  const auto* marker = event_of_type(append, retention::aggregate_removed);
  const auto removal = removal_of(rows);
  if (!removal) return refuse(removal.error());
  const auto refused = [&]() -> Result<void> {
    if (!is_refusal(why)) return refuse(not_known(why));
    EVERSHARD_TRY(forget(intent));
    return refuse(why);
  };
  if (marker == nullptr || !*removal) return refused();
  const auto logged = find_in_log(append, (*removal)->row.last);
  if (!logged) return refuse(not_known(logged.error()));
  if (*logged)
    if (auto there = node_.wait_for(**logged, entry_shown_within); !there) return refuse(not_known(there.error()));
  const auto here = reader_.find_id(store_.view(), marker->id, node_.shard_of((*removal)->aggregate));
  if (!here) return refuse(not_known(here.error()));
  if (*here) return stands(intent, std::move(rows));
  if (!*logged) return refused();
  Append alone = append;
  std::erase_if(alone.events, [](const Event& event) { return event.type != retention::aggregate_removed; });
  alone.events.front().id = EventId::random();
  return replace(intent, std::move(alone), std::move(rows));
}

/// The log's event of what is ordered by the append, where it is there; no event up to `after` is. Errors: unavailable,
/// corruption: behind a loss
Result<std::optional<GlobalPosition>> NodeWriter::find_in_log(const Append& append, GlobalPosition after) const {
  const auto* ordered = order_of(append);
  if (ordered == nullptr) return std::optional<GlobalPosition>{};
  StreamOptions options;
  options.direction = Direction::backwards;
  auto log = node_.read(retention_log(), options);
  for (;;) {
    auto event = log.next();
    if (!event) return refuse(std::move(event).error());
    if (!*event || (*event)->position <= after) return std::optional<GlobalPosition>{};
    if ((*event)->id == ordered->id) return std::optional((*event)->position);
  }
}

Result<void> NodeWriter::replace(const Intent& intent, Append by, storage::RowWrites rows) {
  name(by);
  const Intent own{intent_key(by), intent.shard};
  storage::RowWrites first;
  first.state = {{intent.key, std::nullopt}, {own.key, encode_intent({by, rows, own.shard})}};
  EVERSHARD_TRY(write_rows(std::move(first), own.shard));
  step(Steps::intended);
  return settle(own, std::move(by), std::move(rows), Sent::first);
}

/// It is not done, and the log, which has the order, says so.
Result<void> NodeWriter::drop(const Intent& intent, std::string_view type, const storage::RowWrites& rows,
                              const std::string& why) {
  const auto removal = removal_of(rows);
  if (!removal) return refuse(removal.error());
  if (!*removal) return forget(intent);
  const auto& row = (*removal)->row;
  auto event = retention_event(retention_log(), type,
                               RetentionPayload(row.operation, {})
                                   .text("aggregate", (*removal)->aggregate.text())
                                   .number("before", row.before.value)
                                   .text("why", why)
                                   .take());
  event.also = {(*removal)->aggregate};
  return replace(intent, Append{}.event(std::move(event)), {});
}

/// The events that the intent is about are not here any more.
Result<void> NodeWriter::let_go(const Intent& intent, const RetentionIntent& what) {
  const auto removal = removal_of(what.rows);
  if (!removal) return refuse(removal.error());
  if (!*removal) return forget(intent);
  const bool alone = is_marker_alone(what.append);
  const auto logged = alone ? Result<std::optional<GlobalPosition>>((*removal)->row.last)
                            : find_in_log(what.append, (*removal)->row.last);
  if (!logged) return refuse(not_known(logged.error()));
  if (!*logged) return forget(intent);
  return drop(intent, (*removal)->row.aggregate ? retention::removal_dropped : retention::truncation_dropped, what.rows,
              "the events it was about were lost, as an operator accepted");
}

Result<void> NodeWriter::forget(const Intent& intent) {
  storage::RowWrites nothing;
  nothing.state.push_back({intent.key, std::nullopt});
  return write_rows(std::move(nothing), intent.shard);
}

Result<bool> NodeWriter::is_here(const storage::RowWrites& rows) const {
  const auto removal = removal_of(rows);
  if (!removal) return refuse(removal.error());
  if (!*removal) return true;
  const auto& row = (*removal)->row;
  StreamOptions last;
  last.from = row.before - 1;
  last.limit = 1;
  std::vector<RecordedEvent> events;
  EVERSHARD_TRY(reader_.open(store_.view(), (*removal)->aggregate, last)->next(1, 1, events));
  return !events.empty() && events.front().seq_nr == last.from && events.front().position == row.last;
}

// A writer died with it alone, came back, and is asked for what nobody else has. Its key is its own: no newer row says
// that it is over.
Result<bool> NodeWriter::is_over(const Append& append, const storage::RowWrites& rows) const {
  const auto* done = event_of_type(append, retention::removal_done);
  if (done == nullptr) done = event_of_type(append, retention::truncation_done);
  if (done == nullptr) return false;
  for (const auto& write : rows.state) {
    const auto removing = storage::removing_in(write);
    if (!removing) return refuse(removing.error());
    if (!*removing || (*removing)->row) continue;
    const auto here = storage::removing_of(store_.rows(), (*removing)->aggregate);
    if (!here) return refuse(here.error());
    if (!*here || (*here)->operation != operation_of(done->payload)) return true;
  }
  return false;
}

std::optional<ShardId> NodeWriter::keeper_of(const Append& append, const storage::RowWrites& rows) const {
  std::optional<ShardId> keeper;
  if (const auto aggregate = aggregate_of(rows)) {
    keeper = node_.shard_of(*aggregate);
  } else if (!rows.rewrites.empty()) {
    keeper = rows.rewrites.front().shard;
  } else if (!rows.snapshots_to_go.empty()) {
    keeper = node_.shard_of(rows.snapshots_to_go.front().aggregate);
  } else {
    for (const auto& event : append.events)
      for (const auto& aggregate : event.also)
        if (has(node_.shard_of(aggregate))) keeper = node_.shard_of(aggregate);
  }
  return keeper && node_.committer().has_replicas(*keeper) ? keeper : std::nullopt;
}

Result<void> NodeWriter::write_rows(storage::RowWrites rows, std::optional<ShardId> intents) {
  if (rows.empty()) return {};
  const auto of_aggregate = [&](const AggregateId& aggregate) { return node_.shard_of(aggregate); };
  const auto of_state = [&](const storage::StateWrite& write) -> std::optional<ShardId> {
    if (const auto aggregate = aggregate_of(write.key)) return node_.shard_of(*aggregate);
    return write.key.starts_with(storage::keys::checkpoint(intent_prefix)) ? intents : std::nullopt;
  };
  auto logged = storage::row_log_entries(rows, of_aggregate, of_state);
  NodeCommitter::OpenShards needed;
  for (const auto& [shard, entry] : logged) {
    const auto found = held_.find(shard);
    needed[shard] = found == held_.end() ? Epoch{0} : found->second;  // of none: refused
  }
  return patiently([&] { return node_.write_rows_here(rows, logged, needed); }, usual_patience, go_on());
}

Result<std::vector<RetentionWriter::Unsettled>> NodeWriter::settle(const Progress& progress) {
  std::vector<Unsettled> left;
  std::vector<std::pair<std::string, Result<RetentionIntent>>> intents;
  const auto prefix = storage::keys::checkpoint(intent_prefix);
  {
    const auto cursor = store_.rows().cursor(storage::Family::state, {.prefix = prefix});
    for (cursor->seek(prefix); cursor->valid() && cursor->key().starts_with(prefix); cursor->next())
      intents.emplace_back(cursor->key(), decode_intent(cursor->value()));
    EVERSHARD_TRY(cursor->status());
  }
  std::optional<Error> nobody;  // takes appends just now: each of the others would wait for as long
  for (auto& [key, intent] : intents) {
    EVERSHARD_TRY(storage::report(progress, 0, 0));
    if (!intent) {
      left.push_back({{}, std::move(intent).error()});
      continue;
    }
    auto aggregate = aggregate_of(intent->rows);
    if (aggregate && !has(node_.shard_of(*aggregate))) continue;  // its owner's
    if (intent->shard && !has(*intent->shard)) continue;
    if (nobody) {
      left.push_back({std::move(aggregate), *nobody});
      continue;
    }
    const auto here = is_here(intent->rows);
    if (!here) {
      left.push_back({std::move(aggregate),
                      Error(ErrorCode::unavailable, "what it is about cannot be read: " + here.error().what)});
      continue;
    }
    const Intent kept{key, intent->shard};
    const auto over = is_over(intent->append, intent->rows);
    if (!over) {
      left.push_back({std::move(aggregate), over.error()});
      continue;
    }
    if (*over) {
      if (auto gone = forget(kept); !gone) left.push_back({std::move(aggregate), std::move(gone).error()});
      continue;
    }
    // Perhaps this disk alone has it: whoever writes the shard next is to have it before it is appended.
    if (const auto shard = intent->shard; shard && *here && relogged_[key] != held_.at(*shard)) {
      storage::RowWrites again;
      again.state.push_back({key, encode_intent(*intent)});
      if (auto logged = write_rows(std::move(again), shard); !logged) {
        left.push_back({std::move(aggregate), std::move(logged).error()});
        continue;
      }
      relogged_[key] = held_.at(*shard);
    }
    auto settled =
        *here ? settle(kept, std::move(intent->append), std::move(intent->rows), Sent::again) : let_go(kept, *intent);
    if (settled) relogged_.erase(key);
    if (settled || is_refusal(settled.error())) continue;
    if (settled.error().code == ErrorCode::timeout || settled.error().code == ErrorCode::unavailable)
      nobody = settled.error();
    left.push_back({std::move(aggregate), std::move(settled).error()});
  }
  return left;
}

}  // namespace evershard::cluster
