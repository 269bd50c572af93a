// RocksOptions: how RocksDB is set up for us, and what memory that promises.

#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <rocksdb/cache.h>
#include <rocksdb/env.h>
#include <rocksdb/options.h>
#include <rocksdb/rate_limiter.h>

#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/options.hpp"

namespace evershard::storage {

/// The table of memory at default settings. What the settings promise is the sum; the cache is one for all families,
/// and by default for all stores of the process (block_cache.hpp).
///
///   block cache (blocks, index and filter blocks of all files)        an eighth of the machine's
///   memtables: journal 3 x 32, order 2 x 4, state 2 x 8, others        ~125 MB
///   two tails (about 150 bytes an event, 262,144 events each)           80 MB, at most 2 x 96
///   sealing: the sorted entries of one family, one file's blocks        16 MB
///   open files (512, without index and filter)                          10 MB
///   log buffer, one batch being staged and one being written            16 MB
///   in all, beside the cache                                           250 MB
///
/// Source: docs/operations.md, "Memory".
class RocksOptions {
 public:
  explicit RocksOptions(const StoreOptions& options);

  /// To open: nothing is merged until RocksFamilies::begin_merging(), so that what is read back has the disk and the
  /// cores.
  [[nodiscard]] RocksOptions for_opening() const;
  [[nodiscard]] RocksOptions without_merges() const;
  /// To look at a damaged database: no log has to be there, and nothing is merged.
  [[nodiscard]] RocksOptions for_repair() const;
  /// The same, and files may be missing or no tables at all: it opens with the rest.
  [[nodiscard]] RocksOptions forgiving() const;

  /// To write what is read once, from its beginning to its end: large blocks, and zstd where RocksDB has it.
  [[nodiscard]] RocksOptions compact() const;

  /// Merges ask it. Shape: before a database is opened with them.
  void set_merge_pace(std::shared_ptr<rocksdb::RateLimiter> pace);

  /// Shape: env() outlives what is opened with them.
  [[nodiscard]] const rocksdb::DBOptions& db() const { return db_; }
  [[nodiscard]] const std::shared_ptr<rocksdb::Env>& env() const { return env_; }
  [[nodiscard]] rocksdb::ColumnFamilyOptions family(Family family) const;
  /// Families with a handful of rows: `mark`, and RocksDB's own `default`.
  [[nodiscard]] rocksdb::ColumnFamilyOptions small() const;
  [[nodiscard]] const std::shared_ptr<rocksdb::Cache>& cache() const { return cache_; }
  /// Settings as rows of StoreStats::details.
  [[nodiscard]] std::vector<std::pair<std::string, std::uint64_t>> memory_promised() const;

 private:
  std::size_t memtable_bytes_;
  std::size_t tail_bytes_max_;
  bool merges_ = true;
  bool compact_ = false;
  std::shared_ptr<rocksdb::Cache> cache_;
  std::shared_ptr<rocksdb::Env> env_;
  rocksdb::DBOptions db_;
};

/// For a database that is only read: RocksDB would begin an info log of its own beside it.
[[nodiscard]] std::shared_ptr<rocksdb::Logger> no_log();
/// What RocksDB itself takes for it, unless something paces its merges.
inline constexpr std::uint64_t delayed_write_rate = 16u << 20;
/// A row is protected by a checksum of its own from WriteBatch to memtable.
inline constexpr std::size_t row_protection_bytes = 8;
/// Files at level 0 of an index family from which appends are slowed, and refused.
inline constexpr int index_files_slow = 24;
inline constexpr int index_files_full = 48;

}  // namespace evershard::storage
