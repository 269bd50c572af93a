// DatabaseLock: RocksDB's own lock, held without opening the database: nobody opens it meanwhile.

#pragma once

#include <filesystem>
#include <memory>

#include <rocksdb/env.h>

#include "evershard/protocol/result.hpp"

namespace evershard::storage {

class DatabaseLock {
 public:
  /// Of the store in `data_dir`. On a file system that nobody can write to there is nothing to lock.
  /// Errors: not_found; unavailable: who has it open; io
  static Result<std::unique_ptr<DatabaseLock>> take(const std::filesystem::path& data_dir);
  ~DatabaseLock();
  DatabaseLock(const DatabaseLock&) = delete;

 private:
  explicit DatabaseLock(rocksdb::FileLock* lock) : lock_(lock) {}
  rocksdb::FileLock* lock_;
};

}  // namespace evershard::storage
