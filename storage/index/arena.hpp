// Arena: memory given out piece by piece and freed all at once.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

namespace evershard::storage {

/// Owner: one thread allocates. Memory that the arena gave out stays where it is until the arena goes.
class Arena {
 public:
  static constexpr std::size_t block_bytes_first = 16u << 10;
  static constexpr std::size_t block_bytes_max = 1u << 20;

  /// Aligned to 8; not initialised.
  void* allocate(std::size_t bytes) {
    bytes = (bytes + 7) & ~std::size_t{7};
    if (bytes > left_) {
      if (bytes > block_bytes_ / 4) return add_block(bytes);
      at_ = add_block(block_bytes_);
      left_ = block_bytes_;
      block_bytes_ = std::min(block_bytes_ * 2, block_bytes_max);
    }
    std::byte* piece = at_;
    at_ += bytes;
    left_ -= bytes;
    return piece;
  }

  /// Any thread.
  [[nodiscard]] std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  std::byte* add_block(std::size_t bytes) {
    blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
    bytes_.store(bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
    return blocks_.back().get();
  }

  std::vector<std::unique_ptr<std::byte[]>> blocks_;
  std::byte* at_ = nullptr;
  std::size_t left_ = 0;
  std::size_t block_bytes_ = block_bytes_first;
  std::atomic<std::size_t> bytes_{0};
};

}  // namespace evershard::storage
