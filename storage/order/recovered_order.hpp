// RecoveredOrder: where the order stands, read from the rows a store recovered.

#pragma once

#include <map>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/sharding/ordering.hpp"
#include "evershard/storage/journal/identity.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/order/applied.hpp"

namespace evershard::storage {

/// From the last cut, the applied row and the last record of each shard, which must agree: they were written together.
/// Of a node's store, from the rows that say where the cuts end in each shard: its journal may go on behind them.
///
/// Errors: corruption: they do not; io
/// Cost:   one seek a shard.
Result<sharding::OrderState> recover_order(const Rows& rows, const Identity& identity);

/// Of a node's store: where the cuts end in each shard they name, what is damaged, what was given up. Errors:
/// corruption, io
Result<std::map<ShardId, Covered>> covered_rows(const Rows& rows, std::uint32_t shards);

/// The offset behind the last record of each shard; not before where it begins. Errors: corruption, io
Result<std::vector<ShardOffset>> journal_ends(const Rows& rows, std::uint32_t shards);

}  // namespace evershard::storage
