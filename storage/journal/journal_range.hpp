// Ranges of one shard's journal: read for followers, and taken off.

#pragma once

#include <cstddef>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/row_sink.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/journal/shipped_rows.hpp"

namespace evershard::storage {

/// See NodeStore::journal_from. Behind what is settled it ends with an append, however large that is. What an operator
/// gave up as lost is not there: the range ends before it. Any thread, beside commits.
Result<ShippedRows> journal_range(const Rows& rows, ShardId shard, ShardOffset from, std::size_t bytes_max);

/// What the journal has from `from` on, and the rows of appends that wait there, are erased. A record that begins
/// before keeps its first events.
///
/// `begins`: what is before it does not count (Covered::begins). Shape: everything staged before is written.
/// Errors: corruption, io
Result<void> take_off(const Rows& rows, ShardId shard, ShardOffset begins, ShardOffset from, RowSink& sink);

}  // namespace evershard::storage
