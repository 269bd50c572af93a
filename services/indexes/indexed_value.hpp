// Values of value indexes: what they are, how they are written, bytes that sort as they do.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"

namespace evershard::actors {

enum class ValueType : std::uint8_t {
  text,     ///< in byte order of UTF-8
  integer,  ///< 64 bits, signed
  number,   ///< a double; -0 is 0, there is no NaN
  boolean,  ///< false before true
  time,     ///< RFC 3339, microseconds
};
[[nodiscard]] std::string_view name_of(ValueType type);
[[nodiscard]] std::optional<ValueType> value_type_of(std::string_view name);

inline constexpr std::size_t indexed_text_bytes_max = 4'096;

/// The key of a value that is written as text: `42`, `-1.5`, `true`, `2026-01-31T12:00:00Z`, and of text the text
/// itself. Errors: invalid_argument: it is none of that type
[[nodiscard]] Result<std::string> value_key(ValueType type, std::string_view text);

std::string text_key(std::string_view text);
std::string integer_key(std::int64_t value);
/// Shape: not NaN.
std::string number_key(double value);
std::string boolean_key(bool value);

/// The value as JSON; how many bytes of `key` it took.
struct ValueRead {
  std::string json{};
  std::size_t bytes = 0;
};
/// Errors: corruption
[[nodiscard]] Result<ValueRead> read_value_key(ValueType type, std::string_view key);

}  // namespace evershard::actors
