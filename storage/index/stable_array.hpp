// StableArray: an array that grows without moving, so that readers need no lock.

#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>

#include "evershard/protocol/check.hpp"

namespace evershard::storage {

/// Blocks of 1,024, 1,024, 2,048, 4,096... elements.
///
/// Owner: one thread adds. A reader may look at elements below a size() that it read, or that it was told of by a
/// release and acquire of the writer's own.
template <class T>
class StableArray {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  StableArray() = default;
  ~StableArray() {
    for (auto& block : blocks_) ::operator delete (block.load(std::memory_order_relaxed), std::align_val_t{64});
  }
  StableArray(const StableArray&) = delete;
  StableArray& operator=(const StableArray&) = delete;

  [[nodiscard]] std::uint32_t size() const { return size_.load(std::memory_order_acquire); }

  /// Constructs the next element, then shows it.
  template <class... Args>
  T& add(Args&&... args) {
    const std::uint32_t i = size_.load(std::memory_order_relaxed);
    const unsigned block = block_of(i);
    EVERSHARD_CHECK(block < blocks_max, "a tail holds less than 2^31 entries");
    T* elements = blocks_[block].load(std::memory_order_relaxed);
    if (elements == nullptr) {
      elements = static_cast<T*>(::operator new (sizeof(T) * elements_of(block), std::align_val_t{64}));
      blocks_[block].store(elements, std::memory_order_release);
    }
    T* element = new (elements + (i - first_of(block))) T{std::forward<Args>(args)...};
    size_.store(i + 1, std::memory_order_release);
    return *element;
  }

  [[nodiscard]] const T& operator[](std::uint32_t i) const {
    const unsigned block = block_of(i);
    return blocks_[block].load(std::memory_order_acquire)[i - first_of(block)];
  }
  [[nodiscard]] T& operator[](std::uint32_t i) { return const_cast<T&>(std::as_const(*this)[i]); }

  void prefetch(std::uint32_t i) const { __builtin_prefetch(&(*this)[i], 1); }

  /// What was written to: pages behind the last element were never touched.
  [[nodiscard]] std::size_t bytes() const { return std::size_t{size()} * sizeof(T); }

 private:
  static constexpr unsigned first_bits = 10;
  static constexpr unsigned blocks_max = 22;
  static constexpr unsigned block_of(std::uint32_t i) { return std::bit_width(i >> first_bits); }
  static constexpr std::uint32_t first_of(unsigned block) {
    return block == 0 ? 0 : std::uint32_t{1} << (first_bits + block - 1);
  }
  static constexpr std::size_t elements_of(unsigned block) {
    return std::size_t{1} << (block == 0 ? first_bits : first_bits + block - 1);
  }

  std::atomic<T*> blocks_[blocks_max] = {};
  std::atomic<std::uint32_t> size_{0};
};

}  // namespace evershard::storage
