// Input: a file, or standard input where its name is `-`.

#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "evershard/protocol/result.hpp"

namespace evershard {

class Input {
 public:
  /// Errors: not_found, io
  [[nodiscard]] static Result<Input> open(const std::string& path);
  Input(Input&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)), bytes_(other.bytes_) {}
  Input& operator=(Input&&) = delete;
  ~Input();

  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// 0: it is a pipe.
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  /// All of it. Errors: io; too_large
  [[nodiscard]] Result<std::string> read_all(std::size_t bytes_max);

 private:
  Input(int descriptor, std::uint64_t bytes) : descriptor_(descriptor), bytes_(bytes) {}
  int descriptor_;
  std::uint64_t bytes_;
};

}  // namespace evershard
