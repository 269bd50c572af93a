// JournalSum: what a range of a shard's journal holds, as a number: the same on every disk that has the same, however
// its records lie.

#pragma once

#include <cstdint>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/row_log.hpp"
#include "evershard/storage/journal/rows.hpp"

namespace evershard::storage {

struct JournalSum {
  ShardOffset until{1};   ///< behind the last event that it is of
  std::uint64_t sum = 0;  ///< of each event all that is stored, stubs as stubs
  RowLogEnds rows{};      ///< what of the shard's row log was there before and behind
  friend bool operator==(const JournalSum&, const JournalSum&) = default;
};

/// Of the events in [from, until), at most about so many of them, as far as cuts that are applied here cover them.
/// Errors: corruption: a record is damaged, or missing; io
[[nodiscard]] Result<JournalSum> journal_sum(const Rows& rows, ShardId shard, ShardOffset from, ShardOffset until,
                                             std::uint64_t events_max);

}  // namespace evershard::storage
