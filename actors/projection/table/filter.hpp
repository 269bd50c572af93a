// Filter: a filter expression bound to a table's fields; decides on a row's bytes.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/actors/projection/table/filter_tree.hpp"
#include "evershard/actors/projection/table/row_codec.hpp"
#include "evershard/protocol/table_schema.hpp"

namespace evershard::actors {

/// Three-valued: what compares with null is unknown, and so is what depends on it. Order matters: AND is the least, OR the most.
enum class Truth : std::uint8_t { no = 0, unknown = 1, yes = 2 };

class Filter {
 public:
  /// A comparison that the whole filter depends on: it holds for every row that is found. For the planner.
  struct Needed {
    std::size_t field = 0;
    CompareOp op{};    ///< never not_equal
    TableValue value;  ///< of the field's type, not null
  };

  Filter(Filter&&) noexcept;
  Filter& operator=(Filter&&) noexcept;
  ~Filter();

  /// Errors: invalid_argument: a field that is not there, a value that its type is not compared with, a parameter that is not given or not
  ///         used, a bad pattern; too_large
  [[nodiscard]] static Result<Filter> bind(const FilterNode& tree, const TableSchema& schema, const std::map<std::string, TableValue>& parameters);

  [[nodiscard]] Truth evaluate(const RowView& row) const;
  /// Whether a row is found: what is unknown is not.
  [[nodiscard]] bool finds(const RowView& row) const { return evaluate(row) == Truth::yes; }
  [[nodiscard]] std::vector<Needed> needed() const;

  struct Term;

 private:
  explicit Filter(std::unique_ptr<Term> root);
  std::unique_ptr<Term> root_;
};

/// A regular expression that takes time in proportion to the text and never recurses (RE2). Errors: invalid_argument, too_large
inline constexpr std::size_t pattern_bytes_max = 1'024;

}  // namespace evershard::actors
