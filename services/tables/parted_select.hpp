// PartedSelect: one select over a table in parts: what each part is asked, and their pages as one.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evershard/services/tables/table_select.hpp"

namespace evershard::actors {

/// What comes out is what the same select finds in a table in one part: rows in the same order, and pages that go on
/// from the last row that was shown, in whatever part. So a page's `next` says nothing of parts. Owner: the shape
/// outlives it.
class PartedSelect {
 public:
  /// Errors: those of PreparedSelect::make
  [[nodiscard]] static Result<PartedSelect> make(const TableShape& table, const TableSelect& select,
                                                 std::uint32_t parts);

  [[nodiscard]] const TablePlan& plan() const { return whole_.path_.plan; }
  /// The select names the whole key: only this part can have the row, and is asked the select itself. Nothing: all are
  /// asked for_part().
  [[nodiscard]] std::optional<std::uint32_t> only() const { return only_; }
  /// The same filter, order, limit and place, and what their rows are put in order by.
  [[nodiscard]] const TableSelect& for_part() const { return for_part_; }
  /// Shape: a page of for_part() from each part. Its position is the least of theirs. Errors: unavailable: a page is
  /// not of what was asked
  [[nodiscard]] Result<TablePage> merge(std::vector<TablePage> pages) const;

 private:
  explicit PartedSelect(PreparedSelect whole) : whole_(std::move(whole)) {}
  [[nodiscard]] std::string place_of(const std::vector<TableValue>& row) const;
  [[nodiscard]] const TableValue& value(const std::vector<TableValue>& row, std::size_t field) const {
    return row[column_[field]];
  }

  PreparedSelect whole_;
  std::optional<std::uint32_t> only_;
  TableSelect for_part_;
  std::vector<std::size_t> column_;  ///< of a field, in a part's rows
};

}  // namespace evershard::actors
