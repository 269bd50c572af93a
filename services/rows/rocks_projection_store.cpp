#include "evershard/services/rows/rocks_projection_store.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <system_error>
#include <utility>

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/experimental.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>
#include <rocksdb/write_buffer_manager.h>

#include "evershard/protocol/check.hpp"
#include "evershard/services/rows/tree_memtable.hpp"
#include "evershard/storage/refusals.hpp"
#include "evershard/storage/rocks/block_cache.hpp"
#include "evershard/storage/rocks/disk_space.hpp"
#include "evershard/storage/rocks/merge_pace.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"

namespace evershard::storage {
namespace {

constexpr const char* reading_rows = "cannot read the rows of a projection";
constexpr std::string_view checkpoint_row{};       // the first of all keys; rows have one of at least a byte
constexpr std::size_t row_block_bytes = 4u << 10;  // most rows are read alone: a block is unpacked for one of them
constexpr std::size_t row_megabyte = 1u << 20;
constexpr double row_filter_bits = 10;
constexpr std::size_t looked_up_together = 32;  // as many as RocksDB looks up in one go
constexpr const char* incoming_folder = "incoming";
constexpr unsigned long unmerged_files_max = 12;  ///< RocksDB merges from 4 on, and slows down writes from 20 on
constexpr std::uint64_t rows_delayed_write_rate = 16u << 20;  ///< RocksDB's own, unless something paces its merges
constexpr std::uintmax_t room_for_rows =
    8u << 20;  ///< a RocksDB with its assertions aborts where it cannot write a file's first bytes

std::string_view row_bytes(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }
rocksdb::Slice row_slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

bool is_open_elsewhere(const rocksdb::Status& status) {
  const auto text = status.ToString();
  return status.IsIOError() && (text.find("lock hold by current process") != std::string::npos ||
                                text.find("While lock file") != std::string::npos);
}

bool is_missing_file(const rocksdb::Status& status) {
  return status.IsNotFound() || status.IsPathNotFound() ||
         (status.IsIOError() && status.ToString().find("No such file") != std::string::npos);
}

/// What a rebuild mends; a disk that cannot be read or written just now is none of it.
bool is_damage(const rocksdb::Status& status) {
  return status.IsCorruption() || status.IsInvalidArgument() || is_missing_file(status);
}

/// The database, for as long as a reader uses it.
struct RowDatabase {
  std::unique_ptr<rocksdb::DB> db;
};

/// A family, for as long as somebody looks at it, also when it was dropped.
struct RowFamily {
  std::shared_ptr<RowDatabase> in;
  rocksdb::ColumnFamilyHandle* handle;

  RowFamily(std::shared_ptr<RowDatabase> database, rocksdb::ColumnFamilyHandle* of)
      : in(std::move(database)), handle(of) {}
  RowFamily(const RowFamily&) = delete;
  ~RowFamily() { in->db->DestroyColumnFamilyHandle(handle); }
};

/// Of the rows that were written, how many of 100 were removed and still take space. A removal that was compacted away
/// with its row counts no more.
std::uint64_t percent_removed(const RowFamily& family) {
  auto& db = *family.in->db;
  std::uint64_t entries = 0, removals = 0;
  rocksdb::TablePropertiesCollection files;
  if (!db.GetPropertiesOfAllTables(family.handle, &files).ok()) return 100;
  for (const auto& [name, file] : files) {
    entries += file->num_entries;
    removals += file->num_deletions;
  }
  for (const auto* memtable : {"active-mem-table", "imm-mem-tables"}) {
    std::uint64_t more = 0, removed = 0;
    db.GetIntProperty(family.handle, std::string("rocksdb.num-entries-") + memtable, &more);
    db.GetIntProperty(family.handle, std::string("rocksdb.num-deletes-") + memtable, &removed);
    entries += more;
    removals += removed;
  }
  return removals == 0 ? 0
                       : std::min<std::uint64_t>(
                             100, 100 * removals / std::max<std::uint64_t>(1, entries - std::min(entries, removals)));
}

class RowSnapshot {
 public:
  explicit RowSnapshot(std::shared_ptr<RowFamily> family)
      : family_(std::move(family)), snapshot_(family_->in->db->GetSnapshot()) {}
  ~RowSnapshot() { family_->in->db->ReleaseSnapshot(snapshot_); }
  RowSnapshot(const RowSnapshot&) = delete;

  [[nodiscard]] rocksdb::DB& db() const { return *family_->in->db; }
  [[nodiscard]] rocksdb::ColumnFamilyHandle* handle() const { return family_->handle; }
  [[nodiscard]] rocksdb::ReadOptions options() const {
    rocksdb::ReadOptions read;
    read.snapshot = snapshot_;
    return read;
  }

 private:
  const std::shared_ptr<RowFamily> family_;
  const rocksdb::Snapshot* const snapshot_;
};

class RocksRowCursor final : public ProjectionCursor {
 public:
  RocksRowCursor(std::shared_ptr<const RowSnapshot> of, RowRange range, bool backwards)
      : of_(std::move(of)), range_(std::move(range)), backwards_(backwards) {
    if (range_.from.empty()) range_.from.assign(1, '\0');
    lower_ = row_slice(range_.from);
    upper_ = row_slice(range_.until);
    auto read = of_->options();
    read.iterate_lower_bound = &lower_;
    if (!range_.until.empty()) read.iterate_upper_bound = &upper_;
    empty_ = !range_.until.empty() && range_.until <= range_.from;
    if (!empty_) at_.reset(of_->db().NewIterator(read, of_->handle()));
  }
  bool next() override {
    if (empty_) return false;
    if (fresh_) {
      if (!placed_) backwards_ ? at_->SeekToLast() : at_->SeekToFirst();
    } else if (at_->Valid()) {
      backwards_ ? at_->Prev() : at_->Next();
    }
    fresh_ = false;
    if (at_->Valid()) return true;
    if (!at_->status().ok()) error_ = error_of(at_->status(), reading_rows);
    return false;
  }
  [[nodiscard]] std::string_view key() const override { return row_bytes(at_->key()); }
  [[nodiscard]] std::string_view value() const override { return row_bytes(at_->value()); }
  [[nodiscard]] const std::optional<Error>& error() const override { return error_; }
  void seek(std::string_view key) override {
    if (empty_) return;
    backwards_ ? at_->SeekForPrev(row_slice(key)) : at_->Seek(row_slice(key));
    fresh_ = placed_ = true;
  }

 private:
  const std::shared_ptr<const RowSnapshot> of_;
  RowRange range_;
  const bool backwards_;
  rocksdb::Slice lower_, upper_;
  std::unique_ptr<rocksdb::Iterator> at_;
  bool empty_ = false;
  bool fresh_ = true;    ///< the next row is the one that the iterator stands at, or the first row
  bool placed_ = false;  ///< the iterator was put somewhere
  std::optional<Error> error_;
};

class RocksProjectionView final : public ProjectionView {
 public:
  RocksProjectionView(std::shared_ptr<const RowSnapshot> of, ProjectionCheckpoint checkpoint)
      : of_(std::move(of)), checkpoint_(std::move(checkpoint)) {}
  [[nodiscard]] const ProjectionCheckpoint& checkpoint() const override { return checkpoint_; }
  [[nodiscard]] Result<std::optional<std::string>> get(std::string_view key) const override {
    if (key.empty()) return std::nullopt;
    rocksdb::PinnableSlice value;
    const auto status = of_->db().Get(of_->options(), of_->handle(), row_slice(key), &value);
    if (status.IsNotFound()) return std::nullopt;
    if (!status.ok()) return refuse(error_of(status, reading_rows));
    return std::string(value.data(), value.size());
  }
  [[nodiscard]] Result<std::vector<std::optional<std::string>>> get_many(
      std::span<const std::string> keys) const override {
    std::vector<rocksdb::Slice> slices;
    slices.reserve(keys.size());
    for (const auto& key : keys) slices.emplace_back(row_slice(key));
    std::vector<rocksdb::PinnableSlice> values(keys.size());
    std::vector<rocksdb::Status> statuses(keys.size());
    of_->db().MultiGet(of_->options(), of_->handle(), keys.size(), slices.data(), values.data(), statuses.data());
    std::vector<std::optional<std::string>> found(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (statuses[i].ok() && !keys[i].empty()) {
        found[i].emplace(values[i].data(), values[i].size());
      } else if (!statuses[i].ok() && !statuses[i].IsNotFound()) {
        return refuse(error_of(statuses[i], reading_rows));
      }
    }
    return found;
  }
  /// Some at a time, whose places are on the stack: an allocation of more than a kilobyte has the C library tidy up its
  /// free memory.
  [[nodiscard]] Result<void> look_up(std::span<const std::string_view> keys, const RowSeen& each) const override {
    const auto read = of_->options();
    for (std::size_t from = 0; from < keys.size(); from += looked_up_together) {
      const auto some = keys.subspan(from, std::min(looked_up_together, keys.size() - from));
      std::array<rocksdb::Slice, looked_up_together> slices;
      std::array<rocksdb::PinnableSlice, looked_up_together> values;
      std::array<rocksdb::Status, looked_up_together> statuses;
      std::ranges::transform(some, slices.begin(), row_slice);
      of_->db().MultiGet(read, of_->handle(), some.size(), slices.data(), values.data(), statuses.data());
      for (std::size_t i = 0; i < some.size(); ++i) {
        if (!statuses[i].ok() && !statuses[i].IsNotFound()) return refuse(error_of(statuses[i], reading_rows));
        const bool found = statuses[i].ok() && !some[i].empty();
        const auto go_on = each(from + i, found ? std::optional(row_bytes(values[i])) : std::nullopt);
        if (!go_on) return refuse(go_on.error());
        if (!*go_on) return {};
      }
    }
    return {};
  }
  [[nodiscard]] std::unique_ptr<ProjectionCursor> cursor(RowRange range, bool backwards) const override {
    return std::make_unique<RocksRowCursor>(of_, std::move(range), backwards);
  }

 private:
  const std::shared_ptr<const RowSnapshot> of_;
  const ProjectionCheckpoint checkpoint_;
};

class RocksProjectionStore final : public ProjectionStore {
 public:
  explicit RocksProjectionStore(const RocksProjectionOptions& options)
      : options_(options),
        cache_(block_cache(options.block_cache_bytes == 0 ? 0 : options.block_cache_bytes + options.memtables_bytes)),
        memory_(std::make_shared<rocksdb::WriteBufferManager>(options.memtables_bytes, cache_)) {}
  ~RocksProjectionStore() override { close(); }

  Result<void> open();

  Result<void> create_family(const std::string& name, const ProjectionCheckpoint& begin) override;
  Result<void> drop_family(const std::string& name) override;
  [[nodiscard]] std::vector<std::string> families() const override;
  Result<void> write(const ProjectionBatch& batch) override;
  [[nodiscard]] Result<ProjectionCheckpoint> checkpoint(const std::string& family) const override;
  [[nodiscard]] Result<std::shared_ptr<const ProjectionView>> view(const std::string& family) const override;
  [[nodiscard]] std::uint64_t disk_bytes() const override;
  Result<void> vacuum(const Progress& progress, unsigned removed_percent) override;
  void settle(const std::string& family) override;
  void close() override;

 private:
  [[nodiscard]] rocksdb::DBOptions database_options() const;
  [[nodiscard]] rocksdb::ColumnFamilyOptions family_options() const;
  Result<void> make_folder();
  void remove_incoming() const;
  Result<void> check_disk();
  [[nodiscard]] bool has_room_above(const std::string& name) const;
  Result<void> write_as_files(const std::string& name, const ProjectionChanges& changes);
  Result<void> ingest(const RowFamily& family, const ProjectionChanges& changes, const std::vector<std::string>& files);
  rocksdb::Status open_database();
  void clear_database();
  [[nodiscard]] Result<bool> stands(const ProjectionCheckpoint& checkpoint) const;
  Result<void> keep_what_is_ours();
  Result<std::shared_ptr<RowFamily>> find(const std::string& name) const;
  Result<ProjectionCheckpoint> read_checkpoint(const rocksdb::ReadOptions& read, const RowFamily& family) const;

  const RocksProjectionOptions options_;
  std::shared_ptr<DiskSpace> disk_;
  std::shared_ptr<MergePace> merges_;
  // Memtables count in it: while nothing is built, all of the memory is for reading.
  const std::shared_ptr<rocksdb::Cache> cache_;
  const std::shared_ptr<rocksdb::WriteBufferManager> memory_;
  mutable std::shared_mutex mutex_;  ///< of which families there are; not held while rows are read
  std::shared_ptr<RowDatabase> database_;
  std::map<std::string, std::shared_ptr<RowFamily>> families_;
  std::atomic<std::uint64_t> incoming_{0};  ///< files that were written to be taken in
  std::map<std::string, std::shared_ptr<RowFamily>>
      unfinished_;  ///< without their first checkpoint, which could not be written: for the next try
};

rocksdb::DBOptions RocksProjectionStore::database_options() const {
  rocksdb::DBOptions rocks;
  if (options_.env) rocks.env = options_.env;
  rocks.create_if_missing = true;
  rocks.create_missing_column_families = true;
  rocks.paranoid_checks = true;
  rocks.wal_recovery_mode = rocksdb::WALRecoveryMode::kPointInTimeRecovery;
  // All families share a log, so a family that is seldom written must not keep it long.
  rocks.max_total_wal_size = options_.memtables_bytes;
  rocks.write_buffer_manager = memory_;
  rocks.allow_concurrent_memtable_write = false;  // their trees have one writer
  rocks.max_background_jobs = 2;
  rocks.bytes_per_sync = row_megabyte;
  rocks.max_open_files = 256;
  rocks.stats_dump_period_sec = 0;
  rocks.keep_log_file_num = 2;
  rocks.max_log_file_size = 4 * row_megabyte;
  rocks.max_manifest_file_size = 8 * row_megabyte;
  rocks.rate_limiter = merges_;
  rocks.delayed_write_rate = rows_delayed_write_rate;
  return rocks;
}

rocksdb::ColumnFamilyOptions RocksProjectionStore::family_options() const {
  rocksdb::ColumnFamilyOptions rocks;
  rocksdb::BlockBasedTableOptions table;
  table.block_size = row_block_bytes;
  table.format_version = 5;
  table.checksum = rocksdb::kXXH3;
  table.block_cache = cache_;
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(row_filter_bits));
  // A file's filter in one piece is larger than what a small cache holds of anything, and would be read anew for every
  // row.
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  rocks.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  // Most rows are looked up because an index or an earlier event names them: only files above the bottom level may lack
  // one.
  rocks.optimize_filters_for_hits = true;
  rocks.compression = rocksdb::kLZ4Compression;
  // What a memtable leaves is merged within seconds where much is written.
  rocks.compression_per_level.assign(static_cast<std::size_t>(rocks.num_levels), rocks.compression);
  rocks.compression_per_level.front() = rocksdb::kNoCompression;
  rocks.level_compaction_dynamic_level_bytes = true;
  rocks.write_buffer_size = options_.memtables_bytes / 4;
  rocks.memtable_factory = tree_memtables();
  return rocks;
}

Result<void> RocksProjectionStore::make_folder() {
  std::error_code error;
  std::filesystem::create_directories(options_.folder, error);
  if (error) return refuse(ErrorCode::io, "cannot create " + options_.folder.string() + ": " + error.message());
  remove_incoming();
  if (const auto room = std::filesystem::space(options_.folder, error).available; !error && room < room_for_rows)
    return refuse(ErrorCode::unavailable, "the disk of " + options_.folder.string() + " has " + std::to_string(room) +
                                              " bytes left: to open the projections takes " +
                                              std::to_string(room_for_rows));
  return {};
}

/// What a process that ended in between left. Who has the database open has files there too: under the lock.
void RocksProjectionStore::remove_incoming() const {
  const auto incoming = options_.folder / incoming_folder;
  std::error_code error;
  if (!std::filesystem::exists(incoming, error)) return;
  auto* const env = options_.env ? options_.env : rocksdb::Env::Default();
  rocksdb::FileLock* lock = nullptr;
  if (!env->LockFile((options_.folder / "LOCK").string(), &lock).ok()) return;
  std::filesystem::remove_all(incoming, error);
  // Who opens the database next says if it is locked still.
  (void)env->UnlockFile(lock);
}

rocksdb::Status RocksProjectionStore::open_database() {
  std::vector<std::string> names;
  const rocksdb::Options listed(database_options(), family_options());
  const auto list = rocksdb::DB::ListColumnFamilies(listed, options_.folder.string(), &names);
  if (is_missing_file(list))
    names.assign(1, rocksdb::kDefaultColumnFamilyName);  // a new one
  else if (!list.ok())
    return list;  // opened without its families, it would be taken for damaged
  std::vector<rocksdb::ColumnFamilyDescriptor> wanted;
  for (const auto& name : names) wanted.emplace_back(name, family_options());
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::DB* opened = nullptr;
  auto status = rocksdb::DB::Open(database_options(), options_.folder.string(), wanted, &handles, &opened);
  if (!status.ok()) return status;
  database_ = std::make_shared<RowDatabase>();
  database_->db.reset(opened);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == rocksdb::kDefaultColumnFamilyName) {
      opened->DestroyColumnFamilyHandle(handles[i]);
    } else {
      families_.emplace(names[i], std::make_shared<RowFamily>(database_, handles[i]));
    }
  }
  return status;
}

void RocksProjectionStore::clear_database() {
  families_.clear();
  database_.reset();
  std::error_code ignored;
  for (std::filesystem::directory_iterator at(options_.folder, ignored), end; !ignored && at != end;
       at.increment(ignored)) {
    if (at->path().filename() == "LOCK") continue;
    std::error_code left;
    std::filesystem::remove_all(at->path(), left);
  }
}

Result<void> RocksProjectionStore::open() {
  EVERSHARD_TRY(make_folder());
  disk_ = std::make_shared<DiskSpace>(options_.folder, 0);
  merges_ = std::make_shared<MergePace>([disk = disk_] { return disk->has_room_to_merge(); });
  auto status = open_database();
  if (is_open_elsewhere(status)) return refuse(ErrorCode::unavailable, options_.folder.string() + " is open already");
  if (is_damage(status)) {
    if (options_.warn)
      options_.warn(
          Error(ErrorCode::corruption, "the rows in " + options_.folder.string() +
                                           " cannot be read, and are made anew from the events: " + status.ToString()));
    clear_database();
    status = open_database();
  }
  EVERSHARD_TRY(checked(status, "cannot open the projections in " + options_.folder.string()));
  return keep_what_is_ours();
}

/// Not where it is ahead, and not of a raw copy that went its own way: same store, same fork, as many events.
Result<bool> RocksProjectionStore::stands(const ProjectionCheckpoint& checkpoint) const {
  const auto fork = options_.of.owner.fork.text();
  KeptPlace place(fork);
  if (options_.of.event_id_at && checkpoint.event != EventId{}) place.add({checkpoint.position, checkpoint.event});
  const auto settled = place.settle(checkpoint.position, fork, options_.of.watermark, options_.of.event_id_at);
  if (!settled) return refuse(settled.error());
  return settled->stands;
}

Result<void> RocksProjectionStore::keep_what_is_ours() {
  std::vector<std::string> foreign;
  for (const auto& [name, family] : families_) {
    std::string row;
    const auto status = database_->db->Get({}, family->handle, row_slice(checkpoint_row), &row);
    if (status.IsIOError()) return refuse(error_of(status, reading_rows));
    const auto found =
        status.ok() ? decode_checkpoint(row) : Result<OwnedCheckpoint>(refuse(ErrorCode::corruption, "no checkpoint"));
    if (!found || found->owner != options_.of.owner) {
      foreign.push_back(name);
      continue;
    }
    const auto ours = stands(found->checkpoint);
    if (!ours)
      return refuse(ours.error().code,
                    "cannot tell whether the rows of " + name + " are of this store's events: " + ours.error().what);
    if (!*ours) foreign.push_back(name);
  }
  for (const auto& name : foreign) EVERSHARD_TRY(drop_family(name));
  return {};
}

Result<std::shared_ptr<RowFamily>> RocksProjectionStore::find(const std::string& name) const {
  const std::shared_lock lock(mutex_);
  if (!database_) return refuse(ErrorCode::unavailable, "the projections are closed");
  const auto found = families_.find(name);
  if (found == families_.end()) return refuse(ErrorCode::not_found, "there is no family " + name);
  return found->second;
}

Result<void> RocksProjectionStore::create_family(const std::string& name, const ProjectionCheckpoint& begin) {
  const std::unique_lock lock(mutex_);
  if (!database_) return refuse(ErrorCode::unavailable, "the projections are closed");
  if (families_.contains(name)) return invalid("there is a family " + name + " already");
  auto& family = unfinished_[name];
  if (!family) {
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    EVERSHARD_TRY(checked(database_->db->CreateColumnFamily(family_options(), name, &handle),
                          "cannot make a family for " + name));
    family = std::make_shared<RowFamily>(database_, handle);
  }
  EVERSHARD_TRY(
      checked(database_->db->Put({}, family->handle, row_slice(checkpoint_row), encode(begin, options_.of.owner)),
              "cannot write the checkpoint of " + name));
  families_.emplace(name, std::move(family));
  unfinished_.erase(name);
  return {};
}

Result<void> RocksProjectionStore::drop_family(const std::string& name) {
  const std::unique_lock lock(mutex_);
  if (!database_) return refuse(ErrorCode::unavailable, "the projections are closed");
  const auto found = families_.find(name);
  if (found == families_.end()) return {};
  EVERSHARD_TRY(checked(database_->db->DropColumnFamily(found->second->handle), "cannot drop the family of " + name));
  families_.erase(found);
  return {};
}

std::vector<std::string> RocksProjectionStore::families() const {
  const std::shared_lock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, family] : families_) names.push_back(name);
  return names;
}

/// Rows in order of key, each once.
bool is_sorted_once(const std::vector<ChangedRow>& rows) {
  return std::ranges::adjacent_find(rows, std::ranges::greater_equal{}, &ChangedRow::key) == rows.end();
}

/// Where merging is behind, RocksDB slows down those who write, but nobody whose files it takes in: then it is better
/// written.
bool RocksProjectionStore::has_room_above(const std::string& name) const {
  const auto family = find(name);
  std::string files;
  return family && (*family)->in->db->GetProperty((*family)->handle, "rocksdb.num-files-at-level0", &files) &&
         std::strtoul(files.c_str(), nullptr, 10) < unmerged_files_max;
}

Result<void> RocksProjectionStore::write_as_files(const std::string& name, const ProjectionChanges& changes) {
  const auto family = find(name);
  if (!family) return refuse(family.error());
  const auto folder = options_.folder / incoming_folder;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return refuse(ErrorCode::io, "cannot create " + folder.string() + ": " + error.message());
  const auto number = std::to_string(++incoming_);
  const std::vector<std::string> files{(folder / (number + ".rows.sst")).string(),
                                       (folder / (number + ".checkpoint.sst")).string()};
  auto done = ingest(**family, changes, files);
  for (const auto& file : files) std::filesystem::remove(file, error);
  if (done) return {};
  const auto now = find(name);
  const bool dropped = now ? *now != *family : now.error().code == ErrorCode::not_found;
  return dropped ? Result<void>() : done;  // what was dropped meanwhile wants nothing any more
}

/// Many rows at once: others who write wait for a flush of the family and a change of the manifest, not for all the
/// rows, and nothing is logged, sorted and merged that is in order already. All files of a call are there afterwards or
/// none, durably. What the family was given before is flushed first, and so durable too: every write has the
/// checkpoint's row, which these files have as well. It lies in a file of its own, above what is there, so that the
/// rows may lie below.
Result<void> RocksProjectionStore::ingest(const RowFamily& family, const ProjectionChanges& changes,
                                          const std::vector<std::string>& files) {
  constexpr const char* writing = "cannot write the rows of projections";
  rocksdb::Options options(database_options(), family_options());
  {
    // The pages of the files are to stay in memory: they are merged and read soon.
    rocksdb::SstFileWriter rows(rocksdb::EnvOptions(options), options, family.handle, false);
    EVERSHARD_TRY(checked(rows.Open(files[0]), writing));
    for (const auto& [key, value] : changes.rows) {
      EVERSHARD_CHECK(!key.empty(), "a row has a key");
      EVERSHARD_TRY(checked(value ? rows.Put(key, *value) : rows.Delete(key), writing));
    }
    EVERSHARD_TRY(checked(rows.Finish(), writing));
    rocksdb::SstFileWriter checkpoint(rocksdb::EnvOptions(options), options, family.handle, false);
    EVERSHARD_TRY(checked(checkpoint.Open(files[1]), writing));
    EVERSHARD_TRY(
        checked(checkpoint.Put(row_slice(checkpoint_row), encode(*changes.checkpoint, options_.of.owner)), writing));
    EVERSHARD_TRY(checked(checkpoint.Finish(), writing));
  }
  rocksdb::IngestExternalFileOptions ingest;
  ingest.move_files = true;
  ingest.write_global_seqno = false;
  const auto status = family.in->db->IngestExternalFile(family.handle, files, ingest);
  return checked(status, writing);
}

/// What is derived waits before what is in memory, of events too, finds no room any more.
Result<void> RocksProjectionStore::check_disk() {
  disk_->poll(memory_->memory_usage());
  if (!disk_->below_reserve()) return {};
  return refuse(ErrorCode::unavailable, "the disk of " + options_.folder.string() + " has " +
                                            std::to_string(disk_->free_bytes()) + " bytes left, of which " +
                                            std::to_string(disk_->needed_bytes()) + " are to stay free");
}

Result<void> RocksProjectionStore::write(const ProjectionBatch& batch) {
  EVERSHARD_TRY(check_disk());
  if (batch.families.size() == 1) {
    const auto& [name, changes] = *batch.families.begin();
    if (changes.rows.size() >= options_.files_from_rows && changes.checkpoint && is_sorted_once(changes.rows) &&
        has_room_above(name))
      return write_as_files(name, changes);
  }
  rocksdb::WriteBatch rows;
  std::vector<std::shared_ptr<RowFamily>> held;
  for (const auto& [name, changes] : batch.families) {
    auto family = find(name);
    if (!family) return refuse(std::move(family).error());
    auto* const handle = (*family)->handle;
    for (const auto& [key, value] : changes.rows) {
      EVERSHARD_CHECK(!key.empty(), "a row has a key");
      const auto status = value ? rows.Put(handle, key, *value) : rows.Delete(handle, key);
      EVERSHARD_TRY(checked(status, "cannot stage rows of " + name));
    }
    if (changes.checkpoint)
      EVERSHARD_TRY(checked(rows.Put(handle, row_slice(checkpoint_row), encode(*changes.checkpoint, options_.of.owner)),
                            "cannot stage the checkpoint of " + name));
    held.push_back(*std::move(family));
  }
  if (held.empty()) return {};
  // Of a family dropped since it was found. Else RocksDB, which notices behind its log, takes no write of any family
  // any more.
  rocksdb::WriteOptions write;
  write.ignore_missing_column_families = true;
  return checked(held.front()->in->db->Write(write, &rows), "cannot write the rows of projections");
}

Result<ProjectionCheckpoint> RocksProjectionStore::read_checkpoint(const rocksdb::ReadOptions& read,
                                                                   const RowFamily& family) const {
  std::string row;
  EVERSHARD_TRY(checked(family.in->db->Get(read, family.handle, row_slice(checkpoint_row), &row),
                        "cannot read the checkpoint of a projection"));
  auto found = decode_checkpoint(row);
  if (!found) return refuse(std::move(found).error());
  return std::move(found->checkpoint);
}

Result<ProjectionCheckpoint> RocksProjectionStore::checkpoint(const std::string& name) const {
  const auto family = find(name);
  if (!family) return refuse(family.error());
  return read_checkpoint({}, **family);
}

Result<std::shared_ptr<const ProjectionView>> RocksProjectionStore::view(const std::string& name) const {
  auto family = find(name);
  if (!family) return refuse(std::move(family).error());
  auto snapshot = std::make_shared<const RowSnapshot>(*family);
  auto checkpoint = read_checkpoint(snapshot->options(), **family);
  if (!checkpoint) return refuse(std::move(checkpoint).error());
  return std::make_shared<const RocksProjectionView>(std::move(snapshot), *std::move(checkpoint));
}

std::uint64_t RocksProjectionStore::disk_bytes() const {
  const std::shared_lock lock(mutex_);
  std::uint64_t files = 0, memory = 0;
  if (!database_) return 0;
  database_->db->GetAggregatedIntProperty(rocksdb::DB::Properties::kTotalSstFilesSize, &files);
  database_->db->GetAggregatedIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &memory);
  return files + memory;
}

Result<void> RocksProjectionStore::vacuum(const Progress& progress, unsigned removed_percent) {
  const auto names = families();
  for (std::size_t i = 0; i < names.size(); ++i) {
    EVERSHARD_TRY(report(progress, i, names.size()));
    const auto family = find(names[i]);
    if (!family) continue;  // dropped meanwhile
    if (removed_percent > 0 && percent_removed(**family) < removed_percent) continue;
    const MergePace::Asked asked(*merges_);
    rocksdb::CompactRangeOptions compact;
    compact.bottommost_level_compaction = rocksdb::BottommostLevelCompaction::kForceOptimized;
    EVERSHARD_TRY(checked((*family)->in->db->CompactRange(compact, (*family)->handle, nullptr, nullptr),
                          "cannot compact the rows of " + names[i]));
  }
  return report(progress, names.size(), names.size());
}

void RocksProjectionStore::settle(const std::string& name) {
  const auto family = find(name);
  if (!family) return;
  auto& db = *(*family)->in->db;
  if (db.Flush({}, (*family)->handle).ok())
    // A hint: rows are read as well without.
    (void)rocksdb::experimental::SuggestCompactRange(&db, (*family)->handle, nullptr, nullptr);
}

void RocksProjectionStore::close() {
  if (merges_) merges_->close();
  const std::unique_lock lock(mutex_);
  families_.clear();
  unfinished_.clear();
  database_.reset();
}

}  // namespace

Result<std::unique_ptr<ProjectionStore>> open_projection_store(const RocksProjectionOptions& options) {
  auto store = std::make_unique<RocksProjectionStore>(options);
  EVERSHARD_TRY(store->open());
  return store;
}

}  // namespace evershard::storage
