// The projection store on disk: a RocksDB of its own, beside the store's.

#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>

#include "evershard/services/rows/projection_store.hpp"

namespace rocksdb {
class Env;
}

namespace evershard::storage {

struct RocksProjectionOptions {
  std::filesystem::path folder{};  ///< the folder is made if it is missing
  ProjectionStoreOptions of{};
  /// And what memtables leave of theirs. 0: that of the process's stores, as StoreOptions has it.
  std::size_t block_cache_bytes = 0;
  std::size_t memtables_bytes = 64u << 20;  ///< of all families together
  /// A write of at least so many rows of one family, in order of key, becomes sorted files that RocksDB takes in:
  /// below, a file of its own costs more than it saves.
  std::size_t files_from_rows = 20'000;
  rocksdb::Env* env = nullptr;  ///< for tests
  /// Told of what was damaged and is cleared. May be absent.
  std::function<void(const Error&)> warn{};
};

/// What cannot be opened, is damaged, of another store or ahead of it, is cleared: it is rebuilt from the events.
///
/// Errors: unavailable (open already), io (the disk)
/// Source: docs/internals/on-disk-format.md, "Projections"
[[nodiscard]] Result<std::unique_ptr<ProjectionStore>> open_projection_store(const RocksProjectionOptions& options);

}  // namespace evershard::storage
