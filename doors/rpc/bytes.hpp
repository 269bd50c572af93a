// Bytes: a message of a call, as it lies in memory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace evershard::rpc {

/// What gRPC puts before each message: whether it is compressed, and its length.
constexpr std::size_t head_bytes = 5;

/// A message that is to be sent has room for its head before it, so that it goes out uncopied.
class Bytes {
 public:
  Bytes() = default;
  /// Of a message that came in, or whose head goes out by itself.
  explicit Bytes(std::string content) : memory_(std::move(content)) {}
  /// So many bytes to be filled.
  static Bytes of_size(std::size_t bytes) {
    Bytes made;
    made.begin_ = head_bytes;
    made.memory_.resize(head_bytes + bytes);
    return made;
  }

  [[nodiscard]] std::size_t size() const { return memory_.size() - begin_; }
  [[nodiscard]] std::string_view view() const { return std::string_view(memory_).substr(begin_); }
  [[nodiscard]] char* begin() { return memory_.data() + begin_; }
  [[nodiscard]] bool is_compressed() const { return compressed_; }
  void is_compressed(bool compressed) { compressed_ = compressed; }

  /// Its head and itself, as they go out.
  [[nodiscard]] std::string framed() && {
    if (begin_ == 0) memory_.insert(0, head_bytes, '\0');
    const auto bytes = memory_.size() - head_bytes;
    memory_[0] = static_cast<char>(compressed_);
    for (std::size_t i = 0; i != 4; ++i)
      memory_[1 + i] = static_cast<char>(static_cast<std::uint8_t>(bytes >> (24 - 8 * i)));
    begin_ = 0;
    return std::move(memory_);
  }

 private:
  std::string memory_;
  std::size_t begin_ = 0;
  bool compressed_ = false;
};

}  // namespace evershard::rpc
