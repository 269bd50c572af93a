// PositionList: ascending numbers that grow at the end, read without a lock: the tail's posting list.

#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <new>

#include "evershard/storage/index/arena.hpp"

namespace evershard::storage {

/// The first three lie in the list itself, the others in chunks of 8, 16, 32..., the newest first in a chain: a place
/// in a list of n is found in log n steps.
///
/// Owner: one thread appends. Readers look at the first size() elements.
class PositionList {
 public:
  /// Does nothing if `position` is the list's last position already. Shape: `position` is not below the last one.
  void append(std::uint32_t position, Arena& arena) {
    const std::uint32_t n = count_.load(std::memory_order_relaxed);
    if (n <= inline_max) {
      if (n > 0 && inline_[n - 1] == position) return;
      if (n < inline_max) {
        inline_[n] = position;
        count_.store(n + 1, std::memory_order_release);
        return;
      }
    }
    Chunk* chunk = last_.load(std::memory_order_relaxed);
    const std::uint32_t base = base_of(n);
    if (n > base) {
      if (chunk->elements()[n - base - 1] == position) return;
    } else {
      if (chunk != nullptr && chunk->elements()[n - chunk->base - 1] == position) return;
      const std::size_t capacity = base - inline_max + first_chunk;
      auto* bytes = arena.allocate(sizeof(Chunk) + capacity * sizeof(std::uint32_t));
      chunk = new (bytes) Chunk{chunk, base};
      last_.store(chunk, std::memory_order_release);
    }
    chunk->elements()[n - base] = position;
    count_.store(n + 1, std::memory_order_release);
  }

  /// Writer's side: brings the place of the next element near.
  void prefetch() const {
    const std::uint32_t n = count_.load(std::memory_order_relaxed);
    if (n <= inline_max) return;
    __builtin_prefetch(last_.load(std::memory_order_relaxed)->elements() + (n - base_of(n)), 1);
  }

  [[nodiscard]] std::uint32_t size() const { return count_.load(std::memory_order_acquire); }

  /// Copies elements [from, from + n). Shape: below a size() that was read.
  void read(std::uint32_t from, std::uint32_t n, std::uint32_t* out) const {
    std::uint32_t until = from + n;
    for (const Chunk* chunk = last_.load(std::memory_order_acquire); until > from && until > inline_max;
         chunk = chunk->before) {
      if (chunk->base >= until) continue;
      const std::uint32_t begin = std::max(from, chunk->base);
      std::copy(chunk->elements() + (begin - chunk->base), chunk->elements() + (until - chunk->base),
                out + (begin - from));
      until = begin;
    }
    if (until > from) std::copy(inline_ + from, inline_ + until, out);
  }

  [[nodiscard]] std::uint32_t at(std::uint32_t i) const {
    std::uint32_t position = 0;
    read(i, 1, &position);
    return position;
  }

  /// How many of the first `n` elements are below `position`. Shape: n at most a size() that was read.
  [[nodiscard]] std::uint32_t lower_bound(std::uint32_t position, std::uint32_t n) const {
    for (const Chunk* chunk = last_.load(std::memory_order_acquire); n > inline_max; chunk = chunk->before) {
      if (chunk->base >= n) continue;
      if (chunk->elements()[0] < position) {
        const std::uint32_t* begin = chunk->elements();
        return chunk->base +
               static_cast<std::uint32_t>(std::lower_bound(begin, begin + (n - chunk->base), position) - begin);
      }
      n = chunk->base;
    }
    return static_cast<std::uint32_t>(std::lower_bound(inline_, inline_ + n, position) - inline_);
  }

 private:
  static constexpr std::uint32_t inline_max = 3;
  static constexpr std::uint32_t first_chunk = 8;

  struct Chunk {
    Chunk* before;
    std::uint32_t base;  ///< its first element's number
    // its elements follow
    [[nodiscard]] const std::uint32_t* elements() const { return reinterpret_cast<const std::uint32_t*>(this + 1); }
    [[nodiscard]] std::uint32_t* elements() { return reinterpret_cast<std::uint32_t*>(this + 1); }
  };
  /// The first element's number of the chunk that element n lies in. Chunk k begins at 3 + 8 * (2^k - 1).
  static constexpr std::uint32_t base_of(std::uint32_t n) {
    return inline_max + first_chunk * (std::bit_floor((n - inline_max) / first_chunk + 1) - 1);
  }

  std::atomic<std::uint32_t> count_{0};
  std::uint32_t inline_[inline_max] = {};
  std::atomic<Chunk*> last_{nullptr};
};

}  // namespace evershard::storage
