// TableValue: what a field of a table holds.

#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "evershard/protocol/timestamp.hpp"

namespace evershard {

/// What a field's values are. Part of the format: numbers stay.
enum class FieldType : std::uint8_t {
  text = 1,     ///< UTF-8
  integer = 2,  ///< 64 bits, signed
  number = 3,   ///< a double, finite; -0 is 0
  boolean = 4,
  time = 5,  ///< UTC in microseconds
  bytes = 6,
  json = 7,  ///< any JSON, its text kept byte for byte
};
inline constexpr std::uint8_t field_types_end = 8;

/// `text`, `integer` etc., as in documents and JSON.
[[nodiscard]] std::string_view name_of(FieldType type);
[[nodiscard]] std::optional<FieldType> field_type_of(std::string_view name);
/// Whether its values have an order that keys and indexes can keep: all but JSON.
[[nodiscard]] constexpr bool is_ordered(FieldType type) { return type != FieldType::json; }
/// Whether its values are strings in memory.
[[nodiscard]] constexpr bool is_string(FieldType type) {
  return type == FieldType::text || type == FieldType::bytes || type == FieldType::json;
}

/// Null, or a value; text, bytes and JSON are all strings: the field says which.
class TableValue {
 public:
  using Variant = std::variant<std::monostate, bool, std::int64_t, double, Timestamp, std::string>;

  TableValue() = default;
  // Out of line: gcc 12, which would inline them, warns of what is not there.
  TableValue(const TableValue&);
  TableValue(TableValue&&) noexcept;
  TableValue& operator=(const TableValue&);
  TableValue& operator=(TableValue&&) noexcept;
  ~TableValue();

  TableValue(std::nullptr_t) {}
  template <std::same_as<bool> T>
  TableValue(T value) : value_(value) {}
  /// Beyond 64 signed bits it becomes a double, which no integer field takes.
  template <std::integral T>
  requires(!std::same_as<T, bool>) TableValue(T value)
      : value_(std::cmp_greater(value, std::numeric_limits<std::int64_t>::max())
                   ? Variant(static_cast<double>(value))
                   : Variant(static_cast<std::int64_t>(value))) {}
  TableValue(double value) : value_(value) {}
  TableValue(Timestamp value) : value_(value) {}
  TableValue(std::string value) : value_(std::move(value)) {}
  TableValue(std::string_view value) : value_(std::string(value)) {}
  TableValue(const char* value) : value_(std::string(value)) {}

  [[nodiscard]] bool is_null() const { return value_.index() == 0; }
  [[nodiscard]] const Variant& variant() const { return value_; }
  /// Null where it is of another kind.
  template <class T>
  [[nodiscard]] const T* as() const {
    return std::get_if<T>(&value_);
  }
  /// `"text"`, `17`, `null`: for errors, cut.
  [[nodiscard]] std::string text() const;

  friend bool operator==(const TableValue&, const TableValue&) = default;

 private:
  Variant value_;
};

}  // namespace evershard
