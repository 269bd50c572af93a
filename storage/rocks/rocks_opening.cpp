// Opening a RocksStore: what is in the folder, whose it is, how far it was recovered, and the tail rebuilt.

#include <algorithm>
#include <limits>
#include <string>
#include <system_error>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/directory_kind.hpp"
#include "evershard/storage/given_up.hpp"
#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/index/tail_rebuild.hpp"
#include "evershard/storage/journal/keys.hpp"
#include "evershard/storage/journal/new_identity.hpp"
#include "evershard/storage/journal/removal_row.hpp"
#include "evershard/storage/journal/row_log.hpp"
#include "evershard/storage/learned/learned_shards.hpp"
#include "evershard/storage/learned/take_learned.hpp"
#include "evershard/storage/order/recovered_order.hpp"
#include "evershard/storage/refusals.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"
#include "evershard/storage/rocks/rocks_store.hpp"
#include "evershard/storage/steps.hpp"

namespace evershard::storage {
namespace {

struct Folder {
  bool current = false;
  bool tables = false;
  std::string newest_log;
};

Folder look_into(const std::filesystem::path& database) {
  Folder found;
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(database, ignored), end; at != end; at.increment(ignored)) {
    auto name = at->path().filename().string();
    if (name == "CURRENT") found.current = true;
    if (name.ends_with(".sst")) found.tables = true;
    if (name.ends_with(".log")) found.newest_log = std::max(found.newest_log, name);
  }
  return found;
}

bool is_lock_held(const rocksdb::Status& status) {
  auto text = status.ToString();
  return status.IsIOError() && (text.find("lock hold by current process") != std::string::npos ||
                                text.find("While lock file") != std::string::npos);
}

bool has_unknown_families(const rocksdb::Status& status) {
  return status.IsInvalidArgument() && status.ToString().find("olumn families not opened") != std::string::npos;
}

/// A node's store is opened as that node's, a whole one as a whole one; who only looks may look at both.
Result<void> check_member(const Identity& identity, const StoreOptions& options) {
  const auto where = "the store in " + options.data_dir.string();
  if (!options.member) {
    if (identity.node == 0 || options.read_only) return {};
    return invalid(where + " is node " + std::to_string(identity.node) +
                   "'s part of a cluster's store: only that node opens it");
  }
  if (identity.node == 0) return invalid(where + " is a whole store, not a node's");
  if (identity.node != options.member->node)
    return invalid(where + " is node " + std::to_string(identity.node) + "'s, not node " +
                   std::to_string(options.member->node) + "'s");
  if (identity.store != options.member->store)
    return invalid(where + " is of cluster " + identity.store.text() + ", not of " + options.member->store.text());
  if (identity.fork != options.member->fork)
    return invalid(where + " is of fork " + identity.fork.text() + " of its cluster, not of " +
                   options.member->fork.text());
  if (identity.term_key != options.member->term_key)
    return invalid(where + " hashes terms under another key than its cluster");
  return {};
}

}  // namespace

Result<std::unique_ptr<Store>> open_rocks_store(StoreOptions options) {
  if (options.member) return invalid("a whole store is no cluster's member");
  return RocksStore::open(std::move(options));
}

Result<std::unique_ptr<NodeStore>> open_rocks_node_store(StoreOptions options) {
  if (!options.member || options.member->node == 0)
    return invalid("a node's store needs the node's number, from 1, and its cluster");
  return RocksStore::open(std::move(options));
}

Result<std::optional<Identity>> identity_in(const std::filesystem::path& data_dir) {
  const auto database = data_dir / "db";
  if (data_dir.empty() || !look_into(database).current) return std::nullopt;
  StoreOptions options;
  options.data_dir = data_dir;
  return RocksFamilies::stored_identity(RocksOptions(options), database.string());
}

Result<std::unique_ptr<RocksStore>> RocksStore::open(StoreOptions options) {
  if (options.data_dir.empty()) return invalid("a store on disk needs a data directory");
  if (options.shards > shards_max)
    return invalid("a store has at most 65535 shards, not " + std::to_string(options.shards));
  if (options.tail_events == 0 || options.tail_bytes_max == 0 || options.record_bytes == 0 ||
      options.memtable_bytes == 0)
    return invalid("tail_events, tail_bytes_max, record_bytes and memtable_bytes are above 0");
  std::unique_ptr<RocksStore> store(new RocksStore(std::move(options)));
  EVERSHARD_TRY(store->look_at_folder());
  EVERSHARD_TRY(store->open_database());
  EVERSHARD_TRY(store->identify());
  EVERSHARD_TRY(store->take_what_was_learned());
  EVERSHARD_TRY(store->take_off_what_was_given_up());
  EVERSHARD_TRY(store->compare_with_mark_file());
  EVERSHARD_TRY(store->rebuild());
  store->start();
  return store;
}

Result<void> RocksStore::look_at_folder() {
  const auto there = may_be_opened(options_.data_dir, DirectoryKind::store, options_.create && !options_.read_only);
  if (!there) return refuse(there.error());
  const auto found = look_into(database_);
  std::error_code error;
  if (found.current) return {};
  // MARK is made when a new store is complete: without it, what lies here is a creation that was broken off.
  if (std::filesystem::exists(mark_path_, error) || found.tables)
    return corrupt("CURRENT is missing from " + database_.string() + ", which holds a store");
  creating_ = true;
  std::filesystem::create_directories(database_, error);
  if (error) return refuse(ErrorCode::io, "cannot create " + database_.string() + ": " + error.message());
  return {};
}

Result<void> RocksStore::open_database() {
  disk_ = std::make_shared<DiskSpace>(options_.data_dir, options_.disk_reserve_bytes);
  if (!options_.read_only) {
    if (const auto room = room_to_open(database_); !room.there())
      return refuse(ErrorCode::unavailable, "the disk of " + options_.data_dir.string() + " has " +
                                                std::to_string(room.free) + " bytes left: to open the store takes " +
                                                std::to_string(room.needed));
    merges_ = std::make_shared<MergePace>([disk = disk_] { return disk->has_room_to_merge(); });
    rocks_.set_merge_pace(merges_);
  }
  std::unique_ptr<RocksFamilies> families;
  auto status = RocksFamilies::open(rocks_.for_opening(), database_.string(), options_.read_only, families);
  if (is_lock_held(status))
    return refuse(ErrorCode::unavailable,
                  options_.data_dir.string() + " is open already: " + StoreOwner::named_in(owner_path_));
  if (has_unknown_families(status)) {
    auto format = RocksFamilies::stored_identity(rocks_, database_.string());
    if (!format) return refuse(std::move(format).error());
    return corrupt(options_.data_dir.string() + " has column families no store of format " +
                   std::to_string(format_version) + " has: " + status.ToString());
  }
  // A file that should be there and is not: damage, not a fault of the disk.
  if (status.IsPathNotFound() || status.IsNotFound() ||
      (status.IsIOError() && status.ToString().find("No such file") != std::string::npos))
    return corrupt("cannot open " + database_.string() + ": " + status.ToString());
  if (!status.ok()) return refuse(error_of(status, "cannot open " + database_.string()));
  families_ = std::move(families);
  rows_ = std::make_unique<RocksRows>(families_, rocks_.cache());
  if (!options_.read_only) {
    auto owner = StoreOwner::write(owner_path_);
    if (!owner) return refuse(std::move(owner).error());
    owner_ = std::move(*owner);
  }
  step(steps::open_locked);
  return {};
}

Result<void> RocksStore::identify() {
  auto key = keys::identity();
  std::string_view wanted[] = {key};
  auto row = rows_->get(Family::state, wanted);
  if (!row) return refuse(std::move(row).error());
  if ((*row)->found(0)) {
    auto identity = decode_identity((*row)->value(0));
    if (!identity) return refuse(std::move(identity).error());
    identity_ = *identity;
  } else {
    std::error_code ignored;
    auto order = rows_->cursor(Family::order, {});
    order->seek({});
    EVERSHARD_TRY(order->status());
    if (order->valid() || std::filesystem::exists(mark_path_, ignored) || options_.read_only)
      return corrupt("the identity of the store in " + options_.data_dir.string() + " is missing");
    if (!options_.create) return refuse_what_is_no_store(options_.data_dir, DirectoryKind::begun);
    step(steps::open_created);
    identity_ = new_identity(options_.shards, options_.member);
    rocksdb::WriteOptions options;
    options.sync = true;
    EVERSHARD_TRY(checked(families_->db().Put(options, families_->handle(Family::state), key, encode(identity_)),
                          "cannot write the store's identity"));
    // In a file from the beginning: whatever log is lost later, what is left is known as this store.
    EVERSHARD_TRY(checked(families_->db().Flush(rocksdb::FlushOptions(), families_->handle(Family::state)),
                          "cannot write the store's identity into a file"));
  }
  if (options_.shards != 0 && options_.shards != identity_.shards)
    return invalid("the store in " + options_.data_dir.string() + " has " + std::to_string(identity_.shards) +
                   " shards, not " + std::to_string(options_.shards));
  if (identity_.hash != sharding::hash_id)
    return invalid("the store in " + options_.data_dir.string() + " was made with shard hash " +
                   std::to_string(identity_.hash) + ", this program has " + std::to_string(sharding::hash_id));
  EVERSHARD_TRY(check_member(identity_, options_));
  step(steps::open_identified);
  return {};
}

Result<void> RocksStore::take_what_was_learned() {
  if (identity_.node == 0 || !has_learned(options_.data_dir)) return {};
  if (options_.read_only)
    return refuse(ErrorCode::unavailable, "the store in " + options_.data_dir.string() +
                                              " has shards beside it that its node has learned: the node takes them "
                                              "in when it is started");
  return take_learned(*families_, rocks_, *rows_, identity_, options_.data_dir, mark_path_,
                      [this] { step(steps::open_learned); });
}

Result<void> RocksStore::take_off_what_was_given_up() {
  if (identity_.node == 0) return {};
  auto from = given_up(*rows_, identity_.shards);
  if (!from) return refuse(std::move(from).error());
  if (from->empty()) return {};
  if (options_.read_only)
    return refuse(ErrorCode::unavailable,
                  "the store in " + options_.data_dir.string() + " still has what was given up of shard " +
                      std::to_string(from->begin()->first.value) + ": its node takes it off when it is started");
  return take_off_given_up(*families_, rocks_, *rows_, identity_, [this] { step(steps::open_given_up); });
}

Result<void> RocksStore::compare_with_mark_file() {
  auto state = recover_order(*rows_, identity_);
  if (!state) return refuse(std::move(state).error());
  recovered_ = std::move(*state);
  auto journal = recover_journal(*rows_, identity_, hasher(), recovered_);
  if (!journal) return refuse(std::move(journal).error());
  unordered_ = std::move(journal->appends);
  journal_ = std::move(*journal);

  auto last = LastCommitMark::read(mark_path_);
  if (!last) return refuse(std::move(last).error());
  auto sealed = families_->stored_mark();
  if (!sealed) return refuse(std::move(sealed).error());
  // Only what was durable is sealed: the indexes' mark speaks of lost commits as MARK does. (RocksRuns syncs before it
  // ingests.)
  auto known = std::max(*sealed, *last ? (*last)->watermark : GlobalPosition{0});
  if (known > recovered_.watermark && !options_.accept_loss)
    return corrupt("acknowledged commits are lost: " + mark_path_.string() + " and the indexes know of position " +
                   std::to_string(known.value) + ", recovered up to position " +
                   std::to_string(recovered_.watermark.value) + " (cut " + std::to_string(recovered_.last_cut.value) +
                   ") from the log " + (database_ / look_into(database_).newest_log).string() + ": positions " +
                   std::to_string(recovered_.watermark.value + 1) + " to " + std::to_string(known.value) +
                   " are missing");
  if (options_.read_only) return {};

  auto file = LastCommitMark::open(mark_path_);
  if (!file) return refuse(std::move(file).error());
  last_commit_ = std::move(*file);
  for (int slot = 0; slot < 2; ++slot) last_commit_->update({recovered_.last_cut, recovered_.watermark});
  return {};
}

Result<void> RocksStore::rebuild() {
  auto mark = families_->stored_mark();
  if (!mark) return refuse(std::move(mark).error());
  if (!options_.read_only) {
    bool clear = *mark > recovered_.watermark;
    if (!clear && *mark == GlobalPosition{0}) {  // dropping them was broken off
      auto empty = families_->indexes_empty();
      if (!empty) return refuse(std::move(empty).error());
      clear = !*empty;
    }
    if (clear) {
      EVERSHARD_TRY(families_->clear_mark(rocks_));
      step(steps::open_clearing);
      EVERSHARD_TRY(families_->clear_indexes(rocks_));
      mark = GlobalPosition{0};
      step(steps::open_cleared);
    }
  }

  constexpr std::uint64_t looked_at_tails_max = 8;
  if (options_.read_only &&
      recovered_.watermark - std::min(*mark, recovered_.watermark) > looked_at_tails_max * options_.tail_events)
    return refuse(ErrorCode::unavailable, "the indexes of the store in " + options_.data_dir.string() +
                                              " end with position " + std::to_string(mark->value) + " of " +
                                              std::to_string(recovered_.watermark.value) +
                                              ": they have to be made before it can be opened only to be looked at");

  const bool whole = identity_.node == 0;
  Tails::Sizes sizes{options_.tail_events, options_.tail_bytes_max};
  if (options_.read_only)
    sizes.events = sizes.bytes = std::numeric_limits<std::size_t>::max();  // nothing is sealed: one tail
  tails_ = std::make_unique<Tails>(std::min(*mark, recovered_.watermark), sizes, whole);
  TailRebuild::Options rebuild;
  rebuild.shards = identity_.shards;
  rebuild.whole = whole;
  rebuild.group_events = std::clamp<std::uint64_t>(options_.tail_events / 4, 1, rebuild.group_events);
  rebuild.skip_damaged = options_.accept_loss;
  rebuild.progress = options_.reading_back;
  rebuild.make_room = [] {
    return Result<void>(corrupt("several damaged records, and a store opened read only cannot seal around them"));
  };
  if (!options_.read_only) {
    runs_ = std::make_unique<RocksRuns>(*families_, rocks_, options_.data_dir / "sealing", !whole);
    EVERSHARD_TRY(runs_->prepare_folder());
    sealer_ = std::make_unique<Sealer>(
        *tails_, *runs_,
        Sealer::Options{options_.tail_events, options_.seal_bytes_per_second, options_.at_step, [this] { poll(); }});
    rebuild.make_room = [this] {
      auto tail = tails_->sealable();
      EVERSHARD_CHECK(tail != nullptr, "a full tail that was read back can be sealed");
      families_->begin_merging();  // a whole store's indexes are being made: their files are not to pile up
      return sealer_->seal_here(tail);
    };
  }
  EVERSHARD_TRY(TailRebuild(*rows_, hasher(), *tails_, rebuild).run(recovered_.watermark));
  step(steps::open_rebuilt);
  return take_up_removals();
}

/// What was being removed when the store was closed is removed for readers from the first one on.
Result<void> RocksStore::take_up_removals() {
  auto removing = removal_rows(*rows_, removing_prefix);
  if (!removing) return refuse(std::move(removing).error());
  if (!removing->damaged.empty() && !options_.accept_loss) return refuse(removing->damaged.front().why);
  EVERSHARD_TRY(forget_damaged_removals());
  const Reader reader(*this);
  const auto view = tails_->view();
  const auto found = identity_.node != 0 && !removing->rows.empty() ? covered_rows(*rows_, identity_.shards)
                                                                    : Result<std::map<ShardId, Covered>>();
  if (!found) return refuse(found.error());
  const auto& covered = *found;
  for (auto& [aggregate, row] : removing->rows) {
    auto head = reader.head(view, aggregate);
    if (!head && head.error().code != ErrorCode::corruption) return refuse(std::move(head).error());
    // Its end was lost, or is behind a copy's: what is appended under these numbers from now on is something else.
    // Where its index is damaged nothing can be appended to it, and other aggregates can be read all the same.
    // Of a replica it may be still to come.
    const auto shard = sharding::shard_of(sharding::stream_hash(aggregate), identity_.shards);
    const bool may_come = covered.contains(shard) && covered.at(shard).followed.value != 0;
    if (head && head->version + 1 < row.before && !may_come) {
      row.before = head->version + 1;
      row.last = head->last_position;
      rocksdb::WriteOptions options;
      options.sync = true;
      if (!options_.read_only)
        EVERSHARD_TRY(checked(families_->db().Put(options, families_->handle(Family::state), removing_key(aggregate),
                                                  encode_removal(row, aggregate)),
                              "cannot write what is being removed"));
    }
    rows_->removals().hide(aggregate, row.before);
  }
  return {};
}

/// Where a loss is accepted: what they spoke of is to be removed once more.
Result<void> RocksStore::forget_damaged_removals() {
  if (!options_.accept_loss || options_.read_only) return {};
  for (const auto prefix : {removing_prefix, removed_prefix}) {
    auto found = removal_rows(*rows_, prefix);
    if (!found) return refuse(std::move(found).error());
    rocksdb::WriteOptions options;
    options.sync = true;
    for (const auto& damaged : found->damaged) {
      if (damaged.why.code != ErrorCode::corruption) return refuse(damaged.why);
      EVERSHARD_TRY(checked(families_->db().Delete(options, families_->handle(Family::state), damaged.key),
                            "cannot leave out a damaged row"));
    }
  }
  // Nor is it known any more what this disk once had of row logs.
  const auto whole = keys::checkpoint(row_log_whole_prefix);
  rocksdb::WriteOptions synced;
  synced.sync = true;
  const std::string end =
      keys::checkpoint(std::string(row_log_whole_prefix.substr(0, row_log_whole_prefix.size() - 1)) + "0");
  EVERSHARD_TRY(checked(families_->db().DeleteRange(synced, families_->handle(Family::state), whole, end),
                        "cannot leave out what row logs had"));
  return {};
}

void RocksStore::start() {
  if (options_.read_only) return;
  staging_ =
      std::make_unique<Staging>(recovered_, std::move(journal_->ends), std::move(journal_->unordered),
                                options_.record_bytes, std::move(journal_->covered), std::move(journal_->refused));
  journal_.reset();
  snapshots_ = std::make_unique<SnapshotSlots>(*rows_);
  folder_.emplace(database_);
  poll();
  families_->begin_merging();
  sealer_->start();
}

}  // namespace evershard::storage
