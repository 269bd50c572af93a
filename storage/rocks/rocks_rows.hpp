// RocksRows: rows as RocksDB keeps them.

#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "evershard/storage/index/event_cache.hpp"
#include "evershard/storage/journal/removal_mask.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/rocks/parallel_reads.hpp"
#include "evershard/storage/rocks/rocks_families.hpp"

namespace evershard::storage {

/// Any thread. Prefixed cursors of streams and postings skip files by filter; values of a batch stay pinned, uncopied.
class RocksRows final : public Rows {
 public:
  explicit RocksRows(std::shared_ptr<const RocksFamilies> families) : families_(std::move(families)) {}
  /// Readers keep single events in that cache.
  RocksRows(std::shared_ptr<const RocksFamilies> families, std::shared_ptr<rocksdb::Cache> cache)
      : families_(std::move(families)), events_(std::in_place, std::move(cache)) {}
  /// All rows as they are now, whatever is written later: commits are in them whole or not at all.
  static std::unique_ptr<RocksRows> frozen(std::shared_ptr<const RocksFamilies> families);
  [[nodiscard]] std::unique_ptr<RowCursor> cursor(Family family, CursorOptions options) const override;
  [[nodiscard]] Result<std::unique_ptr<RowBatch>> get(Family family, std::span<const std::string_view> keys,
                                                      bool keep = true) const override;

  [[nodiscard]] const RemovalMask* mask() const override { return &mask_; }
  [[nodiscard]] RemovalMask& removals() { return mask_; }
  [[nodiscard]] EventCache* events() const override { return events_ ? &*events_ : nullptr; }

  /// From now on there are no rows to be had; cursors and batches that are out keep the database open until they go.
  void close();
  /// Nothing once it is closed.
  [[nodiscard]] std::shared_ptr<const RocksFamilies> families() const;

 private:
  using Snapshot = std::shared_ptr<const rocksdb::Snapshot>;
  mutable std::mutex mutex_;
  std::shared_ptr<const RocksFamilies> families_;
  RemovalMask mask_;
  mutable std::optional<EventCache> events_;
  mutable ParallelReads reads_;
  Snapshot snapshot_;  // absent: as they are whenever they are looked at
};

}  // namespace evershard::storage
