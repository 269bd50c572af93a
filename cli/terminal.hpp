// Terminal: who looks at the output: a person, how wide, with colours or not.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace evershard::cli {

enum class Format : std::uint8_t { table, json, jsonl };
[[nodiscard]] std::optional<Format> format_of(std::string_view name);

struct Terminal {
  bool output = false;    ///< standard output is one
  bool error = false;     ///< standard error is one
  bool colours = false;   ///< on standard output; NO_COLOR is honoured
  std::size_t width = 0;  ///< columns; 0: no bound

  /// Closed standard descriptors are opened on /dev/null first: a file of the store must never become number 1.
  static Terminal look();
};

/// In columns, one a character. What could steer a terminal is shown as `?`; what is longer ends with an ellipsis.
[[nodiscard]] std::string fitted(std::string_view text, std::size_t columns);
[[nodiscard]] std::size_t columns_of(std::string_view text);
/// 1234567 as 1,234,567.
[[nodiscard]] std::string grouped(std::uint64_t number);

}  // namespace evershard::cli
