// SteeredStore: a store in memory whose commits can be held, counted and made to fail, and that can be opened again.

#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "evershard/storage/open.hpp"
#include "evershard/storage/store.hpp"

namespace evershard::actors {

class SteeredStore final : public storage::Store {
 public:
  explicit SteeredStore(std::uint32_t shards = 4, std::uint64_t term_mask = ~std::uint64_t{0}) : term_mask_(term_mask) {
    storage::StoreOptions options;
    options.shards = shards;
    options.term_mask = term_mask;
    memory_ = std::move(storage::open_memory_store(options)).value();
    state_ = memory_->recovered();
  }

  // -- steering

  void hold_commits() {
    const std::lock_guard lock(mutex_);
    held_ = true;
  }
  void release_commits() {
    const std::lock_guard lock(mutex_);
    held_ = false;
    changed_.notify_all();
  }
  /// Waits until a commit stands before the disk.
  void await_commit() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return at_commit_; });
  }
  /// The next one; a store that has failed must not be asked again.
  void fail_commit() {
    const std::lock_guard lock(mutex_);
    failing_ = true;
  }
  void await_staged(int batches) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return staged_ >= batches; });
  }
  void admit(storage::Admission admission) {
    const std::lock_guard lock(mutex_);
    admission_ = std::move(admission);
  }
  [[nodiscard]] std::vector<std::size_t> appends_by_commit() const {
    const std::lock_guard lock(mutex_);
    return commits_;
  }

  // -- storage::Store

  [[nodiscard]] const storage::Identity& identity() const override { return memory_->identity(); }
  [[nodiscard]] sharding::TermHasher hasher() const override { return sharding::TermHasher(42, term_mask_); }
  [[nodiscard]] sharding::OrderState recovered() const override { return state_; }

  [[nodiscard]] std::unique_ptr<storage::StagedCommit> stage(const storage::CommitBatch& batch) override {
    auto staged = std::make_unique<Staged>();
    staged->inner = memory_->stage(batch);
    staged->batch = keep(batch);
    const std::lock_guard lock(mutex_);
    ++staged_;
    changed_.notify_all();
    return staged;
  }

  [[nodiscard]] Result<void> commit(storage::StagedCommit& commit) override {
    auto& staged = static_cast<Staged&>(commit);
    std::unique_lock lock(mutex_);
    at_commit_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held_; });
    at_commit_ = false;
    if (std::exchange(failing_, false)) return refuse(ErrorCode::io, "the disk said no");
    commits_.push_back(staged.batch.commit.appends.size());
    lock.unlock();
    log_.push_back(std::move(staged.batch));
    return memory_->commit(*staged.inner);
  }

  /// What was committed, as a store that was opened again. `survived`: a batch whose commit failed, and is there all
  /// the same.
  [[nodiscard]] std::unique_ptr<SteeredStore> reopened(const storage::CommitBatch* survived = nullptr) {
    auto again = std::make_unique<SteeredStore>(identity().shards, term_mask_);
    if (survived != nullptr) log_.push_back(keep(*survived));
    for (auto& kept : log_) {
      auto staged = again->memory_->stage(kept.commit);
      EXPECT_TRUE(again->memory_->commit(*staged));
      if (!kept.commit.cut) continue;
      for (const auto& segment : kept.commit.cut->segments)
        again->state_.shards[segment.shard.value].next = segment.end;
      again->state_.last_cut = kept.commit.cut->number;
      again->state_.watermark = kept.commit.cut->last_position();
    }
    again->log_ = std::move(log_);
    return again;
  }

  [[nodiscard]] storage::Admission admission() const override {
    const std::lock_guard lock(mutex_);
    return admission_;
  }
  [[nodiscard]] storage::View view() const override { return memory_->view(); }
  [[nodiscard]] storage::RemovalMask& removals() override { return memory_->removals(); }
  [[nodiscard]] const storage::Rows& rows() const override { return memory_->rows(); }
  Result<void> seal() override { return memory_->seal(); }
  [[nodiscard]] storage::StoreStats stats() const override { return memory_->stats(); }
  void close() override { memory_->close(); }

 private:
  /// A batch with copies of its appends.
  struct Kept {
    storage::CommitBatch commit;
    std::vector<std::shared_ptr<const storage::EncodedAppend>> appends;
  };
  struct Staged final : storage::StagedCommit {
    std::unique_ptr<storage::StagedCommit> inner;
    Kept batch;
  };

  static Kept keep(const storage::CommitBatch& batch) {
    Kept kept;
    kept.commit = batch;
    for (auto& placed : kept.commit.appends) {
      placed.append = kept.appends.emplace_back(std::make_shared<storage::EncodedAppend>(*placed.append)).get();
    }
    return kept;
  }

  const std::uint64_t term_mask_;
  std::unique_ptr<storage::Store> memory_;
  sharding::OrderState state_;
  std::vector<Kept> log_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  bool at_commit_ = false;
  bool failing_ = false;
  int staged_ = 0;
  storage::Admission admission_;
  std::vector<std::size_t> commits_;
};

}  // namespace evershard::actors
