// JournalSum: what a range of a shard's journal holds, as a number: the same on every disk that has the same, however
// its records lie.

#pragma once

#include <cstdint>
#include <optional>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/storage/journal/row_log.hpp"
#include "evershard/storage/journal/rows.hpp"

namespace evershard::storage {

struct JournalSum {
  ShardOffset until{1};   ///< behind the last event that the sum has
  std::uint64_t sum = 0;  ///< of each event all that is stored, stubs as stubs
  RowLogEnds rows{};      ///< what of the shard's row log was there before and behind
  /// Of no event then: snapshots_sum().
  std::optional<std::uint64_t> snapshots{};
  friend bool operator==(const JournalSum&, const JournalSum&) = default;
};

/// Of the events in [from, until), at most about so many of them, as far as cuts that are applied here cover them.
/// Errors: corruption: a record is damaged, or missing; io
[[nodiscard]] Result<JournalSum> journal_sum(const Rows& rows, ShardId shard, ShardOffset from, ShardOffset until,
                                             std::uint64_t events_max);

/// Of each aggregate that the shard's row log names for its latest snapshot, what it is of and holds; not
/// when it was taken, which is another time on each disk. Errors: corruption: an entry is damaged; io
[[nodiscard]] Result<JournalSum> snapshots_sum(const Rows& rows, ShardId shard);

}  // namespace evershard::storage
