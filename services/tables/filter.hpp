// Filter: a filter expression bound to a table's fields; decides on a row's bytes.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/table_schema.hpp"
#include "evershard/services/tables/filter_tree.hpp"
#include "evershard/services/tables/row_codec.hpp"

namespace evershard::actors {

/// Three-valued: what compares with null is unknown, and so is what depends on it. Order matters: AND is the least, OR
/// the most.
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

  /// Errors: invalid_argument: a field that is not there, a value that its type is not compared with, a parameter that
  ///         is not given or not used, a bad pattern; too_large
  [[nodiscard]] static Result<Filter> bind(const FilterNode& tree, const TableSchema& schema,
                                           const std::map<std::string, TableValue>& parameters);

  /// Spends of the thread's storage::ReadWork.
  /// Errors: too_large: a text that is too long for a pattern of its size, with the row's key; those of storage::spend
  [[nodiscard]] Result<Truth> evaluate(const RowView& row) const;
  /// Whether a row is found: what is unknown is not. Errors: as evaluate()
  [[nodiscard]] Result<bool> finds(const RowView& row) const;
  [[nodiscard]] std::vector<Needed> needed() const;

  struct Term;

 private:
  explicit Filter(std::unique_ptr<Term> root);
  std::unique_ptr<Term> root_;
};

/// A regular expression takes time in proportion to the text times its own size, and never recurses (RE2). Its size is
/// the number of its steps, with what is repeated `{n}` times counted n times and a class of characters counted by its
/// ranges below U+0100.
inline constexpr std::size_t pattern_bytes_max = 1'024;
inline constexpr std::size_t pattern_size_max = 1'000;
/// Bytes of a text times the size of the pattern. RE2 can't be interrupted. Most patterns take a nanosecond a byte,
/// whatever their size; the worst take all the steps, and so at most some ten seconds of a place of the long reads.
inline constexpr std::size_t match_steps_max = 800'000'000;

}  // namespace evershard::actors
