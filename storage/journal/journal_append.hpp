// JournalAppend: an append as a node of a cluster journals it: durable first, its place in the order comes later, by a
// cut.

#pragma once

#include <optional>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/sharding/cut_builder.hpp"
#include "evershard/sharding/reports.hpp"
#include "evershard/storage/journal/encoded_append.hpp"

namespace evershard::storage {

/// Where the events of one shard of an append stand in that shard, and what their place in the order depends on.
struct JournalPlace {
  ShardId shard;
  ShardOffset first;           ///< of consecutive ones
  std::vector<SeqNr> seq_nrs;  ///< of the append's events of this shard, in its order; 0: without an aggregate
  /// Undecided until a cut: nothing of it may be found by key, neither its ids, its snapshots nor its command.
  bool tentative = false;
  std::vector<sharding::TermCondition> conditions;
  std::optional<sharding::PartOf> part;  ///< of an append over several shards; tentative

  [[nodiscard]] std::uint32_t events() const { return static_cast<std::uint32_t>(seq_nrs.size()); }
  [[nodiscard]] ShardOffset end() const { return first + seq_nrs.size(); }
};

/// To be journalled. Borrowed: both outlive the write. Only the append's events of the place's shard are written.
struct JournalAppend {
  const EncodedAppend* append = nullptr;
  const JournalPlace* place = nullptr;
};

/// What a store finds at opening, durable and covered by no cut it has applied.
///
/// Shape: of `append`: its request, events (those of the place's shard at least: ids, aggregate, terms), aggregates,
///        terms, command; no bodies.
struct UnorderedAppend {
  EncodedAppend append;
  JournalPlace place;
};

}  // namespace evershard::storage
