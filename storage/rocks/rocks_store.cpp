#include "evershard/storage/rocks/rocks_store.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>

#include <rocksdb/convenience.h>
#include <rocksdb/write_batch.h>

#include "evershard/protocol/check.hpp"
#include "evershard/storage/index/tail_admission.hpp"
#include "evershard/storage/journal/journal_range.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/rocks/rocks_maintenance.hpp"
#include "evershard/storage/rocks/rocks_status.hpp"
#include "evershard/storage/rocks/rocks_version.hpp"
#include "evershard/storage/steps.hpp"

namespace evershard::storage {
namespace {

constexpr std::size_t kept_batch_bytes_max = 8u << 20;
constexpr std::size_t kept_batches_max = 4;

class BatchSink final : public RowSink {
 public:
  BatchSink(rocksdb::WriteBatch& batch, const RocksFamilies& families) : batch_(batch), families_(families) {}
  void put(Family family, std::string_view key, std::string_view value) override {
    take(batch_.Put(families_.handle(family), rocksdb::Slice(key.data(), key.size()),
                    rocksdb::Slice(value.data(), value.size())));
  }
  void put_again(ShardId shard, ShardOffset first, std::string_view record) override {
    RowSink::put_again(shard, first, record);
    if (const auto view = RecordView::open(record, shard, first); view)
      written_again_.push_back({shard, first, view->size()});
    else
      erases_events_ = true;  // nobody knows of which
  }
  void erase(Family family, std::string_view key) override {
    take(batch_.Delete(families_.handle(family), rocksdb::Slice(key.data(), key.size())));
    erases_events_ = erases_events_ || family == Family::journal;
  }
  [[nodiscard]] const rocksdb::Status& status() const { return status_; }
  [[nodiscard]] std::vector<EventCache::Range>& written_again() { return written_again_; }
  [[nodiscard]] bool erases_events() const { return erases_events_; }

 private:
  void take(rocksdb::Status status) {
    if (status_.ok() && !status.ok()) status_ = std::move(status);
  }
  rocksdb::WriteBatch& batch_;
  const RocksFamilies& families_;
  rocksdb::Status status_;
  std::vector<EventCache::Range> written_again_;
  bool erases_events_ = false;
};

}  // namespace

class RocksStore::Staged final : public StagedCommit {
 public:
  Staged(RocksStore& of, std::uint64_t n) : store(of), number(n), batch(of.take_batch()) {}
  ~Staged() override {
    // What was staged after it stands on it, and its events are in the tail.
    if (!done) store.fail(Error(ErrorCode::io, "a staged commit was given up"));
    store.give_back(std::move(batch));
  }

  RocksStore& store;
  const std::uint64_t number;
  std::unique_ptr<rocksdb::WriteBatch> batch;
  rocksdb::Status status;
  bool synced = true;
  std::optional<LastCommitMark::Value> last;  ///< what is durable with it
  std::optional<GlobalPosition> shows;
  std::function<Result<void>(RowSink&)> at_commit;  ///< rows that those written before decide
  std::vector<EventCache::Range> written_again;     ///< what readers have kept of them is out of date
  bool takes_off = false;                           ///< of any event
  bool done = false;
};

RocksStore::RocksStore(StoreOptions options)
    : options_(std::move(options)),
      database_(options_.data_dir / "db"),
      mark_path_(options_.data_dir / "MARK"),
      owner_path_(options_.data_dir / "OWNER"),
      rocks_(options_) {}

RocksStore::~RocksStore() { close(); }

template <class Fill>
std::unique_ptr<StagedCommit> RocksStore::stage_with(Fill fill) {
  std::unique_ptr<Staged> staged;
  {
    std::lock_guard lock(staging_mutex_);
    EVERSHARD_CHECK(staging_ != nullptr, "a store that is closed or read only takes no commits");
    staged = std::make_unique<Staged>(*this, ++staged_);
    snapshots_->batch(staged_, committed_.load(std::memory_order_acquire));
    BatchSink sink(*staged->batch, *families_);
    fill(*staged, sink);
    tails_->added();
    staged->status = sink.status();
    staged->written_again = std::move(sink.written_again());
    staged->takes_off = sink.erases_events();
  }
  step(steps::stage_done);
  return staged;
}

std::unique_ptr<StagedCommit> RocksStore::stage(const CommitBatch& batch) {
  return stage_with([&](Staged& staged, RowSink& sink) {
    if (batch.cut) tails_->switch_if_full();
    staging_->stage(batch, tails_->active(), sink, *snapshots_);
    if (!batch.cut) return;
    staged.last = LastCommitMark::Value{batch.cut->number, batch.cut->last_position()};
    staged.shows = staged.last->watermark;
  });
}

std::unique_ptr<StagedCommit> RocksStore::stage_journal(const JournalBatch& batch, std::vector<ShippedRows>* made) {
  EVERSHARD_CHECK(identity_.node != 0, "only a node's store makes events durable before they have a place");
  return stage_with([&](Staged& staged, RowSink& sink) {
    staging_->stage_journal(batch, made, sink);
    // The cuts staged before it are committed before it, and its sync is theirs.
    staged.last = LastCommitMark::Value{staging_->applied().number, staging_->applied().watermark};
  });
}

Result<ShippedRows> RocksStore::journal_from(ShardId shard, ShardOffset from, std::size_t bytes_max) const {
  return journal_range(*rows_, shard, from, bytes_max);
}

std::unique_ptr<StagedCommit> RocksStore::stage_take_off(ShardId shard, ShardOffset from, Epoch followed) {
  EVERSHARD_CHECK(identity_.node != 0, "only a node's store follows others");
  return stage_with([&](Staged& staged, RowSink& sink) {
    const auto begins = staging_->stage_take_off(shard, from, followed, sink);
    staged.last = LastCommitMark::Value{staging_->applied().number, staging_->applied().watermark};
    staged.at_commit = [this, shard, begins, from](RowSink& rows) {
      return take_off(*rows_, shard, begins, from, rows);
    };
  });
}

std::unique_ptr<StagedCommit> RocksStore::stage_cut(const sharding::Cut& cut, const std::vector<ShardId>& damaged,
                                                    const std::vector<ShardId>& holes) {
  EVERSHARD_CHECK(identity_.node != 0, "only a node's store applies cuts");
  return stage_with([&](Staged& staged, RowSink& sink) {
    tails_->switch_if_full();
    staging_->stage_cut(cut, damaged, holes, tails_->active(), sink, *snapshots_);
    staged.shows = cut.last_position();
    staged.synced = false;
  });
}

Result<void> RocksStore::commit(StagedCommit& commit) {
  auto& staged = dynamic_cast<Staged&>(commit);
  EVERSHARD_CHECK(!staged.done && staged.number == commits_begun_ + 1,
                  "commits follow in the order of staging, each once");
  staged.done = true;
  commits_begun_ = staged.number;
  if (failed_.load(std::memory_order_acquire)) return refuse(failure());

  step(steps::commit_begin);
  if (staged.at_commit && staged.status.ok()) {
    BatchSink sink(*staged.batch, *families_);
    if (auto added = staged.at_commit(sink); !added) {
      fail(Error(ErrorCode::io, "the store has failed: cannot take rows off: " + added.error().what));
      return refuse(failure());
    }
    staged.status = sink.status();
    staged.takes_off = true;
  }
  auto status = staged.status;
  if (status.ok()) {
    rocksdb::WriteOptions options;
    options.sync = staged.synced;
    status = families_->db().Write(options, staged.batch.get());
  }
  if (!status.ok()) {
    fail(Error(ErrorCode::io, error_of(status, "the store has failed: cannot write a commit").what));
    return refuse(failure());
  }
  if (staged.takes_off)
    rows_->events()->forget_all();
  else if (!staged.written_again.empty())
    rows_->events()->forget(staged.written_again);
  if (!staged.written_again.empty()) rows_->removals().rewritten();
  disk_->wrote(staged.batch->GetDataSize());
  committed_.store(staged.number, std::memory_order_release);
  step(steps::commit_written);
  if (staged.last) {
    last_commit_->update(*staged.last);
    step(steps::commit_marked);
  }
  if (staged.shows) {
    bool sealable = tails_->has_sealable();
    tails_->show(*staged.shows);
    if (!sealable && tails_->has_sealable()) sealer_->wake();
  }
  step(steps::commit_shown);
  return {};
}

std::unique_ptr<rocksdb::WriteBatch> RocksStore::take_batch() {
  std::lock_guard lock(batches_mutex_);
  if (batches_.empty()) return std::make_unique<rocksdb::WriteBatch>(0, 0, row_protection_bytes, 0);
  auto batch = std::move(batches_.back());
  batches_.pop_back();
  return batch;
}

void RocksStore::give_back(std::unique_ptr<rocksdb::WriteBatch> batch) {
  if (batch->GetDataSize() > kept_batch_bytes_max) return;
  batch->Clear();
  std::lock_guard lock(batches_mutex_);
  if (batches_.size() < kept_batches_max) batches_.push_back(std::move(batch));
}

void RocksStore::fail(const Error& error) {
  std::lock_guard lock(failure_mutex_);
  if (!failure_) failure_ = error;
  failed_.store(true, std::memory_order_release);
}

Error RocksStore::failure() const {
  std::lock_guard lock(failure_mutex_);
  return *failure_;
}

Admission RocksStore::admission() const {
  if (failed_.load(std::memory_order_acquire)) return {Admission::Kind::failed, 0, failure().what};
  if (options_.read_only) return {Admission::Kind::failed, 0, "the store was opened only to be looked at"};
  if (disk_->below_reserve())
    return {Admission::Kind::disk, 0,
            "the disk has " + std::to_string(disk_->free_bytes()) + " bytes left, of which " +
                std::to_string(disk_->needed_bytes()) + " are to stay free"};
  auto files = static_cast<double>(index_files_.load(std::memory_order_relaxed));
  auto lag = std::max(tails_->load(), lag_of(files, index_files_slow, index_files_full));
  auto admission = admission_of(lag);
  if (admission.kind == Admission::Kind::full) {
    admission.what = "sealing lags behind: " + std::to_string(tails_->events()) + " events are not sealed, " +
                     std::to_string(index_files_.load(std::memory_order_relaxed)) + " index files are not merged";
    if (auto error = sealer_->last_error()) admission.what += "; " + error->what;
  }
  return admission;
}

Result<void> RocksStore::seal() {
  if (options_.read_only || closed_.load(std::memory_order_acquire))
    return refuse(ErrorCode::unavailable, "the store is closed or read only");
  return sealer_->wait_sealed(tails_->watermark(), [this]() -> Result<void> {
    if (failed_.load(std::memory_order_acquire)) return refuse(failure());  // what was staged never becomes durable
    std::lock_guard lock(staging_mutex_);
    if (tails_->mark() < tails_->watermark()) tails_->switch_if_any();
    return {};
  });
}

StoreStats RocksStore::stats() const {
  StoreStats stats;
  auto view = tails_->view();
  stats.watermark = view.watermark;
  stats.mark = view.mark;
  stats.tail_events = tails_->events();
  stats.tail_bytes = tails_->bytes();
  stats.sealed_runs = sealer_ ? sealer_->runs() : 0;
  stats.commits = committed_.load(std::memory_order_relaxed);
  stats.backend_assertions = rocks_has_assertions();
  if (disk_) stats.disk_free_bytes = disk_->free_bytes();
  std::error_code ignored;
  for (std::filesystem::recursive_directory_iterator at(options_.data_dir, ignored), end; at != end;
       at.increment(ignored))
    if (auto bytes = at->is_regular_file(ignored) ? at->file_size(ignored) : 0; !ignored) stats.disk_bytes += bytes;
  auto open = rows_->families();
  if (!open) return stats;

  auto& db = open->db();
  auto number = [&](rocksdb::ColumnFamilyHandle* handle, const std::string& property) {
    std::uint64_t value = 0;
    db.GetIntProperty(handle, property, &value);
    return value;
  };
  std::uint64_t memtables = 0, readers = 0;
  for (std::size_t i = 0; i < family_count; ++i) {
    auto* handle = open->handle(static_cast<Family>(i));
    auto name = std::string(name_of(static_cast<Family>(i)));
    stats.details.emplace_back("family." + name + ".bytes", number(handle, rocksdb::DB::Properties::kLiveSstFilesSize));
    std::string files;
    db.GetProperty(handle, rocksdb::DB::Properties::kNumFilesAtLevelPrefix + "0", &files);
    stats.details.emplace_back("family." + name + ".files_level_0", std::strtoull(files.c_str(), nullptr, 10));
    memtables += number(handle, rocksdb::DB::Properties::kSizeAllMemTables);
    readers += number(handle, rocksdb::DB::Properties::kEstimateTableReadersMem);
  }
  stats.details.emplace_back("event_cache.hits", rows_->events()->hits());
  stats.details.emplace_back("event_cache.misses", rows_->events()->misses());
  stats.details.emplace_back("memory.block_cache", rocks_.cache()->GetUsage());
  stats.details.emplace_back("memory.memtables", memtables);
  stats.details.emplace_back("memory.table_readers", readers);
  stats.details.emplace_back("memory.tails", stats.tail_bytes);
  stats.memory_bytes = rocks_.cache()->GetUsage() + memtables + readers + stats.tail_bytes;
  for (auto& promised : rocks_.memory_promised()) stats.details.push_back(std::move(promised));
  stats.details.emplace_back("failed", failed_.load(std::memory_order_acquire) ? 1 : 0);
  stats.details.emplace_back("mark_file.failed_writes", last_commit_ ? last_commit_->failures() : 0);
  return stats;
}

std::shared_ptr<StoreMaintenance> RocksStore::maintenance() const {
  if (closed_.load(std::memory_order_acquire)) return nullptr;
  return std::make_shared<RocksMaintenance>(families_, rocks_);
}

void RocksStore::poll() {
  std::uint64_t memtables = 0;
  families_->db().GetAggregatedIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &memtables);
  disk_->poll(memtables + tails_->bytes());
  if (folder_ && folder_->gone())
    fail(Error(ErrorCode::io, "the store has failed: " + folder_->why() + ": what is written since is on no disk"));
  int most = 0;
  for (std::size_t i = 0; i < family_count; ++i) {
    if (!is_index(static_cast<Family>(i))) continue;
    std::string files;
    if (families_->db().GetProperty(families_->handle(static_cast<Family>(i)),
                                    rocksdb::DB::Properties::kNumFilesAtLevelPrefix + "0", &files))
      most = std::max(most, std::atoi(files.c_str()));
  }
  index_files_.store(most, std::memory_order_relaxed);
}

void RocksStore::close() {
  if (closed_.exchange(true)) return;
  if (sealer_) sealer_->stop();
  {
    std::lock_guard lock(staging_mutex_);
    staging_.reset();
    snapshots_.reset();
  }
  if (runs_) runs_->abandon();
  if (merges_) merges_->close();
  if (families_) rocksdb::CancelAllBackgroundWork(&families_->db(), /*wait=*/false);
  {
    std::lock_guard lock(batches_mutex_);
    batches_.clear();
  }
  if (rows_) rows_->close();
  families_.reset();
  owner_.reset();
  fail(Error(ErrorCode::io, "the store is closed"));
}

void RocksStore::step(const char* name) const {
  if (options_.at_step) options_.at_step(name);
}

}  // namespace evershard::storage
