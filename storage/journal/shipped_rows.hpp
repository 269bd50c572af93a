// ShippedRows: a range of one shard's journal as it lies on its writer's disk, for the disks of its followers.
//
// Source: docs/internals/replication.md.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/journal/journal_append.hpp"
#include "evershard/storage/journal/location.hpp"
#include "evershard/storage/journal/waiting_row.hpp"

namespace evershard::storage {

/// Shape: `records` join on from `first` to `end`, each under its first offset; `waiting` ascends and lies in
///        [settled, end). Before `settled` cuts have decided everything, on the disk that it was read from: rows of
///        appends that waited are gone there, and an append may be there in part.
struct ShippedRows {
  struct Row {
    ShardOffset first;
    std::string bytes;
    friend bool operator==(const Row&, const Row&) = default;
  };
  ShardId shard;
  ShardOffset first{1};
  ShardOffset end{1};
  ShardOffset settled{1};
  std::vector<Row> records;
  std::vector<Row> waiting;

  [[nodiscard]] std::size_t bytes() const {
    std::size_t all = 0;
    for (const auto* rows : {&records, &waiting})
      for (const auto& row : *rows) all += row.bytes.size();
    return all;
  }
  friend bool operator==(const ShippedRows&, const ShippedRows&) = default;
};

/// Shipped rows that were checked and decoded: every checksum holds.
struct ReadRows {
  ShippedRows rows;
  /// As a store finds them at opening. Before `settled` each event counts as an append of its own.
  std::vector<UnorderedAppend> appends;
  std::vector<EventLocation> locations;  ///< of their events, in sequence
  std::vector<WaitingRow> waiting;       ///< as in rows.waiting
};

/// Errors: corruption: damaged, or not of the shape that it must have
[[nodiscard]] Result<ReadRows> read_rows(ShippedRows rows, const sharding::TermHasher& hasher);

}  // namespace evershard::storage
