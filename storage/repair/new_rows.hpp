// NewRows: the rows of a database that is being made, in large batches and without a log.

#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include <rocksdb/write_batch.h>

#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/row_sink.hpp"
#include "evershard/storage/options.hpp"
#include "evershard/storage/rocks/rocks_families.hpp"

namespace evershard::storage {

/// An empty database for them. `compact`: as small as it can be. Errors: io
[[nodiscard]] Result<std::unique_ptr<RocksFamilies>> create_database(const StoreOptions& options, bool compact,
                                                                     const std::filesystem::path& folder);

/// The database counts once all of it is flushed. What a put fails with is told by the next written() or finish().
///
/// Owner: one thread.
class NewRows final : public RowSink {
 public:
  explicit NewRows(const RocksFamilies& families) : families_(families) {}

  void put(Family family, std::string_view key, std::string_view value) override;
  void erase(Family family, std::string_view key) override;
  /// Errors: io
  [[nodiscard]] Result<void> written() const;
  /// Flushes the truth's families together. Errors: io
  Result<void> finish();

 private:
  void write();
  void take(rocksdb::Status status);

  const RocksFamilies& families_;
  rocksdb::WriteBatch batch_;
  rocksdb::Status status_;
};

}  // namespace evershard::storage
