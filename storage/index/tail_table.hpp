// TailTable: from a 64-bit key to numbers of entries kept elsewhere; one writer, readers without a lock.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace evershard::storage {

/// Open addressing in 256 parts by the key's top byte: a part grows alone, so that no single insertion pays for all of
/// them, and the parts in sequence are the keys in order of their top byte.
///
/// A slot is (32 bits of the mixed key, number of the entry + 1); whoever looks up compares the entry itself.
/// Owner: one thread inserts. A part that grows is published whole, the one before kept until the table goes.
class TailTable {
 public:
  static constexpr unsigned parts = 256;
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  explicit TailTable(std::size_t entries_hint);

  /// The first entry under the key for which `is_it(entry)` holds.
  template <class IsIt>
  [[nodiscard]] std::uint32_t find(std::uint64_t key, IsIt is_it) const {
    const Slots slots(parts_[key >> 56].load(std::memory_order_acquire));
    const std::uint32_t tag = tag_of(key);
    for (std::uint32_t i = slots.home(tag);; i = (i + 1) & slots.mask()) {
      const std::uint64_t slot = slots.at[i].load(std::memory_order_acquire);
      if (slot == 0) return none;
      if (slot >> 32 == tag && is_it(entry_of(slot))) return entry_of(slot);
    }
  }

  /// Keys may stand for several entries. Writer's side.
  void insert(std::uint64_t key, std::uint32_t entry);

  /// The entry that find() will look at first; none: it is not there.
  [[nodiscard]] std::uint32_t candidate(std::uint64_t key) const {
    return find(key, [](std::uint32_t) { return true; });
  }

  void prefetch(std::uint64_t key) const {
    const Slots slots(parts_[key >> 56].load(std::memory_order_relaxed));
    __builtin_prefetch(&slots.at[slots.home(tag_of(key))]);
  }

  /// The entries of the keys with this top byte, in no order.
  template <class Take>
  void for_each(unsigned part, Take take) const {
    const Slots slots(parts_[part].load(std::memory_order_acquire));
    for (std::uint32_t i = 0; i <= slots.mask(); ++i) {
      if (const std::uint64_t slot = slots.at[i].load(std::memory_order_acquire)) take(entry_of(slot));
    }
  }

  /// Any thread.
  [[nodiscard]] std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  using Slot = std::atomic<std::uint64_t>;
  static constexpr std::size_t alignment = 64;

  /// A part's slots as one word: their address and, in its low bits, how many they are. So a look-up waits for memory
  /// once, at the slot.
  struct Slots {
    explicit Slots(std::uintptr_t word)
        : at(reinterpret_cast<Slot*>(word & ~(alignment - 1))), shift(static_cast<unsigned>(word % alignment)) {}
    Slots(Slot* slots, unsigned bits) : at(slots), shift(32 - bits) {}
    [[nodiscard]] std::uintptr_t word() const { return reinterpret_cast<std::uintptr_t>(at) | shift; }
    [[nodiscard]] unsigned bits() const { return 32 - shift; }
    [[nodiscard]] std::uint32_t mask() const { return ~std::uint32_t{0} >> shift; }
    [[nodiscard]] std::uint32_t home(std::uint32_t tag) const { return tag >> shift; }

    Slot* at;
    unsigned shift;
  };
  struct FreeSlots {
    void operator()(Slot* slots) const { ::operator delete (slots, std::align_val_t{alignment}); }
  };
  static constexpr std::uint32_t tag_of(std::uint64_t key) {
    return static_cast<std::uint32_t>((key * 0x9E3779B97F4A7C15u) >> 32);
  }
  static constexpr std::uint32_t entry_of(std::uint64_t slot) { return static_cast<std::uint32_t>(slot) - 1; }
  static void put(const Slots& slots, std::uint64_t slot);
  Slots add_slots(unsigned bits);

  std::array<std::atomic<std::uintptr_t>, parts> parts_;
  std::array<std::uint32_t, parts> used_{};
  std::vector<std::unique_ptr<Slot, FreeSlots>> kept_;
  std::atomic<std::size_t> bytes_{0};
};

}  // namespace evershard::storage
