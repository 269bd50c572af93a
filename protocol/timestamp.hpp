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
  /// 0001-01-01T00:00:00.000000Z to 9999-12-31T23:59:59.999999Z: what has a text form, and what the store accepts.
  static constexpr Timestamp first() { return {-62'135'596'800'000'000}; }
  static constexpr Timestamp last() { return {253'402'300'799'999'999}; }

  /// RFC 3339, with 0 to 9 fractional digits (those after the sixth are cut off) and `Z` or an offset; proleptic
  /// Gregorian, no leap seconds. Returns: nothing, where the text is anything else or not in [first(), last()].
  static std::optional<Timestamp> parse(std::string_view text);
  /// Always six fractional digits and `Z`. Outside [first(), last()] the bare number, as `-62135596800000001us`.
  [[nodiscard]] std::string text() const;

  friend auto operator<=>(Timestamp, Timestamp) = default;
};

}  // namespace evershard
