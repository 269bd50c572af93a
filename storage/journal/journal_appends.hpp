// JournalAppends: appends put together again from a shard's records.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/index/tail_index.hpp"
#include "evershard/storage/journal/journal_append.hpp"
#include "evershard/storage/journal/records.hpp"
#include "evershard/storage/journal/waiting_row.hpp"

namespace evershard::storage {

/// Fed with the events of one shard, in order of offset.
class JournalAppends {
 public:
  /// `waiting`: the row of the append that begins at this offset, if there is one.
  JournalAppends(ShardId shard, const sharding::TermHasher& hasher,
                 std::function<const WaitingRow*(ShardOffset)> waiting, std::vector<UnorderedAppend>& appends)
      : shard_(shard), hasher_(hasher), waiting_(std::move(waiting)), appends_(appends) {}

  /// `settled`: a cut has decided it: it counts as an append of its own. Errors: corruption
  [[nodiscard]] Result<void> take(const EventView& event, ShardOffset offset, bool settled);
  /// Events that are missing of the last append.
  [[nodiscard]] std::uint32_t left() const { return left_; }

 private:
  [[nodiscard]] Result<void> begin(const EventView& event, ShardOffset offset, bool settled);
  [[nodiscard]] std::uint32_t aggregate(EncodedAppend& append, const EventView& event) const;

  const ShardId shard_;
  const sharding::TermHasher& hasher_;
  const std::function<const WaitingRow*(ShardOffset)> waiting_;
  std::vector<UnorderedAppend>& appends_;
  std::uint32_t left_ = 0;
};

/// What the tail is told of an event. Borrows the append.
[[nodiscard]] TailEvent entry_of(const UnorderedAppend& append, std::size_t event, const EventLocation& location);

}  // namespace evershard::storage
