// OrderLookup: from a position to the shard and offset that a cut gave it to, and to the record there.

#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "evershard/protocol/read.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/sharding/runs.hpp"
#include "evershard/storage/index/found_event.hpp"
#include "evershard/storage/journal/rows.hpp"

namespace evershard::storage {

/// Walks the order's runs. One thread.
class OrderLookup {
 public:
  /// `of`: a node's, where positions may lie elsewhere.
  OrderLookup(const Rows& rows, Direction direction, sharding::CutOf of = sharding::CutOf::store)
      : rows_(rows), direction_(direction), of_(of) {}
  /// The run that a position lies in. Shape: at or below the watermark. Cost: nothing or a step where it lies in the
  /// same cut or the next one, else a search. One of another node's shard has no offset: Run::is_elsewhere().
  /// Errors: corruption: no cut has it
  Result<sharding::Run> run_of(GlobalPosition position);

 private:
  bool find_in_cut(GlobalPosition position);
  Result<void> read_cut();

  const Rows& rows_;
  Direction direction_;
  sharding::CutOf of_;
  std::unique_ptr<RowCursor> cursor_;
  std::vector<sharding::Run> runs_;  // of the cut under the cursor
  std::size_t at_ = 0;
};

/// One position's event, by the truth alone: order and journal. Errors: wrong_shard: another node has it; corruption,
/// io
Result<FoundEvent> locate(const Rows& rows, GlobalPosition position, sharding::CutOf of);

}  // namespace evershard::storage
