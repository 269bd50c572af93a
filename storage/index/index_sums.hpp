// IndexSums: what an index holds as sums of hashes, by family and stretch of positions: equal whatever the order of
// adding.

#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/storage/index/index_entry.hpp"

namespace evershard::storage {

class IndexSums {
 public:
  static constexpr std::size_t stretches = 4'096;

  /// For positions up to `last`.
  explicit IndexSums(GlobalPosition last) : events_(last.value / stretches + 1) {
    for (auto& family : sums_) family.resize(stretches);
  }

  void add(const IndexEntry& entry) { sum_of(entry.family, stretch_of(entry)) += entry.hash(); }
  void subtract(const IndexEntry& entry) { sum_of(entry.family, stretch_of(entry)) -= entry.hash(); }

  [[nodiscard]] bool balanced(Family family, std::size_t stretch) const {
    return sums_[static_cast<std::size_t>(family)][stretch] == 0;
  }
  [[nodiscard]] std::uint64_t stretch_events() const { return events_; }
  /// The first position of a stretch; 0 stands in none.
  [[nodiscard]] GlobalPosition first_of(std::size_t stretch) const { return GlobalPosition{stretch * events_}; }

 private:
  /// A directory's row knows no position: all of it is one stretch.
  [[nodiscard]] std::size_t stretch_of(const IndexEntry& entry) const {
    return entry.family == Family::directory ? 0 : static_cast<std::size_t>(entry.position.value / events_);
  }
  std::uint64_t& sum_of(Family family, std::size_t stretch) { return sums_[static_cast<std::size_t>(family)][stretch]; }

  std::uint64_t events_;
  std::array<std::vector<std::uint64_t>, family_count> sums_;
};

}  // namespace evershard::storage
