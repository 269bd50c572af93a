// Bytes as hexadecimal digits, and back: ids, errors, `evershard inspect`.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace evershard {

inline constexpr char hex_digits[] = "0123456789abcdef";

/// Of either case; -1: it is none.
[[nodiscard]] constexpr int value_of_hex(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

/// `00ff1a`; what is longer than `bytes_max` is cut with `...`.
[[nodiscard]] std::string hex(std::string_view bytes, std::size_t bytes_max = std::string_view::npos);

/// Absent: it is not pairs of digits.
[[nodiscard]] std::optional<std::string> bytes_of_hex(std::string_view text);

}  // namespace evershard
