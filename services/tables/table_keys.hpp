// The keys of a table's rows, and bytes that sort as values do.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/table_schema.hpp"

/// Source: docs/internals/projections.md, "A table's bytes"; frozen by tests/services/indexes/table_golden_test.cpp.
namespace evershard::actors::table_keys {

/// Every key begins with one of these.
enum class Part : char { row = 'r', index = 'i', unique = 'u', parked = 'p' };

/// Appends a value so that bytes sort as values do, and none is the beginning of another: numbers big-endian with their
/// sign turned, text and bytes with NUL escaped and an end mark. Shape: `value` is of `type` and not null.
void append_ordered(std::string& out, FieldType type, const TableValue& value);
/// The same with null before every value.
void append_ordered_or_null(std::string& out, FieldType type, const TableValue& value);
/// Takes one from the front. Errors: corruption
[[nodiscard]] Result<TableValue> take_ordered(std::string_view& from, FieldType type);
[[nodiscard]] Result<TableValue> take_ordered_or_null(std::string_view& from, FieldType type);

/// Appends bytes so that they sort the other way round.
void append_inverted(std::string& out, std::string_view bytes);

/// `key` is the row's key as append_ordered() makes it, one field after the other.
[[nodiscard]] std::string row(std::string_view key);
void append_row(std::string& out, std::string_view key);
/// Of the row with that key.
[[nodiscard]] std::string index(std::size_t field, FieldType type, const TableValue& value, std::string_view key);
/// Of all rows with this value, in order of key: then the row's key.
[[nodiscard]] std::string index_prefix(std::size_t field, FieldType type, const TableValue& value);
[[nodiscard]] std::string index_field_prefix(std::size_t field);
/// Names the row's key in its value.
[[nodiscard]] std::string unique(std::size_t field, FieldType type, const TableValue& value);
[[nodiscard]] std::string unique_field_prefix(std::size_t field);
[[nodiscard]] std::string parked(GlobalPosition position);
[[nodiscard]] inline std::string part_prefix(Part part) { return std::string(1, static_cast<char>(part)); }

/// Behind every key that begins with `prefix`; empty: there is no such key.
[[nodiscard]] std::string behind(std::string prefix);

/// A key of an index: where the row's key begins. Errors: corruption
[[nodiscard]] Result<std::string_view> row_of_index(std::string_view key, FieldType type);
[[nodiscard]] Result<GlobalPosition> position_of_parked(std::string_view key);

}  // namespace evershard::actors::table_keys
