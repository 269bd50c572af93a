// MemoryStore: a store that lives as long as its object, for tests, simulation and embedding.

#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "evershard/storage/index/sealer.hpp"
#include "evershard/storage/index/tails.hpp"
#include "evershard/storage/journal/staging.hpp"
#include "evershard/storage/memory/memory_rows.hpp"
#include "evershard/storage/node_store.hpp"
#include "evershard/storage/open.hpp"

namespace evershard::storage {

/// The same tails, staging and sealing as on disk; only rows are kept elsewhere.
class MemoryStore final : public NodeStore {
 public:
  explicit MemoryStore(StoreOptions options);
  ~MemoryStore() override;

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
  [[nodiscard]] std::vector<UnorderedAppend> take_unordered() override { return {}; }
  [[nodiscard]] Result<void> commit(StagedCommit& staged) override;
  [[nodiscard]] Admission admission() const override;
  [[nodiscard]] View view() const override { return tails_.view(); }
  [[nodiscard]] const Rows& rows() const override { return rows_; }
  [[nodiscard]] RemovalMask& removals() override { return rows_.removals(); }
  Result<void> seal() override;
  [[nodiscard]] StoreStats stats() const override;
  void close() override;

 private:
  class Staged;
  class Runs;
  template <class Fill>
  std::unique_ptr<StagedCommit> stage_with(Fill fill);
  void step(const char* name) const;

  const StoreOptions options_;
  const Identity identity_;
  const sharding::OrderState recovered_;
  MemoryRows rows_;
  Tails tails_;
  std::mutex staging_mutex_;
  Staging staging_;
  SnapshotSlots snapshots_;
  std::uint64_t staged_ = 0;
  std::uint64_t commits_begun_ = 0;          // the committer's
  std::atomic<std::uint64_t> committed_{0};  // written: their rows can be read
  std::atomic<bool> failed_{false};
  std::atomic<bool> closed_{false};
  std::unique_ptr<RunSink> runs_;
  std::unique_ptr<Sealer> sealer_;  // stops before what it uses goes
};

}  // namespace evershard::storage
