#include "evershard/cluster/retention/node_writer.hpp"

#include <mutex>
#include <utility>

#include "evershard/cluster/node/node_refusals.hpp"
#include "evershard/cluster/retention/retention_intent.hpp"
#include "evershard/storage/keys.hpp"
#include "evershard/storage/progress.hpp"
#include "evershard/storage/removal_mask.hpp"
#include "evershard/storage/removal_row.hpp"

namespace evershard::cluster {
namespace {

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

/// Nothing was appended, and nothing will be.
bool is_refusal(const Error& error) {
  switch (error.code) {
    case ErrorCode::version_conflict:
    case ErrorCode::condition_failed:
    case ErrorCode::duplicate_event:
    case ErrorCode::invalid_argument:
    case ErrorCode::invalid_query:
    case ErrorCode::too_large: return true;
    default: return false;
  }
}

Error not_known(const Error& why) {
  const auto code = why.code == ErrorCode::timeout || why.code == ErrorCode::io ? ErrorCode::timeout : ErrorCode::unavailable;
  return Error(code, "it is not known whether it was ordered; if it was, it is done by itself as soon as that is known: " + why.what);
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
  cursor->seek(prefix);
  const bool any = cursor->valid() && cursor->key().starts_with(prefix);
  EVERSHARD_TRY(cursor->status());
  return any;
}

Result<void> NodeWriter::append_with(Append append, storage::RowWrites rows) {
  append.request_id = EventId::random();
  for (auto& event : append.events) {
    if (!event.id.given()) event.id = EventId::random();
    if (!event.occurred_at) event.occurred_at = Timestamp::now();
  }
  const auto key = intent_key(append);
  storage::RowWrites first;
  first.rewrites = std::exchange(rows.rewrites, {});
  first.state.push_back({key, encode_intent({append, rows})});
  if (const auto aggregate = aggregate_of(rows); aggregate && !has(node_.shard_of(*aggregate))) return refuse(not_open(node_.shard_of(*aggregate)));
  EVERSHARD_TRY(write_rows(std::move(first)));
  step(Steps::intended);
  return settle(key, std::move(append), std::move(rows));
}

Result<void> NodeWriter::settle(const std::string& key, Append append, storage::RowWrites rows) {
  const auto appended = node_.append(std::move(append));
  if (!appended && is_refusal(appended.error())) {
    EVERSHARD_TRY(forget(key));
    return refuse(appended.error());
  }
  if (!appended) return refuse(not_known(appended.error()));
  step(Steps::decided);
  const auto state = rows.state;
  rows.state.push_back({key, std::nullopt});
  const auto written = write_rows(std::move(rows));
  if (!written) return refuse(not_known(written.error()));
  // Who comes by settle() has nobody else to hide it.
  for (const auto& write : state) {
    if (!write.key.starts_with(storage::keys::checkpoint(storage::removing_prefix))) continue;
    const auto aggregate = aggregate_of(write.key);
    if (!aggregate) continue;
    if (!write.value) {
      store_.removals().done(*aggregate);
      continue;
    }
    const auto row = storage::decode_removal(*write.value, *aggregate);
    if (!row) return refuse(row.error());
    store_.removals().hide(*aggregate, row->before);
    if (row->aggregate) touched_(*aggregate);
  }
  return {};
}

Result<void> NodeWriter::forget(const std::string& key) {
  storage::RowWrites nothing;
  nothing.state.push_back({key, std::nullopt});
  return write_rows(std::move(nothing));
}

Result<bool> NodeWriter::is_here(const storage::RowWrites& rows) const {
  for (const auto& write : rows.state) {
    if (!write.value || !write.key.starts_with(storage::keys::checkpoint(storage::removing_prefix))) continue;
    const auto aggregate = aggregate_of(write.key);
    if (!aggregate) continue;
    const auto row = storage::decode_removal(*write.value, *aggregate);
    if (!row) return refuse(row.error());
    StreamOptions last;
    last.from = row->before - 1;
    last.limit = 1;
    std::vector<RecordedEvent> events;
    EVERSHARD_TRY(reader_.open(store_.view(), *aggregate, last)->next(1, 1, events));
    return !events.empty() && events.front().seq_nr == last.from && events.front().position == row->last;
  }
  return true;
}

Result<void> NodeWriter::write_rows(storage::RowWrites rows) {
  if (rows.empty()) return {};
  NodeCommitter::OpenShards needed;
  const auto need = [&](ShardId shard) {
    const auto found = held_.find(shard);
    needed[shard] = found == held_.end() ? Epoch{0} : found->second;  // of none: refused
  };
  for (const auto& write : rows.state)
    if (const auto aggregate = aggregate_of(write.key)) need(node_.shard_of(*aggregate));
  for (const auto& rewrite : rows.rewrites) need(rewrite.shard);
  for (const auto& going : rows.snapshots_to_go) need(node_.shard_of(going.aggregate));
  return node_.write_rows_here(std::move(rows), std::move(needed));
}

Result<std::vector<RetentionWriter::Unsettled>> NodeWriter::settle(const Progress& progress) {
  std::vector<Unsettled> left;
  std::vector<std::pair<std::string, Result<RetentionIntent>>> intents;
  const auto prefix = storage::keys::checkpoint(intent_prefix);
  {
    const auto cursor = store_.rows().cursor(storage::Family::state, {.prefix = prefix});
    for (cursor->seek(prefix); cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) intents.emplace_back(cursor->key(), decode_intent(cursor->value()));
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
    if (nobody) {
      left.push_back({std::move(aggregate), *nobody});
      continue;
    }
    const auto here = is_here(intent->rows);
    if (!here) {
      left.push_back({std::move(aggregate), Error(ErrorCode::unavailable, "what it is about cannot be read: " + here.error().what)});
      continue;
    }
    auto settled = *here ? settle(key, std::move(intent->append), std::move(intent->rows)) : forget(key);
    if (settled || is_refusal(settled.error())) continue;
    if (settled.error().code == ErrorCode::timeout || settled.error().code == ErrorCode::unavailable) nobody = settled.error();
    left.push_back({std::move(aggregate), std::move(settled).error()});
  }
  return left;
}

}  // namespace evershard::cluster
