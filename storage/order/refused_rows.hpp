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

/// A cut that places nothing has no row in the order. The segments that it refused stand in the row of the next cut
/// that places something, before that cut's own segments. So the rows up to any cut say how far each shard is covered,
/// and such rows are what another replica is given. Until there is a next cut, the refused segments lie in a row of
/// their own.
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

/// Segments beyond `covered` are left out. Errors: corruption, io
Result<RefusedRows> refused_rows(const Rows& rows, const std::map<ShardId, Covered>& covered);

}  // namespace evershard::storage
