// Which rows a select walks over, and in which order.

#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evershard/protocol/table_read.hpp"
#include "evershard/protocol/table_schema.hpp"
#include "evershard/services/rows/projection_store.hpp"
#include "evershard/services/tables/filter.hpp"

namespace evershard::actors {

/// A range of keys of rows, or of entries that name rows; one direction.
struct TablePath {
  TablePlan plan;
  storage::RowRange range{};
  std::size_t field = 0;    ///< of unique, index and index_range
  bool by_entries = false;  ///< the range is of an index or unique field: rows are looked up
};

/// The whole key, else a unique value, an index value, a range of an index or unique field, a range of the key's first
/// field, all rows; what is found is compared with the whole filter anyway. Rows come sorted where the path has that
/// order, and an index is walked for its order alone where there is no filter.
[[nodiscard]] TablePath plan_select(const TableSchema& schema, const Filter* filter,
                                    const std::vector<std::pair<std::size_t, bool>>& order);

}  // namespace evershard::actors
