// TableSchema: a table's name and fields.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/protocol/table_value.hpp"

namespace evershard {

/// Part of the format: numbers stay.
enum class FieldRole : std::uint8_t {
  normal = 0,
  key = 1,     ///< the row's identity; of several, all together, in the schema's order
  index = 2,   ///< rows are found by its value, and by ranges of it
  unique = 3,  ///< the same, and no two rows have the same value; null is no value
};
[[nodiscard]] std::string_view name_of(FieldRole role);
[[nodiscard]] std::optional<FieldRole> field_role_of(std::string_view name);

struct TableField {
  std::string name;
  FieldType type = FieldType::text;
  FieldRole role = FieldRole::normal;
  bool nullable = false;

  friend bool operator==(const TableField&, const TableField&) = default;
};

inline constexpr std::size_t table_fields_max = 64;
inline constexpr std::size_t table_name_bytes_max = 128;
inline constexpr std::size_t field_name_bytes_max = 64;
/// Of one value in a key, an index or a unique entry.
inline constexpr std::size_t table_key_bytes_max = 1'024;
/// Of one row, encoded.
inline constexpr std::size_t table_row_bytes_max = 8u << 20;

struct TableSchema {
  std::string name;
  std::vector<TableField> fields;

  /// A field's number; nothing: there is none of that name.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view field) const;
  /// The same; errors: invalid_argument with the fields there are
  [[nodiscard]] Result<std::size_t> at(std::string_view field) const;
  /// The numbers of the key's fields, in order.
  [[nodiscard]] std::vector<std::size_t> key() const;
  /// 1 to 64 fields, names once each, at least one of them key; no key is nullable; JSON is neither key nor index nor
  /// unique. Errors: invalid_argument, too_large
  [[nodiscard]] Result<void> check() const;

  friend bool operator==(const TableSchema&, const TableSchema&) = default;
};

/// The words of filter expressions, in lower case: no field can be called so, in whatever case.
[[nodiscard]] std::span<const std::string_view> reserved_field_names();

}  // namespace evershard
