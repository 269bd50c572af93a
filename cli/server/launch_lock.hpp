// LaunchLock: one `cluster launch` at a time in a directory.

#pragma once

#include <filesystem>
#include <utility>

#include "evershard/protocol/result.hpp"
#include "evershard/storage/files/descriptor.hpp"

namespace evershard::cli {

/// Held until it is destroyed, or its process ends however it does; what that has started does not hold it.
class LaunchLock {
 public:
  /// Errors: unavailable: another process launches this cluster; io
  [[nodiscard]] static Result<LaunchLock> take(const std::filesystem::path& folder);

 private:
  explicit LaunchLock(storage::Descriptor file) : file_(std::move(file)) {}
  storage::Descriptor file_;
};

}  // namespace evershard::cli
