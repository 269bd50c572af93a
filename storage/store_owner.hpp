// StoreOwner: the file OWNER, which names the process that has the store open. The lock itself is RocksDB's.

#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "evershard/protocol/result.hpp"

namespace evershard::storage {

/// Written once the lock is held; gone with the object.
class StoreOwner {
 public:
  /// Errors: io
  static Result<std::unique_ptr<StoreOwner>> write(const std::filesystem::path& path);
  ~StoreOwner();
  StoreOwner(const StoreOwner&) = delete;

  /// "process 1234 (evershard), since 2026-01-31T12:00:00Z", or "another process" where the file says nothing.
  static std::string named_in(const std::filesystem::path& path);

 private:
  explicit StoreOwner(std::filesystem::path path) : path_(std::move(path)) {}
  const std::filesystem::path path_;
};

}  // namespace evershard::storage
