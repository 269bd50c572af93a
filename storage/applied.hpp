// Applied: the state row that says how far the order has come on this node.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/sharding/cut.hpp"

namespace evershard::storage {

/// Rewritten with every cut. Offsets are not in it: the journal's last record of a shard has them.
///
/// Shape:  version byte 1; cut number, watermark, coordinator's epoch: 8 bytes each, big-endian; then 2 + 8 bytes for each
///         shard whose epoch is not 1.
/// Source: docs/on-disk-format.md, "State".
struct Applied {
  CutNumber number;
  GlobalPosition watermark;
  Epoch coordinator{1};
  std::vector<std::pair<ShardId, Epoch>> epochs;

  friend bool operator==(const Applied&, const Applied&) = default;

  /// The next cut, of all shards or as a node keeps it.
  void take(const sharding::Cut& cut);
};

std::string encode(const Applied& applied);
/// Errors: corruption
Result<Applied> decode_applied(std::string_view bytes);

/// Of one shard of a node, whose journal may go on behind the cuts: the first offset that no cut applied covers.
std::string encode_covered(ShardOffset end);
/// Errors: corruption
Result<ShardOffset> decode_covered(std::string_view bytes);

}  // namespace evershard::storage
