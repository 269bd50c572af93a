// AppendReader: the appends that a shard's events in the journal are of, made again from what they say.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/index/tail_index.hpp"
#include "evershard/storage/journal/journal_append.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/journal/waiting_row.hpp"

namespace evershard::storage {

/// Shape: events in sequence, from an append's first one on. Before `settled` each event is an append of its own: what
///        it says of itself there can be a part of one.
class AppendReader {
 public:
  /// Appends are added to `appends`.
  AppendReader(ShardId shard, const sharding::TermHasher& hasher, ShardOffset settled,
               std::vector<UnorderedAppend>& appends)
      : shard_(shard), hasher_(hasher), settled_(settled), appends_(appends) {}

  /// Whether the next event begins an append.
  [[nodiscard]] bool begins() const { return left_ == 0; }
  /// `waiting`: the row of the append that this event begins; nullptr: it has none. Errors: corruption
  Result<void> take(const EventView& event, ShardOffset offset, const WaitingRow* waiting);
  /// Behind the last event. Errors: corruption: the append at hand is not whole
  [[nodiscard]] Result<void> finish(ShardOffset end) const;

 private:
  Result<void> begin(const EventView& event, ShardOffset offset, const WaitingRow* waiting);
  std::uint32_t aggregate(EncodedAppend& append, const EventView& event) const;

  const ShardId shard_;
  const sharding::TermHasher& hasher_;
  const ShardOffset settled_;
  std::vector<UnorderedAppend>& appends_;
  std::uint32_t left_ = 0;  ///< events of the append at hand
};

/// An event's entries, without its position. Borrows from `of`.
TailEvent tail_event(const UnorderedAppend& of, std::size_t event, const EventLocation& location);

}  // namespace evershard::storage
