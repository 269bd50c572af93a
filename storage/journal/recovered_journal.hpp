// RecoveredJournal: what a node's store holds behind the cuts, read back when it is opened.

#pragma once

#include <map>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/sharding/ordering.hpp"
#include "evershard/sharding/term_hash.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/journal/journal_batch.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/journal/unordered.hpp"
#include "evershard/storage/order/applied.hpp"
#include "evershard/storage/order/refused_rows.hpp"

namespace evershard::storage {

struct RecoveredJournal {
  std::vector<ShardOffset> ends;  ///< of each shard, the first offset its journal has not used
  Unordered unordered;
  std::vector<UnorderedAppend> appends;  ///< the same, for the writers: shard by shard, in order of offset
  std::map<ShardId, Covered> covered{};  ///< of a node
  RefusedRows refused{};                 ///< of a node
};

/// Of a whole store: only where its journal ends.
///
/// Errors: corruption: a record or a row is damaged or missing, or an append is there in part; io
/// Cost:   reads what no cut covers, about 1 us an event; one seek a shard.
Result<RecoveredJournal> recover_journal(const Rows& rows, const Identity& identity, const sharding::TermHasher& hasher,
                                         const sharding::OrderState& order);

}  // namespace evershard::storage
