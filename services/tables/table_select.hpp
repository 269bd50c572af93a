// Selecting rows of a table: prepared once, read page by page.

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "evershard/protocol/table_read.hpp"
#include "evershard/services/rows/projection_store.hpp"
#include "evershard/services/tables/filter.hpp"
#include "evershard/services/tables/row_codec.hpp"
#include "evershard/services/tables/table_plan.hpp"

namespace evershard::actors {

/// A table as it is read: made once, used by any number of selects, from any thread.
struct TableShape {
  explicit TableShape(TableSchema of, std::uint64_t made_by = 0)
      : schema(std::move(of)), layout(schema), version(made_by) {}
  TableSchema schema;
  RowLayout layout;
  std::uint64_t version;  ///< of its definition: a page does not go on in another one
};

/// One select, checked and planned. Owner: the shape outlives it.
class PreparedSelect {
 public:
  /// Errors: invalid_argument (names, types, the filter with its byte, a `continue_from` of another select), too_large
  [[nodiscard]] static Result<PreparedSelect> make(const TableShape& table, const TableSelect& select);

  [[nodiscard]] const TablePlan& plan() const { return path_.plan; }

  /// Spends of the thread's storage::ReadWork. The page's position is the view's.
  /// Errors: corruption, io; too_large: of Filter::evaluate; those of storage::spend
  [[nodiscard]] Result<TablePage> page(const storage::ProjectionView& rows) const;

 private:
  explicit PreparedSelect(const TableShape& table) : table_(&table) {}
  class Reading;
  friend class PartedSelect;
  /// What a page that ends with the row at `place`, on the path or in the order, continues from.
  [[nodiscard]] std::string token_behind(std::string_view place) const;

  const TableShape* table_;
  std::optional<Filter> filter_;
  std::vector<std::size_t> fields_;
  std::vector<std::pair<std::size_t, bool>> order_;  ///< field, descending
  TablePath path_;
  std::uint64_t limit_ = 0;
  std::uint64_t mark_ = 0;            ///< a hash of what a page goes on with
  std::optional<std::string> after_;  ///< the last key, or sort key, of the page before
};

}  // namespace evershard::actors
