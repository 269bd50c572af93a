// TableWriter: changes of rows, with their index and unique entries.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "evershard/services/tables/event_rows.hpp"
#include "evershard/services/tables/row_codec.hpp"
#include "evershard/services/tables/table_definition.hpp"
#include "evershard/services/tables/table_fault.hpp"

namespace evershard::actors {

/// A field's number and what it shall be.
using FieldValue = std::pair<std::size_t, TableValue>;

/// What is counted of a table, kept in its checkpoint.
struct TableCounts {
  std::uint64_t rows = 0;
  std::uint64_t events = 0;   ///< that had their effect
  std::uint64_t changes = 0;  ///< of rows
  std::uint64_t missed = 0;   ///< updates and deletes of rows that were not there
  std::uint64_t skipped = 0;  ///< events left out by policy
  std::uint64_t parked = 0;   ///< events parked now
  std::uint64_t erased = 0;   ///< rules that wanted the payload of an erased event

  friend bool operator==(const TableCounts&, const TableCounts&) = default;
};
[[nodiscard]] std::string encode(const TableCounts& counts);
/// Empty: nothing counted yet. Errors: corruption
[[nodiscard]] Result<TableCounts> decode_counts(const std::string& bytes);

/// A value as its field takes it: whole numbers for a field of numbers, -0 as 0.
/// Errors: value  of another type, no UTF-8, no JSON, no finite number, a time that has no text, too long for a key
[[nodiscard]] Faultable<void> fit(const TableField& field, TableValue& value);

/// One table's. What a change leads to goes into `rows`, whole or, with an error, in part: the event is to be discarded
/// then.
class TableWriter {
 public:
  explicit TableWriter(const TableSchema& schema);

  // The values that are handed over are made to fit, and used up.
  /// `key`: a value a key field, in the schema's order; `fields`: none of the key, each once.
  [[nodiscard]] Faultable<void> change(ChangeKind kind, std::span<TableValue> key, std::span<FieldValue> fields,
                                       EventRows& rows, TableCounts& counts) const;
  /// Nothing: there is no such row.
  [[nodiscard]] Faultable<std::optional<std::vector<TableValue>>> get(std::span<TableValue> key, EventRows& rows) const;

  [[nodiscard]] const TableSchema& schema() const { return schema_; }
  [[nodiscard]] const RowLayout& layout() const { return layout_; }
  [[nodiscard]] const std::vector<std::size_t>& key_fields() const { return key_fields_; }
  /// The key of the row itself: table_keys::row(). Errors: value
  [[nodiscard]] Faultable<std::string> row_key(std::span<TableValue> key) const;

 private:
  /// Returns: whether that changed the row.
  [[nodiscard]] Faultable<bool> set(std::vector<TableValue>& row, bool there, ChangeKind kind,
                                    std::span<FieldValue> fields) const;
  /// `by` becomes the sum.
  [[nodiscard]] Faultable<void> sum(std::size_t field, const TableValue& before, TableValue& by) const;
  [[nodiscard]] Faultable<void> move_entries(std::string_view key, const RowView* before,
                                             const std::vector<TableValue>* after, EventRows& rows) const;

  TableSchema schema_;
  RowLayout layout_;
  std::vector<std::size_t> key_fields_;
  std::vector<std::size_t> entry_fields_;  ///< index and unique
};

}  // namespace evershard::actors
