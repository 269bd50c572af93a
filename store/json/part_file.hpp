// PartFile: a file that appears under its name only when it is whole.

#pragma once

#include <string>
#include <utility>

#include "evershard/protocol/result.hpp"

namespace evershard {

/// Written as NAME.part beside it; taken away again where it is not kept.
class PartFile {
 public:
  /// Errors: io
  [[nodiscard]] static Result<PartFile> create(std::string path);
  PartFile(PartFile&& other) noexcept
      : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  PartFile& operator=(PartFile&&) = delete;
  ~PartFile();

  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// Synced, and under its name, in the place of what was there. Errors: io
  [[nodiscard]] Result<void> keep();

 private:
  PartFile(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}
  [[nodiscard]] std::string part() const { return path_ + ".part"; }

  std::string path_;
  int descriptor_;
};

}  // namespace evershard
