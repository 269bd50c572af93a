// Reading a table: what is asked of it, and a page of its rows.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/table_value.hpp"

namespace evershard {

struct TableOrder {
  std::string field;
  bool descending = false;

  friend bool operator==(const TableOrder&, const TableOrder&) = default;
};

inline constexpr std::uint64_t table_page_rows_default = 1'000;
inline constexpr std::uint64_t table_page_rows_max = 10'000;

/// Which rows, of them which fields, in which order.
struct TableSelect {
  std::string where{};  ///< a filter expression (docs/tables.md, "Filters"); empty: every row
  std::map<std::string, TableValue> parameters{};  ///< `:name` by name, `?1` as "1"
  std::vector<std::string> fields{};               ///< empty: all, in the schema's order
  std::vector<TableOrder> order_by{};  ///< null before every value; equal rows by key, the way the last of these goes.
                                       ///< Empty: as the plan finds them
  std::optional<std::uint64_t>
      limit{};                  ///< of this page: at most 10,000, absent: 1,000; 0: none. A page may be shorter
  std::string continue_from{};  ///< a page's `next`, with the same select

  friend bool operator==(const TableSelect&, const TableSelect&) = default;
};

struct TablePage {
  std::vector<std::string> fields;
  std::vector<FieldType> types;               ///< one a field
  std::vector<std::vector<TableValue>> rows;  ///< a value a field
  std::string next;                           ///< what the next page continues from; empty: nothing follows
  GlobalPosition position;      ///< every event up to here has had its effect in these rows, none behind it
  std::uint64_t looked_at = 0;  ///< rows that were looked at to find them

  friend bool operator==(const TablePage&, const TablePage&) = default;
};

/// How a select finds its rows.
struct TablePlan {
  enum class Path : std::uint8_t { key, unique, index, index_range, key_range, scan };
  Path path = Path::scan;
  std::string field{};  ///< whose entries; of key: empty
  bool sorted = false;  ///< every match is looked at before the first row: the order is another than the path's
  bool backwards = false;
  bool filtered = true;  ///< what the path finds is looked at again; not where every row is wanted

  /// `index customer, filter`, `scan, filter, sort`, `scan`
  [[nodiscard]] std::string text() const;
  friend bool operator==(const TablePlan&, const TablePlan&) = default;
};

/// `key`, `unique`, `index`, `index_range`, `key_range`, `scan`
[[nodiscard]] std::string_view name_of(TablePlan::Path path);

}  // namespace evershard
