// MemoryRows: rows in sorted maps, behind a lock for readers and one writer.

#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "evershard/storage/journal/removal_mask.hpp"
#include "evershard/storage/journal/rows.hpp"

namespace evershard::storage {

/// Any thread. A cursor holds the row it stands on and finds the next one by key, so rows may come and go beside it.
class MemoryRows final : public Rows {
 public:
  struct Write {
    Family family;
    std::string key;
    std::optional<std::string> value;  ///< absent: erased
  };

  MemoryRows();
  ~MemoryRows() override;
  [[nodiscard]] std::unique_ptr<RowCursor> cursor(Family family, CursorOptions options) const override;
  [[nodiscard]] Result<std::unique_ptr<RowBatch>> get(Family family, std::span<const std::string_view> keys,
                                                      bool keep = true) const override;

  [[nodiscard]] const RemovalMask* mask() const override { return &mask_; }
  [[nodiscard]] RemovalMask& removals() { return mask_; }

  /// All of it at once.
  void write(std::vector<Write> writes);
  /// From now on there are no rows to be had. Cursors that are out keep theirs.
  void close();
  [[nodiscard]] std::uint64_t bytes(Family family) const;

 private:
  struct Tables;
  class Cursor;
  class Batch;
  [[nodiscard]] std::shared_ptr<Tables> tables() const;
  mutable std::shared_mutex mutex_;
  std::shared_ptr<Tables> tables_;
  RemovalMask mask_;
};

}  // namespace evershard::storage
