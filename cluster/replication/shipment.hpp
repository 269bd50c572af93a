// What the writer of a shard and its followers tell each other. Any of it may be lost or late; nothing is taken twice.
//
// Source: docs/internals/replication.md.

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/storage/journal/row_log.hpp"
#include "evershard/storage/journal/shipped_rows.hpp"

namespace evershard::cluster {

/// A range of a shard's journal, of the writer that this epoch was opened for.
struct ShippedShard {
  Epoch epoch;
  storage::ShippedRows rows;
};

/// A writer to a follower.
struct Ship {
  std::vector<ShippedShard> shards;
};

/// A follower's shard, as its disk has it.
struct FollowedShard {
  ShardId shard;
  Epoch epoch;                 ///< that it follows
  ShardOffset tail{1};         ///< synced up to here
  storage::RowLogEnds rows{};  ///< what it has of its row log, synced
  bool rows_whole = true;      ///< its row log was whole at some time, or nothing is said of that
  /// Which bases it has of snapshots in two rows: it is sent what differs from them. Absent: it takes them in one row.
  std::optional<std::set<std::uint64_t>> bases{};
  friend bool operator==(const FollowedShard&, const FollowedShard&) = default;
};

/// A follower to the writer of these shards.
struct FollowerTold {
  std::vector<FollowedShard> shards;
  bool again = false;         ///< what was sent behind these tails has not come, and will not: it goes on from them
  std::uint64_t process = 0;  ///< NodeProcess::incarnation of who says it; 0: of an earlier release
};

/// A shard's new writer to another replica.
struct RowLogAsked {
  ShardId shard{};
  storage::RowLogAt after{};
  friend bool operator==(const RowLogAsked&, const RowLogAsked&) = default;
};

/// A replica to another: what its journal has in [from, until), as a number.
struct JournalSumAsked {
  ShardId shard{};
  ShardOffset from{1};
  ShardOffset until{1};
  bool snapshots = false;  ///< of the latest snapshots, and of no event
  friend bool operator==(const JournalSumAsked&, const JournalSumAsked&) = default;
};

/// Who is to keep a shard, to one that does: what its journal has from there on.
struct JournalAsked {
  ShardId shard{};
  ShardOffset from{1};
  friend bool operator==(const JournalAsked&, const JournalAsked&) = default;
};

/// A part of a shard's row log, as its rows lie on a disk.
struct RowLogPart {
  ShardId shard{};
  Epoch epoch{};              ///< of the writer that ships it; zero: another replica was asked for it
  storage::RowLogAt after{};  ///< what it joins on to, of the same epoch
  std::vector<std::string> rows{};
  struct LatestSnapshot {
    AggregateId aggregate{};
    std::string row{};         ///< as it lies on a disk, in one row; empty: in two
    std::string base{};        ///< of one in two rows: as of its writer's disk; empty: who takes it has that
    std::string difference{};  ///< of one in two rows: the row in slot 0
    friend bool operator==(const LatestSnapshot&, const LatestSnapshot&) = default;
  };
  std::vector<LatestSnapshot> snapshots{};  ///< that those entries need, as they are now; absent: it is gone since
  bool more = false;
  bool whole = false;  ///< with it, who takes it has all that its writer has
  friend bool operator==(const RowLogPart&, const RowLogPart&) = default;
};

}  // namespace evershard::cluster
