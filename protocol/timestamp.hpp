// Timestamp: UTC in microseconds.

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace evershard {

/// Units: microseconds since 1970-01-01T00:00:00Z; negative before. Text: 2026-01-31T12:00:00.000000Z.
struct Timestamp {
  std::int64_t micros = 0;

  static Timestamp now();
  /// RFC 3339, with 0 to 9 fractional digits (further ones are cut off) and `Z` or an offset.
  static std::optional<Timestamp> parse(std::string_view text);
  [[nodiscard]] std::string text() const;

  friend auto operator<=>(Timestamp, Timestamp) = default;
};

}  // namespace evershard
