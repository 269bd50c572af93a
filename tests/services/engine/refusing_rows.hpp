// RefusingRows: rows in memory, on a disk that refuses what it is told to.

#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "evershard/services/rows/memory_projection_store.hpp"

namespace evershard::cluster {

class RefusingRows final : public storage::ProjectionStore {
 public:
  mutable std::atomic<int> creations_to_refuse{0}, writes_to_refuse{0}, views_to_refuse{0};
  std::string writes_of{};  ///< the family whose writes these are; set before

  Result<void> create_family(const std::string& name, const storage::ProjectionCheckpoint& begin) override {
    EVERSHARD_TRY(refused(creations_to_refuse));
    return rows_->create_family(name, begin);
  }
  Result<void> drop_family(const std::string& name) override { return rows_->drop_family(name); }
  [[nodiscard]] std::vector<std::string> families() const override { return rows_->families(); }
  Result<void> write(const storage::ProjectionBatch& batch) override {
    if (batch.families.contains(writes_of)) EVERSHARD_TRY(refused(writes_to_refuse));
    return rows_->write(batch);
  }
  [[nodiscard]] Result<storage::ProjectionCheckpoint> checkpoint(const std::string& family) const override {
    return rows_->checkpoint(family);
  }
  [[nodiscard]] Result<std::shared_ptr<const storage::ProjectionView>> view(const std::string& family) const override {
    if (auto refusal = refused(views_to_refuse); !refusal) return refuse(std::move(refusal).error());
    return rows_->view(family);
  }
  [[nodiscard]] std::uint64_t disk_bytes() const override { return rows_->disk_bytes(); }
  Result<void> vacuum(const storage::Progress& progress, unsigned removed_percent) override {
    return rows_->vacuum(progress, removed_percent);
  }
  void close() override { rows_->close(); }

 private:
  static Result<void> refused(std::atomic<int>& left) {
    for (int times = left; times > 0;)
      if (left.compare_exchange_weak(times, times - 1)) return refuse(ErrorCode::io, "the disk refuses");
    return {};
  }

  const std::unique_ptr<storage::ProjectionStore> rows_ = storage::memory_projection_store();
};

}  // namespace evershard::cluster
