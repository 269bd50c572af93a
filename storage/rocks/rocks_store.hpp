// RocksStore: the durable store, one RocksDB a node.

#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "evershard/storage/index/sealer.hpp"
#include "evershard/storage/index/tails.hpp"
#include "evershard/storage/journal/last_commit_mark.hpp"
#include "evershard/storage/journal/recovered_journal.hpp"
#include "evershard/storage/journal/staging.hpp"
#include "evershard/storage/node_store.hpp"
#include "evershard/storage/open.hpp"
#include "evershard/storage/rocks/disk_space.hpp"
#include "evershard/storage/rocks/merge_pace.hpp"
#include "evershard/storage/rocks/open_folder.hpp"
#include "evershard/storage/rocks/rocks_families.hpp"
#include "evershard/storage/rocks/rocks_options.hpp"
#include "evershard/storage/rocks/rocks_rows.hpp"
#include "evershard/storage/rocks/rocks_runs.hpp"
#include "evershard/storage/store_owner.hpp"

namespace evershard::storage {

/// The folder: `db/` RocksDB's, `sealing/` files of a run not yet ingested, `MARK` the last acknowledged commit,
/// `OWNER` who has it open.
///
/// Owner: stage() and commit() may run in two threads at once, each in one.
class RocksStore final : public NodeStore {
 public:
  static Result<std::unique_ptr<RocksStore>> open(StoreOptions options);
  ~RocksStore() override;

  [[nodiscard]] const Identity& identity() const override { return identity_; }
  [[nodiscard]] sharding::TermHasher hasher() const override {
    return sharding::TermHasher(identity_.term_key, options_.term_mask);
  }
  [[nodiscard]] sharding::OrderState recovered() const override { return recovered_; }
  [[nodiscard]] std::unique_ptr<StagedCommit> stage(const CommitBatch& batch) override;
  using NodeStore::stage_journal;
  [[nodiscard]] std::unique_ptr<StagedCommit> stage_journal(const JournalBatch& batch,
                                                            std::vector<ShippedRows>* made) override;
  [[nodiscard]] Result<ShippedRows> journal_from(ShardId shard, ShardOffset from, std::size_t bytes_max) const override;
  [[nodiscard]] std::unique_ptr<StagedCommit> stage_take_off(ShardId shard, ShardOffset from, Epoch followed) override;
  [[nodiscard]] std::unique_ptr<StagedCommit> stage_cut(const sharding::Cut& cut, const std::vector<ShardId>& damaged,
                                                        const std::vector<ShardId>& holes) override;
  [[nodiscard]] std::vector<UnorderedAppend> take_unordered() override { return std::exchange(unordered_, {}); }
  [[nodiscard]] Result<void> commit(StagedCommit& staged) override;
  [[nodiscard]] Admission admission() const override;
  [[nodiscard]] View view() const override { return tails_->view(); }
  [[nodiscard]] const Rows& rows() const override { return *rows_; }
  [[nodiscard]] RemovalMask& removals() override { return rows_->removals(); }
  Result<void> seal() override;
  [[nodiscard]] StoreStats stats() const override;
  [[nodiscard]] std::shared_ptr<StoreMaintenance> maintenance() const override;
  void close() override;

 private:
  class Staged;
  template <class Fill>
  std::unique_ptr<StagedCommit> stage_with(Fill fill);
  explicit RocksStore(StoreOptions options);

  // Opening, in this order.
  Result<void> look_at_folder();
  Result<void> open_database();
  Result<void> identify();
  Result<void> take_what_was_learned();
  Result<void> take_off_what_was_given_up();
  Result<void> compare_with_mark_file();
  Result<void> rebuild();
  Result<void> take_up_removals();
  Result<void> forget_damaged_removals();
  void start();

  void fail(const Error& error);
  [[nodiscard]] Error failure() const;
  void poll();
  void step(const char* name) const;
  void give_back(std::unique_ptr<rocksdb::WriteBatch> batch);
  std::unique_ptr<rocksdb::WriteBatch> take_batch();

  const StoreOptions options_;
  const std::filesystem::path database_;
  const std::filesystem::path mark_path_;
  const std::filesystem::path owner_path_;
  bool creating_ = false;
  RocksOptions rocks_;
  std::shared_ptr<RocksFamilies> families_;
  std::unique_ptr<RocksRows> rows_;
  std::unique_ptr<StoreOwner> owner_;
  std::unique_ptr<LastCommitMark> last_commit_;
  Identity identity_;
  sharding::OrderState recovered_;
  std::optional<RecoveredJournal> journal_;  // until staging begins
  std::vector<UnorderedAppend> unordered_;
  std::shared_ptr<DiskSpace> disk_;
  std::shared_ptr<MergePace> merges_;  ///< none: nothing is merged
  std::optional<OpenFolder> folder_;
  std::unique_ptr<Tails> tails_;
  std::unique_ptr<RocksRuns> runs_;
  std::unique_ptr<Sealer> sealer_;

  // The stager's; seal() takes the lock to end the active tail between two batches.
  std::mutex staging_mutex_;
  std::unique_ptr<Staging> staging_;
  std::unique_ptr<SnapshotSlots> snapshots_;
  std::uint64_t staged_ = 0;

  std::uint64_t commits_begun_ = 0;          // the committer's
  std::atomic<std::uint64_t> committed_{0};  // written: their rows can be read
  std::mutex batches_mutex_;
  std::vector<std::unique_ptr<rocksdb::WriteBatch>> batches_;  // kept for their memory

  std::atomic<bool> failed_{false};
  std::atomic<int> index_files_{0};  // at level 0, of the family that has most
  mutable std::mutex failure_mutex_;
  std::optional<Error> failure_;
  std::atomic<bool> closed_{false};
};

}  // namespace evershard::storage
