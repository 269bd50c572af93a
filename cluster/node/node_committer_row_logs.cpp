// Row logs: what a shard's writer writes beside the journal, on its followers.

#include <algorithm>
#include <iterator>
#include <utility>

#include "evershard/cluster/node/node_committer.hpp"
#include "evershard/cluster/node/node_refusals.hpp"
#include "evershard/sharding/route.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/latest_snapshot.hpp"
#include "evershard/storage/journal/removal_mask.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/journal/row_log.hpp"
#include "evershard/storage/journal/snapshot_row.hpp"

namespace evershard::cluster {
namespace {

constexpr std::size_t row_log_bytes_max = 1u << 20;   ///< in one message
constexpr std::size_t snapshot_bytes_max = 4u << 20;  ///< beside them, but for those of one entry
constexpr auto quorum_look = std::chrono::milliseconds(100);
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
      for (const auto& aggregate : entry.snapshots) {
        auto newest = storage::row_log_of(store_.rows(), shard, aggregate, entry.at);
        if (!newest) return waiting.done(refuse(std::move(newest).error()));
        std::ranges::move(*newest, std::back_inserter(rows.state));
        wait_for_newer(aggregate, shard, entry.at);
      }
      rows.state.push_back({storage::row_log_key(shard, entry.at), storage::encode_row_log(shard, entry)});
      if (auto stubbed = stub_again(shard, entry, rows); !stubbed)
        return waiting.done(refuse(std::move(stubbed).error()));
      waiting.needed[shard] = {writers_->epoch(shard), entry.at};
    }
    if (auto written = write_rows(std::move(rows)); !written) return waiting.done(refuse(std::move(written).error()));
    for (const auto& [shard, needed] : waiting.needed) look_at_row_log(shard);
    if (dead_) return waiting.done(refuse(failed().value()));
    if (waiting.needed.empty()) return waiting.done({});
    rows_waiting_.push_back(std::move(waiting));
  });
}

// What was read to be written anew may be from before a late entry stubbed other events of those records.
Result<void> NodeCommitter::stub_again(ShardId shard, const storage::RowLogEntry& entry,
                                       storage::RowWrites& rows) const {
  const auto late = stubbed_late_.find(shard);
  if (late == stubbed_late_.end() || late->second != writers_->epoch(shard)) return {};
  storage::RowLogEntry stubs;
  stubs.at = entry.at;
  stubs.removed = entry.removed;
  stubs.erased = entry.erased;
  storage::RowLogWrites writes(store_.rows(), shard);
  EVERSHARD_TRY(writes.add(stubs));
  std::erase_if(rows.rewrites, [&](const auto& rewrite) { return rewrite.shard == shard; });
  std::ranges::move(writes.take().rewrites, std::back_inserter(rows.rewrites));
  return {};
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

NodeCommitter::Clock::time_point NodeCommitter::RowsWaiting::looked_at_again() const {
  const auto enough = since + others_wait_max;
  return for_all && Clock::now() < enough ? enough : Clock::now() + quorum_look;
}

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
      else if (!row_logs_.quorum_has(shard, needed.at, counted(shard)) ||
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
  return part_of_row_log(asked.shard, asked.after, ShardOffset{std::numeric_limits<std::uint64_t>::max()});
}

// With the snapshots that its entries need, as they are now: as many entries as both leave room for, at least one.
Result<RowLogPart> NodeCommitter::part_of_row_log(ShardId shard, storage::RowLogAt after, ShardOffset until,
                                                  const std::optional<std::set<std::uint64_t>>& bases) const {
  auto range = storage::row_log_range(store_.rows(), shard, after, until, row_log_bytes_max);
  if (!range) return refuse(std::move(range).error());
  RowLogPart part{shard, {}, after, {}, {}, range->more};
  std::set<AggregateId> known;
  std::size_t bytes = 0;
  for (auto& row : range->rows) {
    const auto entry = storage::decode_row_log(shard, row);
    if (!entry) return refuse(entry.error());
    std::vector<RowLogPart::LatestSnapshot> snapshots;
    for (auto& aggregate : entry->needs_snapshots()) {
      if (known.contains(aggregate)) continue;
      if (bases) {
        auto two = storage::latest_snapshot_in_two_rows(store_.rows(), aggregate);
        if (!two) return refuse(std::move(two).error());
        if (*two) {
          if (bases->contains((*two)->base_checksum)) (*two)->base.clear();
          snapshots.push_back({std::move(aggregate), {}, std::move((*two)->base), std::move((*two)->latest)});
          continue;
        }
      }
      auto row = storage::latest_snapshot_row(store_.rows(), aggregate);
      if (!row) return refuse(std::move(row).error());
      if (*row && !passes_over(*entry, aggregate, **row)) snapshots.push_back({std::move(aggregate), **std::move(row)});
    }
    for (const auto& snapshot : snapshots)
      bytes += snapshot.row.size() + snapshot.base.size() + snapshot.difference.size();
    if (bytes > snapshot_bytes_max && !part.rows.empty()) {
      part.more = true;
      break;
    }
    for (auto& snapshot : snapshots) {
      known.insert(snapshot.aggregate);
      part.snapshots.push_back(std::move(snapshot));
    }
    part.rows.push_back(std::move(row));
  }
  return part;
}

// A damaged one would not be taken, and nothing behind it. The events have that state: whoever has the entries before
// has a snapshot for all events that were removed. Groups' states are nowhere else, and wait.
bool NodeCommitter::passes_over(const storage::RowLogEntry& entry, const AggregateId& aggregate,
                                std::string_view snapshot) const {
  if (!entry.has_snapshots_alone() || storage::may_lie_in_two_rows(aggregate)) return false;
  const auto read = storage::decode_snapshot(snapshot, aggregate);
  if (read || read.error().code != ErrorCode::corruption) return false;
  if (options_.warn)
    options_.warn(
        Error(ErrorCode::corruption, "other replicas do without a snapshot of this node's: " + read.error().what));
  return true;
}

Result<storage::JournalSum> NodeCommitter::journal_sum(const JournalSumAsked& asked) const {
  constexpr std::uint64_t events_max = 50'000;
  if (asked.shard.value >= store_.identity().shards || asked.from.value == 0)
    return refuse(ErrorCode::invalid_argument, "there is no shard " + std::to_string(asked.shard.value) +
                                                   ", or no offset " + std::to_string(asked.from.value));
  if (asked.snapshots) return storage::snapshots_sum(store_.rows(), asked.shard);
  return storage::journal_sum(store_.rows(), asked.shard, asked.from, asked.until, events_max);
}

// Behind the inputs: whoever has less is sent it, whoever has more is asked, and what is owed comes first.
void NodeCommitter::look_at_row_logs() {
  for (const auto& wanted : row_logs_.to_ask()) {
    network_.row_log(wanted.node, {wanted.shard, wanted.after}, [this, wanted](Result<RowLogPart> part) {
      post([this, wanted, part = std::move(part)] {
        if (!dead_) take_asked_row_log(wanted, part);
      });
    });
  }
  if (std::ranges::any_of(unlogged_, [&](const auto& of) { return row_logs_.owes(of.first); })) {
    log_snapshots();
    if (dead_) return;
  }
  mark_whole(row_logs_.to_mark());
  for (const auto& wanted : row_logs_.to_send()) {
    if (wanted.whole) {
      RowLogPart part{wanted.shard, wanted.epoch, {}, {}, {}, false, true};
      network_.ship_row_log(wanted.node, part);
      continue;
    }
    work_->run([this, wanted] {
      auto part = part_of_row_log(wanted.shard, wanted.after, wanted.tail, wanted.bases);
      if (!part && options_.warn) options_.warn(part.error());
      if (!part || part->rows.empty()) return;
      part->epoch = wanted.epoch;
      network_.ship_row_log(wanted.node, *part);
    });
  }
}

void NodeCommitter::mark_whole(const std::vector<std::pair<ShardId, Epoch>>& shards) {
  if (shards.empty() || dead_) return;
  storage::RowWrites rows;
  for (const auto& [shard, epoch] : shards) rows.state.push_back(storage::row_log_whole(shard, epoch));
  if (!write_rows(std::move(rows))) return;  // the node has failed with it
  for (const auto& [shard, epoch] : shards) {
    whole_row_logs_.insert(shard);
    row_logs_.marked(shard);
  }
}

// What is not given now is asked for again in a moment.
void NodeCommitter::take_asked_row_log(const RowLogs::Wanted& wanted, const Result<RowLogPart>& part) {
  if (!row_logs_.asks(wanted)) return;  // of an epoch that is over: somebody else writes the shard since, perhaps
  if (part && (part->shard != wanted.shard || part->after != wanted.after)) return;
  const bool late = row_logs_.ready(wanted.shard);
  auto taken = part ? write_row_log(*part, late ? RowLogBy::replica_late : RowLogBy::replica) : refuse(part.error());
  if (dead_) return;
  if (!taken) {
    if (options_.warn) options_.warn(taken.error());
    const auto code = taken.error().code;
    if (code == ErrorCode::corruption || code == ErrorCode::invalid_argument) row_logs_.not_taken(wanted);
    return;
  }
  if (*taken == wanted.after) return;  // nothing came of it
  row_logs_.given(wanted, taken->number, row_log_ends(wanted.shard));
  shards_changed_ = true;
}

// A group's next entry takes the place of an earlier one, of an earlier epoch perhaps: what is not on the disk any more
// is asked of nobody, who may have started again since.
void NodeCommitter::look_at_row_log(ShardId shard) {
  auto ends = storage::row_log_ends(store_.rows(), shard);
  if (!ends) return fail(ends.error());
  row_logs_.written(shard, *ends);
  row_log_ends_[shard] = *std::move(ends);
}

storage::RowLogEnds NodeCommitter::row_log_ends(ShardId shard) const {
  const auto ends = row_log_ends_.find(shard);
  return ends == row_log_ends_.end() ? storage::RowLogEnds{} : ends->second;
}

Result<void> NodeCommitter::read_row_log_ends() {
  for (std::uint32_t s = 0; s != store_.identity().shards; ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    auto ends = storage::row_log_ends(store_.rows(), shard);
    if (!ends) return refuse(std::move(ends).error());
    if (!ends->empty()) row_log_ends_[shard] = *std::move(ends);
  }
  auto whole = storage::whole_row_logs(store_.rows());
  if (!whole) return refuse(std::move(whole).error());
  whole_row_logs_ = *std::move(whole);
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
  if (part.whole && !whole_row_logs_.contains(shard)) {
    mark_whole({{shard, part.epoch}});
    if (dead_) return;
  }
  if (storage::number_of(row_log_ends(shard), part.after.epoch) == part.after.number) {
    const auto taken = write_row_log(part, RowLogBy::writer);
    if (dead_) return;
    if (!taken && options_.warn)
      options_.warn(Error(taken.error().code, "what node " + std::to_string(from) +
                                                  " has removed is not removed here: " + taken.error().what));
  }
  tell(from, {{as_followed(shard, part.epoch)}, false});
}

// As far as the journal here has what they name.
Result<storage::RowLogAt> NodeCommitter::write_row_log(const RowLogPart& part, RowLogBy by) {
  const auto shard = part.shard;
  storage::RowLogWrites writes(store_.rows(), shard);
  std::set<AggregateId> named;
  bool stubs = false;
  auto end = part.after;
  std::vector<storage::RowLogEntry> entries;
  const auto journal_end = tail(shard).value_or(ShardOffset{1});
  for (const auto& row : part.rows) {
    auto entry = storage::decode_row_log(shard, row);
    if (!entry) return refuse(entry.error());
    if (entry->at.epoch != end.epoch || entry->at.number <= end.number)
      return refuse(ErrorCode::corruption, "entries of a row log come out of their sequence");
    if (entry->end() > journal_end) break;
    std::ranges::copy(entry->needs_snapshots(), std::inserter(named, named.end()));
    stubs |= !entry->removed.empty() || !entry->erased.empty();
    end = entry->at;
    entries.push_back(*std::move(entry));
  }
  if (entries.empty()) return end;
  EVERSHARD_TRY(writes.look_behind(entries.front().at));
  const auto newer = writes.newer_snapshots();
  std::vector<storage::PlacedSnapshot> snapshots;
  std::vector<storage::StateWrite> two_rows;
  std::map<AggregateId, std::uint64_t> bases;
  std::set<AggregateId> taken;
  for (const auto& [aggregate, row, base, difference] : part.snapshots) {
    if (!named.contains(aggregate)) continue;
    const bool writers_older = by == RowLogBy::writer && newer.contains(aggregate);
    if (!difference.empty()) {
      if (by != RowLogBy::writer || writers_older) continue;  // nobody who is asked sends that
      auto two = storage::take_two_rows(store_.rows(), aggregate, base, difference);
      if (!two) return refuse(std::move(two).error());
      if (!*two) {  // the next word to the writer does not say that it is here: then it comes, too
        bases_here_[shard].erase(aggregate);
        return part.after;
      }
      std::ranges::move((*two)->rows, std::back_inserter(two_rows));
      if (!(*two)->rows.empty()) bases[aggregate] = (*two)->base_checksum;
      continue;
    }
    storage::PlacedSnapshot placed;
    auto snapshot = storage::decode_snapshot(row, aggregate, &placed.snapshot.keep);
    if (!snapshot) return refuse(std::move(snapshot).error());
    // One of a later version came to the writer with an older entry, and is with it since.
    if (writers_older && !takes_snapshot(RowLogBy::replica_late, snapshot->version, version_here(aggregate), true))
      continue;
    if (by != RowLogBy::writer &&
        !takes_snapshot(by, snapshot->version, version_here(aggregate), newer.contains(aggregate)))
      continue;
    taken.insert(aggregate);
    bases_here_[shard].erase(aggregate);
    placed.position = snapshot->position;
    placed.snapshot.aggregate = aggregate;
    placed.snapshot.version = snapshot->version;
    placed.snapshot.payload = std::move(snapshot->payload);
    placed.snapshot.format = snapshot->format;
    placed.snapshot.schema_revision = snapshot->schema_revision;
    placed.snapshot.subject = std::move(snapshot->subject);
    snapshots.push_back(std::move(placed));
  }
  if (by == RowLogBy::replica) {
    for (const auto& aggregate : named) {
      if (!taken.contains(aggregate))
        writes.keeps(aggregate);
      else
        writes.gives_way(aggregate);
    }
  }
  for (const auto& entry : entries) {
    auto goes_by = by == RowLogBy::writer ? Result<bool>(false) : writes.is_superseded(entry);
    if (!goes_by) return refuse(std::move(goes_by).error());
    // Of a late one this node's own entries say what became of its snapshots.
    if (!*goes_by && !(by == RowLogBy::replica_late && entry.has_snapshots_alone())) EVERSHARD_TRY(writes.add(entry));
  }
  auto rows = writes.take();
  const auto state = rows.state;
  std::ranges::move(two_rows, std::back_inserter(rows.state));
  if (by != RowLogBy::writer)
    std::erase_if(named, [&](const auto& aggregate) {
      return !is_logged_anew(by, newer.contains(aggregate), taken.contains(aggregate));
    });
  if (by == RowLogBy::replica_late) {
    EVERSHARD_TRY(log_latest(shard, named, rows));
    if (stubs) stubbed_late_[shard] = row_logs_.next(shard).epoch;
  } else if (by == RowLogBy::replica && !named.empty()) {
    unlogged_[shard].merge(named);
    row_logs_.owe(shard);
  }
  if (!rows.empty() || !snapshots.empty()) EVERSHARD_TRY(write_rows(std::move(rows), std::move(snapshots)));
  for (const auto& [aggregate, base] : bases) bases_here_[shard][aggregate] = base;
  look_at_row_log(shard);
  for (const auto& write : state) {
    const auto removing = storage::removing_in(write);
    if (!removing) return refuse(removing.error());
    if (!*removing) continue;
    const auto& [aggregate, row] = **removing;
    row ? store_.removals().hide(aggregate, row->before) : store_.removals().done(aggregate);
  }
  return end;
}

std::optional<SeqNr> NodeCommitter::version_here(const AggregateId& aggregate) const {
  const auto here = storage::latest_snapshot_of(store_.rows(), aggregate);
  return here && *here ? std::optional((*here)->version) : std::nullopt;
}

Result<void> NodeCommitter::log_latest(ShardId shard, const std::set<AggregateId>& aggregates,
                                       storage::RowWrites& rows) {
  storage::RowLogEntry entry;
  entry.at = row_logs_.next(shard);
  for (const auto& aggregate : aggregates) {
    entry.snapshots = {aggregate};
    auto newest = storage::row_log_of(store_.rows(), shard, aggregate, entry.at);
    if (!newest) return refuse(std::move(newest).error());
    std::ranges::move(*newest, std::back_inserter(rows.state));
    rows.state.push_back({storage::row_log_key(shard, entry.at), storage::encode_row_log(shard, entry)});
    wait_for_newer(aggregate, shard, entry.at);
    ++entry.at.number;
  }
  return {};
}

// A follower that says that it is past the earlier one may not have been sent that any more, and this one not yet.
void NodeCommitter::wait_for_newer(const AggregateId& aggregate, ShardId shard, storage::RowLogAt at) {
  for (auto& waiting : rows_waiting_)
    if (waiting.state == aggregate) waiting.needed.at(shard).at = at;
}

// A state that lies in its snapshot alone: the next writer is to have it.
void NodeCommitter::put_logged(ShardId shard, const storage::PlacedSnapshot& snapshot, const NodeDone<void>& done) {
  if (!row_logs_.ready(shard)) return done(refuse(not_put_together(shard)));
  const auto at = row_logs_.next(shard);
  storage::RowWrites rows;
  if (auto logged = log_latest(shard, {snapshot.snapshot.aggregate}, rows); !logged)
    return done(refuse(std::move(logged).error()));
  if (auto written = write_rows(std::move(rows), {snapshot}); !written) return done(refuse(std::move(written).error()));
  look_at_row_log(shard);
  if (dead_) return done(refuse(failed().value()));
  rows_waiting_.push_back(
      {{{shard, {writers_->epoch(shard), at}}}, Clock::now(), false, done, snapshot.snapshot.aggregate});
}

// One commit for many. Where they are not logged yet when this process ends, the next writer looks for them.
void NodeCommitter::log_snapshots() {
  constexpr std::size_t entries_max = 1'000;
  storage::RowWrites rows;
  std::set<ShardId> logged;
  std::size_t entries = 0;
  for (auto& [shard, aggregates] : unlogged_) {
    if (!shipping_.ships(shard) || !has_followers(shard)) aggregates.clear();
    if (aggregates.empty() || !writers_->is_open(shard) || !row_logs_.ready(shard)) continue;
    std::set<AggregateId> now;
    while (!aggregates.empty() && entries++ < entries_max) now.insert(aggregates.extract(aggregates.begin()));
    if (auto written = log_latest(shard, now, rows); !written) return fail(written.error());
    logged.insert(shard);
  }
  if (!rows.empty() && !write_rows(std::move(rows))) return;
  for (const auto shard : logged) look_at_row_log(shard);
  for (const auto& [shard, left] : unlogged_)
    if (left.empty()) row_logs_.paid(shard);
  std::erase_if(unlogged_, [](const auto& of) { return of.second.empty(); });
  // The next thousand.
  if (entries > entries_max) post([] {});
}

// Once an opening: of a former writer's, of an earlier release's, of shards that have replicas since.
void NodeCommitter::look_for_unlogged() {
  if (looking_for_unlogged_) return;
  std::map<ShardId, Epoch> shards;
  for (std::size_t s = 0; s != owner_of_.size(); ++s) {
    const ShardId shard{static_cast<std::uint16_t>(s)};
    if (!writers_->is_open(shard) || !has_followers(shard) || !row_logs_.ready(shard)) continue;
    const auto epoch = writers_->epoch(shard);
    if (looked_for_unlogged_[shard] != epoch) shards[shard] = epoch;
  }
  if (shards.empty()) return;
  looking_for_unlogged_ = true;
  work_->run([this, shards = std::move(shards)] {
    post([this, shards, found = unlogged_of(shards)] {
      looking_for_unlogged_ = false;
      for (const auto& [shard, epoch] : shards) looked_for_unlogged_[shard] = epoch;
      for (const auto& aggregate : found)
        unlogged_[sharding::shard_of(sharding::stream_hash(aggregate), store_.identity().shards)].insert(aggregate);
    });
  });
}

// Taken from a replica under an older entry than one here that had more than the snapshot, before this process or
// another one's end.
Result<std::vector<AggregateId>> NodeCommitter::logged_under_older(ShardId shard) const {
  std::vector<AggregateId> found;
  const auto prefix = storage::row_log_prefix_of(shard);
  const auto cursor = store_.rows().cursor(storage::Family::state, {.prefix = prefix, .scan = true});
  for (cursor->seek(prefix); cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) {
    const auto entry = storage::decode_row_log(shard, cursor->value());
    if (!entry) return refuse(entry.error());
    if (entry->has_snapshots_alone()) continue;
    for (const auto& aggregate : entry->snapshots) {
      const auto of = storage::row_log_at_of(store_.rows(), aggregate);
      if (!of) return refuse(of.error());
      if (*of && **of < entry->at) found.push_back(aggregate);
    }
  }
  EVERSHARD_TRY(cursor->status());
  return found;
}

std::vector<AggregateId> NodeCommitter::unlogged_of(const std::map<ShardId, Epoch>& shards) const {
  std::vector<AggregateId> unlogged;
  for (const auto& [shard, epoch] : shards)
    if (auto under_older = logged_under_older(shard))
      std::ranges::move(*under_older, std::back_inserter(unlogged));
    else if (options_.warn)
      options_.warn(under_older.error());
  const std::string prefix(1, static_cast<char>(storage::keys::StateKey::Kind::snapshot));
  const auto cursor = store_.rows().cursor(storage::Family::state, {.prefix = prefix, .scan = true});
  for (cursor->seek(prefix); cursor->valid() && cursor->key().starts_with(prefix); cursor->next()) {
    auto key = storage::keys::decode_state(cursor->key());
    if (!key || key->retained ||
        !shards.contains(sharding::shard_of(sharding::stream_hash(key->aggregate), store_.identity().shards)))
      continue;
    const auto of = storage::row_log_of_key(key->aggregate);
    const std::string_view wanted[] = {of};
    const auto row = store_.rows().get(storage::Family::state, wanted);
    if (row && !(*row)->found(0)) unlogged.push_back(std::move(key->aggregate));
  }
  if (auto ended = cursor->status(); !ended && options_.warn) options_.warn(ended.error());
  return unlogged;
}

}  // namespace evershard::cluster
