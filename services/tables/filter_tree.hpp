// FilterTree: a filter expression as it was written, before it meets a table.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/protocol/table_value.hpp"

namespace evershard::actors {

inline constexpr std::size_t filter_bytes_max = 16u << 10;
inline constexpr std::size_t filter_depth_max = 64;     ///< parentheses and NOTs inside of each other
inline constexpr std::size_t filter_terms_max = 1'024;  ///< comparisons, and elements of lists

enum class CompareOp : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal };

/// What stands on the right of a comparison.
struct FilterOperand {
  enum class Kind : std::uint8_t { value, bytes, parameter, field };
  Kind kind = Kind::value;
  TableValue value{};  ///< of value: true, false, a number, a text; of bytes: a string
  std::string name{};  ///< of a parameter, of a field
  std::size_t at = 0;  ///< the byte it begins at

  friend bool operator==(const FilterOperand& a, const FilterOperand& b) {
    return a.kind == b.kind && a.value == b.value && a.name == b.name;
  }
};

struct FilterNode {
  enum class Kind : std::uint8_t {
    all_of,   ///< AND, of two or more
    any_of,   ///< OR, of two or more
    negated,  ///< NOT, of one
    compare,
    in,
    like,
    contains,
    matches,  ///< =~
    is_null,
    holds,  ///< a field that is boolean, alone
  };
  Kind kind{};
  std::vector<FilterNode> children{};
  std::string field{};
  std::size_t at = 0;  ///< the byte its field begins at
  CompareOp op{};
  std::vector<FilterOperand> operands{};

  /// The same but for where things stood.
  friend bool operator==(const FilterNode& a, const FilterNode& b) {
    return a.kind == b.kind && a.children == b.children && a.field == b.field && a.op == b.op &&
           a.operands == b.operands;
  }
};

/// `a = 1 AND NOT (b < 2 OR c IS NULL)`; OR binds less than AND, AND less than NOT, NOT less than a comparison.
/// Errors: invalid_argument with the byte and what was expected there, too_large
/// Source: docs/tables.md, "Filters"
[[nodiscard]] Result<FilterNode> parse_filter(std::string_view text);

/// What parse_filter() reads as the same tree; parentheses where they are needed.
[[nodiscard]] std::string text_of(const FilterNode& node);

}  // namespace evershard::actors
