// RocksFamilies: an open RocksDB with our column families.

#pragma once

#include <array>
#include <memory>
#include <vector>

#include <rocksdb/db.h>

#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/rocks/rocks_options.hpp"

namespace evershard::storage {

/// Closes the database when it goes.
class RocksFamilies {
 public:
  /// Opens what is there and creates what is missing. Errors: RocksDB's, as they are: open() of the store tells them
  /// apart.
  static rocksdb::Status open(const RocksOptions& options, const std::string& folder, bool read_only,
                              std::unique_ptr<RocksFamilies>& out);
  /// Of a store that open() refused because it has families we do not know.
  /// Errors: invalid_argument: a newer format, named; corruption, io
  static Result<Identity> stored_identity(const RocksOptions& options, const std::string& folder);
  ~RocksFamilies();
  RocksFamilies(const RocksFamilies&) = delete;

  [[nodiscard]] rocksdb::DB& db() const { return *db_; }
  [[nodiscard]] rocksdb::ColumnFamilyHandle* handle(Family family) const {
    return handles_[static_cast<std::size_t>(family)];
  }
  /// One row, the mark: everything up to this position is in the index families.
  [[nodiscard]] rocksdb::ColumnFamilyHandle* mark() const { return handles_[family_count]; }

  /// From here on files are merged in the background, where they were opened so that they are not.
  void begin_merging();

  /// Absent: 0. Errors: corruption, io
  [[nodiscard]] Result<GlobalPosition> stored_mark() const;
  /// Drops the mark and makes it anew: 0. To be done before clear_indexes(): a crash in between leaves a mark of 0
  /// beside rows, and the next open clears again.
  Result<void> clear_mark(const RocksOptions& options);
  /// Drops the index families and makes them anew, empty.
  Result<void> clear_indexes(const RocksOptions& options);
  /// Whether no index family has a row. Errors: corruption, io
  [[nodiscard]] Result<bool> indexes_empty() const;

 private:
  explicit RocksFamilies(std::shared_ptr<rocksdb::Env> env) : env_(std::move(env)) {}
  Result<void> renew(std::size_t i, const std::string& name, const rocksdb::ColumnFamilyOptions& options);
  const std::shared_ptr<rocksdb::Env> env_;
  rocksdb::DB* db_ = nullptr;
  rocksdb::ColumnFamilyHandle* default_ = nullptr;
  std::array<rocksdb::ColumnFamilyHandle*, family_count + 1> handles_{};
};

inline constexpr const char* mark_key = "mark";
std::string encode_mark(GlobalPosition mark);

}  // namespace evershard::storage
