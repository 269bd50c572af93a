// Row logs: what a shard's writer writes beside the journal, on its followers.

#include <algorithm>
#include <utility>

#include "evershard/cluster/node/node_committer.hpp"
#include "evershard/cluster/node/node_refusals.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/removal_mask.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/journal/row_log.hpp"
#include "evershard/storage/journal/snapshot_row.hpp"

namespace evershard::cluster {
namespace {

constexpr std::size_t row_log_bytes_max = 1u << 20;               ///< in one message
constexpr auto others_wait_max = std::chrono::milliseconds(500);  ///< for those that a quorum does not need

Error not_put_together(ShardId shard) {
  ErrorDetails details;
  details.shard = shard;
  return {ErrorCode::unavailable,
          "shard " + std::to_string(shard.value) +
              " has a new writer, which asks its replicas what was written beside the events under earlier ones: no "
              "quorum has answered yet",
          std::move(details)};
}

}  // namespace

void NodeCommitter::write_rows_here(storage::RowWrites rows, std::map<ShardId, storage::RowLogEntry> logged,
                                    std::map<ShardId, Epoch> held, NodeDone<void> done) {
  if (auto admitted = admit(); !admitted) return done(refuse(std::move(admitted).error()));
  post([this, rows = std::move(rows), logged = std::move(logged), held = std::move(held),
        done = std::move(done)]() mutable {
    if (dead_) return done(refuse(failed().value_or(Error(ErrorCode::unavailable, "the node is stopping"))));
    for (const auto& [shard, epoch] : held)
      if (!writers_->is_open(shard) || writers_->epoch(shard) != epoch) return done(refuse(not_open(shard)));
    std::erase_if(logged, [&](const auto& of) { return !held.contains(of.first) || !has_followers(of.first); });
    for (const auto& [shard, entry] : logged)
      if (!row_logs_.ready(shard)) return done(refuse(not_put_together(shard)));
    RowsWaiting waiting{{}, Clock::now(), true, std::move(done)};
    for (auto& [shard, entry] : logged) {
      entry.at = row_logs_.next(shard);
      rows.state.push_back({storage::row_log_key(shard, entry.at), storage::encode_row_log(shard, entry)});
      waiting.needed[shard] = {writers_->epoch(shard), entry.at};
    }
    if (auto written = write_rows(std::move(rows)); !written) return waiting.done(refuse(std::move(written).error()));
    for (const auto& [shard, needed] : waiting.needed) {
      row_log_ends_[shard] = needed.at;
      row_logs_.written(shard, needed.at);
    }
    if (waiting.needed.empty()) return waiting.done({});
    rows_waiting_.push_back(std::move(waiting));
  });
}

Result<void> NodeCommitter::write_rows(storage::RowWrites rows, std::vector<storage::PlacedSnapshot> snapshots) {
  storage::CommitBatch batch;
  batch.snapshots = std::move(snapshots);
  batch.state = std::move(rows.state);
  batch.rewrites = std::move(rows.rewrites);
  batch.snapshots_to_go = std::move(rows.snapshots_to_go);
  auto staged = store_.stage(batch);
  auto committed = store_.commit(*staged);
  if (committed) return {};
  fail(committed.error());
  return refuse(ErrorCode::timeout, "the outcome of what was written is unknown: " + committed.error().what);
}

bool NodeCommitter::has_followers(ShardId shard) const { return order_.replicas(shard).quorum > 1; }

// Who asks another replica right behind it is to find nothing of what is gone. Whoever is not there shows it until he
// is back in step.
void NodeCommitter::take_rows_waiting() {
  const auto now = Clock::now();
  for (auto& waiting : std::exchange(rows_waiting_, {})) {
    std::optional<Error> over;
    bool done = true;
    for (const auto& [shard, needed] : waiting.needed) {
      const auto named = "shard " + std::to_string(shard.value);
      if (dead_)
        over = failed().value_or(Error(ErrorCode::unavailable, "the node is stopping"));
      else if (!writers_->is_open(shard) || writers_->epoch(shard) != needed.epoch)
        over = Error(ErrorCode::timeout, named +
                                             " has got another writer before a quorum of its replicas had what was "
                                             "written: its outcome is unknown");
      else if (!row_logs_.quorum_has(shard, needed.at, order_.replicas(shard)) ||
               (waiting.for_all && !row_logs_.all_have(shard, needed.at) && now < waiting.since + others_wait_max))
        done = false;
      if (!over && !done && now >= waiting.since + options_.wait_max)
        over = Error(ErrorCode::timeout, "no quorum of the replicas of " + named +
                                             " has answered in time that it has what was written: its outcome is "
                                             "unknown");
    }
    if (over)
      waiting.done(refuse(*std::move(over)));
    else if (done)
      waiting.done({});
    else
      rows_waiting_.push_back(std::move(waiting));
  }
}

Result<RowLogPart> NodeCommitter::row_log(const RowLogAsked& asked) const {
  if (asked.shard.value >= store_.identity().shards)
    return refuse(ErrorCode::invalid_argument, "there is no shard " + std::to_string(asked.shard.value));
  auto range = storage::row_log_range(store_.rows(), asked.shard, asked.after,
                                      ShardOffset{std::numeric_limits<std::uint64_t>::max()}, row_log_bytes_max);
  if (!range) return refuse(std::move(range).error());
  auto snapshots = snapshots_of(asked.shard, range->rows);
  if (!snapshots) return refuse(std::move(snapshots).error());
  return RowLogPart{asked.shard, {}, asked.after, std::move(range->rows), *std::move(snapshots), range->more};
}

Result<storage::JournalSum> NodeCommitter::journal_sum(const JournalSumAsked& asked) const {
  constexpr std::uint64_t events_max = 50'000;
  if (asked.shard.value >= store_.identity().shards || asked.from.value == 0)
    return refuse(ErrorCode::invalid_argument, "there is no shard " + std::to_string(asked.shard.value) +
                                                   ", or no offset " + std::to_string(asked.from.value));
  return storage::journal_sum(store_.rows(), asked.shard, asked.from, asked.until, events_max);
}

Result<std::vector<RowLogPart::LatestSnapshot>> NodeCommitter::snapshots_of(
    ShardId shard, const std::vector<std::string>& rows) const {
  std::set<AggregateId> needed;
  for (const auto& row : rows) {
    const auto entry = storage::decode_row_log(shard, row);
    if (!entry) return refuse(entry.error());
    for (auto& aggregate : entry->needs_snapshots()) needed.insert(std::move(aggregate));
  }
  std::vector<RowLogPart::LatestSnapshot> snapshots;
  for (const auto& aggregate : needed) {
    const auto key = storage::keys::snapshot(aggregate, std::nullopt);
    const std::string_view wanted[] = {key};
    const auto row = store_.rows().get(storage::Family::state, wanted);
    if (!row) return refuse(row.error());
    if ((*row)->found(0)) snapshots.push_back({aggregate, std::string((*row)->value(0))});
  }
  return snapshots;
}

// Behind the inputs: whoever has less is sent it, whoever has more is asked.
void NodeCommitter::look_at_row_logs() {
  for (const auto& wanted : row_logs_.to_ask()) {
    network_.row_log(wanted.node, {wanted.shard, wanted.after}, [this, wanted](Result<RowLogPart> part) {
      post([this, wanted, part = std::move(part)] {
        if (!dead_) take_asked_row_log(wanted, part);
      });
    });
  }
  for (const auto& wanted : row_logs_.to_send()) {
    work_->run([this, wanted] {
      auto range = storage::row_log_range(store_.rows(), wanted.shard, wanted.after, wanted.tail, row_log_bytes_max);
      auto snapshots = range ? snapshots_of(wanted.shard, range->rows) : refuse(range.error());
      if (!snapshots && options_.warn) options_.warn(snapshots.error());
      if (!snapshots || range->rows.empty()) return;
      network_.ship_row_log(wanted.node, {wanted.shard, wanted.epoch, wanted.after, std::move(range->rows),
                                          *std::move(snapshots), range->more});
    });
  }
}

void NodeCommitter::take_asked_row_log(const RowLogs::Wanted& wanted, const Result<RowLogPart>& part) {
  const auto end = row_log_end(wanted.shard);
  const bool joins = part && part->shard == wanted.shard && part->after == wanted.after && end == wanted.after;
  if (part && !joins) return row_logs_.not_given(wanted);
  auto taken = part ? write_row_log(*part) : refuse(part.error());
  if (!taken) {
    // It is asked again in a moment, or another one that has as much.
    if (options_.warn && part) options_.warn(taken.error());
    return;
  }
  row_logs_.given(wanted, row_log_end(wanted.shard));
  shards_changed_ = true;
}

storage::RowLogAt NodeCommitter::row_log_end(ShardId shard) const {
  const auto end = row_log_ends_.find(shard);
  return end == row_log_ends_.end() ? storage::RowLogAt{} : end->second;
}

Result<void> NodeCommitter::read_row_log_ends() {
  for (std::uint32_t s = 0; s != store_.identity().shards; ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    const auto end = storage::row_log_end(store_.rows(), shard);
    if (!end) return refuse(end.error());
    if (*end != storage::RowLogAt{}) row_log_ends_[shard] = *end;
  }
  return {};
}

void NodeCommitter::receive(std::uint32_t from, RowLogPart part) {
  post([this, from, part = std::move(part)] {
    if (!dead_) take_row_log(from, part);
  });
}

void NodeCommitter::take_row_log(std::uint32_t from, const RowLogPart& part) {
  const auto shard = part.shard;
  if (order_.follows(shard) != part.epoch || !followed_.holds(shard) || shipping_.ships(shard)) return;
  if (row_log_end(shard) == part.after) {
    const auto taken = write_row_log(part);
    if (dead_) return;
    if (!taken && options_.warn)
      options_.warn(Error(taken.error().code, "what node " + std::to_string(from) +
                                                  " has removed is not removed here: " + taken.error().what));
  }
  network_.followed(from, {{{shard, part.epoch, followed_.tail(shard), row_log_end(shard)}}, false});
}

// As far as the journal here has what they name.
Result<void> NodeCommitter::write_row_log(const RowLogPart& part) {
  const auto shard = part.shard;
  storage::RowLogWrites writes(store_.rows(), shard);
  auto end = row_log_end(shard);
  const auto journal_end = tail(shard).value_or(ShardOffset{1});
  std::vector<storage::StateWrite> state;
  std::set<AggregateId> needed;
  for (const auto& row : part.rows) {
    const auto entry = storage::decode_row_log(shard, row);
    if (!entry) return refuse(entry.error());
    if (entry->at <= end) return refuse(ErrorCode::corruption, "entries of a row log come out of their sequence");
    if (entry->end() > journal_end) break;
    EVERSHARD_TRY(writes.add(*entry));
    end = entry->at;
    state.insert(state.end(), entry->state.begin(), entry->state.end());
    for (auto& aggregate : entry->needs_snapshots()) needed.insert(std::move(aggregate));
  }
  if (end == row_log_end(shard)) return {};
  std::vector<storage::PlacedSnapshot> snapshots;
  for (const auto& [aggregate, row] : part.snapshots) {
    if (!needed.contains(aggregate)) continue;
    auto snapshot = storage::decode_snapshot(row, aggregate);
    if (!snapshot) return refuse(std::move(snapshot).error());
    auto& placed = snapshots.emplace_back(storage::PlacedSnapshot{{}, snapshot->position});
    placed.snapshot.aggregate = aggregate;
    placed.snapshot.version = snapshot->version;
    placed.snapshot.payload = std::move(snapshot->payload);
    placed.snapshot.format = snapshot->format;
    placed.snapshot.schema_revision = snapshot->schema_revision;
    placed.snapshot.subject = std::move(snapshot->subject);
  }
  EVERSHARD_TRY(write_rows(writes.take(), std::move(snapshots)));
  row_log_ends_[shard] = end;
  for (const auto& write : state) {
    const auto removing = storage::removing_in(write);
    if (!removing) return refuse(removing.error());
    if (!*removing) continue;
    const auto& [aggregate, row] = **removing;
    row ? store_.removals().hide(aggregate, row->before) : store_.removals().done(aggregate);
  }
  return {};
}

// A state that lies in its snapshot alone: the next writer is to have it.
void NodeCommitter::put_logged(ShardId shard, const storage::PlacedSnapshot& snapshot, const NodeDone<void>& done) {
  if (!row_logs_.ready(shard)) return done(refuse(not_put_together(shard)));
  storage::RowLogEntry entry;
  entry.at = row_logs_.next(shard);
  entry.snapshots = {snapshot.snapshot.aggregate};
  auto state = storage::row_log_of(store_.rows(), shard, snapshot.snapshot.aggregate, entry.at);
  if (!state) return done(refuse(std::move(state).error()));
  storage::RowWrites rows;
  rows.state = *std::move(state);
  rows.state.push_back({storage::row_log_key(shard, entry.at), storage::encode_row_log(shard, entry)});
  if (auto written = write_rows(std::move(rows), {snapshot}); !written) return done(refuse(std::move(written).error()));
  row_log_ends_[shard] = entry.at;
  row_logs_.written(shard, entry.at);
  rows_waiting_.push_back({{{shard, {writers_->epoch(shard), entry.at}}}, Clock::now(), false, done});
}

}  // namespace evershard::cluster
