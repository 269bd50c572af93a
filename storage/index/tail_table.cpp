#include "evershard/storage/index/tail_table.hpp"

#include <algorithm>
#include <bit>

namespace evershard::storage {

TailTable::TailTable(std::size_t entries_hint) {
  // At most three quarters full; the hint comes out at about half.
  const auto bits = static_cast<unsigned>(std::clamp<int>(std::bit_width(entries_hint / parts) + 1, 3, 20));
  for (auto& part : parts_) part.store(add_slots(bits).word(), std::memory_order_relaxed);
}

TailTable::Slots TailTable::add_slots(unsigned bits) {
  const std::size_t count = std::size_t{1} << bits;
  auto* slots = static_cast<Slot*>(::operator new (count * sizeof(Slot), std::align_val_t{alignment}));
  std::uninitialized_value_construct_n(slots, count);
  kept_.emplace_back(slots);
  bytes_.store(bytes_.load(std::memory_order_relaxed) + count * sizeof(Slot), std::memory_order_relaxed);
  return {slots, bits};
}

void TailTable::put(const Slots& slots, std::uint64_t slot) {
  std::uint32_t i = slots.home(static_cast<std::uint32_t>(slot >> 32));
  while (slots.at[i].load(std::memory_order_relaxed) != 0) i = (i + 1) & slots.mask();
  slots.at[i].store(slot, std::memory_order_release);
}

void TailTable::insert(std::uint64_t key, std::uint32_t entry) {
  const std::size_t part = key >> 56;
  Slots slots(parts_[part].load(std::memory_order_relaxed));
  if (++used_[part] > (slots.mask() + 1) / 4 * 3) {
    const Slots larger = add_slots(slots.bits() + 1);
    for (std::uint32_t i = 0; i <= slots.mask(); ++i) {
      if (const std::uint64_t slot = slots.at[i].load(std::memory_order_relaxed)) put(larger, slot);
    }
    parts_[part].store(larger.word(), std::memory_order_release);
    slots = larger;
  }
  put(slots, std::uint64_t{tag_of(key)} << 32 | (entry + 1));
}

}  // namespace evershard::storage
