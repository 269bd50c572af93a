// RecoveredOrder: where the order stands, read from the rows a store recovered.

#pragma once

#include "evershard/protocol/result.hpp"
#include "evershard/sharding/ordering.hpp"
#include "evershard/storage/rows.hpp"

namespace evershard::storage {

/// From the last cut, the applied row and the last record of each shard, which must agree: they were written together.
///
/// Errors: corruption: they do not; io
/// Cost:   one seek a shard.
Result<sharding::OrderState> recover_order(const Rows& rows, std::uint32_t shards);

}  // namespace evershard::storage
