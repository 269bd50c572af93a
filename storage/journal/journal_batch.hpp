// JournalBatch: what one commit of a node makes durable before anybody knows its place in the order.

#pragma once

#include <vector>

#include "evershard/storage/journal/journal_append.hpp"
#include "evershard/storage/journal/shipped_rows.hpp"

namespace evershard::storage {

/// Shape: a shard's offsets ascend from append to append. Snapshots of aggregates of a place's shard come with its
/// append.
struct JournalBatch {
  std::vector<JournalAppend> appends;
  /// Of shards that other nodes write: taken as they are. Borrowed. Shape: each joins on to what is there; a shard is
  /// in one of the two.
  std::vector<const ReadRows*> shipped{};
};

}  // namespace evershard::storage
