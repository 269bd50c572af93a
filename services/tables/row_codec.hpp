// RowLayout and RowView: a row's bytes, and single fields read out of them without decoding the rest.

#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/protocol/table_schema.hpp"

namespace evershard::actors {

inline constexpr std::uint8_t row_format = 1;

/// Where each field of a schema lies: format (1), number of fields (1), a bit a field that is null, a slot of fixed
/// size a field, the bytes of all strings. A string's slot says where it ends; it begins where the one before it ends.
/// Source: docs/internals/projections.md, "A table's bytes".
class RowLayout {
 public:
  explicit RowLayout(const TableSchema& schema);

  /// Shape:  a value a field, of its type or null; all of them were checked.
  [[nodiscard]] std::string encode(std::span<const TableValue> row) const;
  /// Errors: corruption
  [[nodiscard]] Result<std::vector<TableValue>> decode(std::string_view bytes) const;
  /// Whether the bytes have this layout: what a RowView may look into. Errors: corruption
  [[nodiscard]] Result<void> check(std::string_view bytes) const {
    if (fits(bytes)) [[likely]]
      return {};
    return refuse(ErrorCode::corruption, "a row of table \"" + table_ + "\" is damaged");
  }
  [[nodiscard]] bool fits(std::string_view bytes) const;

  [[nodiscard]] std::size_t fields() const { return types_.size(); }
  [[nodiscard]] FieldType type(std::size_t field) const { return types_[field]; }

 private:
  friend class RowView;
  static constexpr std::size_t first = static_cast<std::size_t>(-1);

  std::string table_;
  std::vector<FieldType> types_;
  std::vector<std::uint32_t> slots_;        ///< a field's slot
  std::vector<std::size_t> string_before_;  ///< of a string: the slot of the string before it, or `first`
  std::vector<std::uint32_t> string_slots_;
  std::uint32_t heap_ = 0;  ///< where the strings begin
};

/// A row's bytes that fit its layout. Lives no longer than they do.
class RowView {
 public:
  RowView(const RowLayout& layout, std::string_view bytes) : layout_(&layout), bytes_(bytes) {}

  [[nodiscard]] bool is_null(std::size_t field) const {
    return (static_cast<unsigned char>(bytes_[2 + field / 8]) >> (field % 8) & 1) != 0;
  }
  // Of a field of that type; of one that is null: 0, or empty.
  [[nodiscard]] bool boolean(std::size_t field) const { return bytes_[layout_->slots_[field]] != 0; }
  [[nodiscard]] std::int64_t integer(std::size_t field) const {
    return fixed<std::int64_t>(layout_->slots_[field]);
  }  ///< also a time's microseconds
  [[nodiscard]] double number(std::size_t field) const { return fixed<double>(layout_->slots_[field]); }
  [[nodiscard]] std::string_view string(std::size_t field) const {
    const std::size_t before = layout_->string_before_[field];
    const std::uint32_t begin = before == RowLayout::first ? 0 : fixed<std::uint32_t>(before);
    return bytes_.substr(layout_->heap_ + begin, fixed<std::uint32_t>(layout_->slots_[field]) - begin);
  }
  [[nodiscard]] TableValue value(std::size_t field) const;

 private:
  template <class T>
  [[nodiscard]] T fixed(std::size_t at) const {
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }

  const RowLayout* layout_;
  std::string_view bytes_;
};

}  // namespace evershard::actors
