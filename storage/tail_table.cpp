#include "evershard/storage/tail_table.hpp"

#include <algorithm>
#include <bit>

namespace evershard::storage {

TailTable::Slots::Slots(unsigned bits)
    : shift(32 - bits), mask((std::uint32_t{1} << bits) - 1), at(new std::atomic<std::uint64_t>[std::size_t{mask} + 1]()) {}

TailTable::TailTable(std::size_t entries_hint) {
  // At most three quarters full; the hint comes out at about half.
  const auto bits = static_cast<unsigned>(std::clamp<int>(std::bit_width(entries_hint / parts) + 1, 3, 20));
  for (auto& part : parts_) part.store(add_slots(bits), std::memory_order_relaxed);
}

const TailTable::Slots* TailTable::add_slots(unsigned bits) {
  kept_.push_back(std::make_unique<Slots>(bits));
  const std::size_t bytes = sizeof(Slots) + (std::size_t{8} << bits);
  bytes_.store(bytes_.load(std::memory_order_relaxed) + bytes, std::memory_order_relaxed);
  return kept_.back().get();
}

void TailTable::put(Slots& slots, std::uint64_t slot) {
  std::uint32_t i = slots.home(static_cast<std::uint32_t>(slot >> 32));
  while (slots.at[i].load(std::memory_order_relaxed) != 0) i = (i + 1) & slots.mask;
  slots.at[i].store(slot, std::memory_order_release);
}

void TailTable::insert(std::uint64_t key, std::uint32_t entry) {
  const std::size_t part = key >> 56;
  auto* slots = const_cast<Slots*>(parts_[part].load(std::memory_order_relaxed));
  if (++used_[part] > (slots->mask + 1) / 4 * 3) {
    auto* larger = const_cast<Slots*>(add_slots(33 - slots->shift));
    for (std::uint32_t i = 0; i <= slots->mask; ++i) {
      if (const std::uint64_t slot = slots->at[i].load(std::memory_order_relaxed)) put(*larger, slot);
    }
    parts_[part].store(larger, std::memory_order_release);
    slots = larger;
  }
  put(*slots, std::uint64_t{tag_of(key)} << 32 | (entry + 1));
}

}  // namespace evershard::storage
