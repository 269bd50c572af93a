// OpenTable: a flat hash table that is only added to, and emptied whole.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace evershard::actors {

/// Open addressing, linear probing; at most half full.
///
/// Shape: Slot{} is empty; `bool Slot::empty() const`, `std::uint64_t Slot::hash() const`.
template <class Slot>
class OpenTable {
 public:
  OpenTable() : slots_(std::size_t{1} << 10) {}

  template <class Same>
  [[nodiscard]] Slot* find(std::uint64_t hash, Same same) {
    for (std::size_t i = home(hash);; i = next(i)) {
      if (slots_[i].empty()) return nullptr;
      if (same(slots_[i])) return &slots_[i];
    }
  }

  /// Shape: not there yet, not empty.
  void add(const Slot& slot) {
    if ((used_ + 1) * 2 > slots_.size()) grow();
    put(slot);
    ++used_;
  }

  [[nodiscard]] std::size_t size() const { return used_; }

  /// Keeps its memory.
  void clear() {
    if (used_ != 0) std::fill(slots_.begin(), slots_.end(), Slot{});
    used_ = 0;
  }

 private:
  // The upper bits of a product with an odd number depend on all bits below.
  [[nodiscard]] std::size_t home(std::uint64_t hash) const {
    return static_cast<std::size_t>((hash * 0x9E3779B97F4A7C15ull) >> 32) & (slots_.size() - 1);
  }
  [[nodiscard]] std::size_t next(std::size_t i) const { return (i + 1) & (slots_.size() - 1); }

  void put(const Slot& slot) {
    std::size_t i = home(slot.hash());
    while (!slots_[i].empty()) i = next(i);
    slots_[i] = slot;
  }

  void grow() {
    std::vector<Slot> larger(slots_.size() * 2);
    larger.swap(slots_);
    for (const Slot& slot : larger) {
      if (!slot.empty()) put(slot);
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace evershard::actors
