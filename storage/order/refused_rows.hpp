// RefusedRows: what cuts refused since the last one that placed something here.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/storage/journal/rows.hpp"
#include "evershard/storage/order/applied.hpp"

namespace evershard::storage {

/// A cut that places nothing has no row in the order. What it refused is in the row of the next one that places
/// something, before that one's own segments, so that the rows up to any of them say how far each shard is covered:
/// that is what another replica is given. Until then it lies in a row of its own.
struct RefusedRows {
  std::vector<std::string> keys;
  std::vector<sharding::Segment> segments;  ///< in the order of their cuts
};

[[nodiscard]] std::string refused_prefix();  ///< of all keys of them
[[nodiscard]] std::string refused_key(CutNumber cut);
/// Shape: the cut places nothing.
[[nodiscard]] std::string refused_row(const sharding::Cut& cut);
/// Errors: corruption: it is damaged, or another cut's
[[nodiscard]] Result<sharding::Cut> decode_refused(std::string_view key, std::string_view row);

/// What is not covered here is left out. Errors: corruption, io
Result<RefusedRows> refused_rows(const Rows& rows, const std::map<ShardId, Covered>& covered);

}  // namespace evershard::storage
