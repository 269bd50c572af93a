// RowTable: rows in memory by key. The places lie beside each other with a part of the hash, so that looking up a row
// touches little memory: with a hundred thousand rows, that is what gathering changes costs.

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace evershard::actors {

struct HeldRow {
  std::string key{};
  std::optional<std::string> value{};  ///< absent: there is none
  bool changed = false;                ///< else as it is in the store
  bool stored = true;                  ///< it may be in the store
};

/// One thread. A pointer to a row holds until the next row is put or erased, or all are cleared.
class RowTable {
 public:
  [[nodiscard]] HeldRow* find(std::string_view key);
  /// The row of that key, made where there was none. Returns: whether it was made
  std::pair<HeldRow*, bool> put(std::string key);
  void erase(std::string_view key);
  /// Every row, in no order.
  [[nodiscard]] std::span<HeldRow> all() { return rows_; }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  /// For how many rows it has memory.
  [[nodiscard]] std::size_t capacity() const { return rows_.capacity(); }
  /// The memory of a few rows is kept for the next ones.
  void clear();

 private:
  struct Place {
    std::uint32_t hash = 0;
    std::uint32_t row = none;
  };
  static constexpr std::uint32_t none = UINT32_MAX;

  [[nodiscard]] static std::uint32_t hash_of(std::string_view key) {
    const std::uint64_t hash = std::hash<std::string_view>()(key);
    return static_cast<std::uint32_t>(hash >> 32 ^ hash);
  }
  [[nodiscard]] std::size_t place_of(std::string_view key, std::uint32_t hash) const;
  void grow();

  std::vector<Place> places_;  ///< a power of two, at most half of them taken; each row at its hash's place or in the
                               ///< unbroken line behind it
  std::vector<HeldRow> rows_;
};

}  // namespace evershard::actors
