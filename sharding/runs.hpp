// Runs: offset <-> position of a shard, from the cuts. Both rise together.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/sharding/cut.hpp"

namespace evershard::sharding {

/// `count` events of one shard with consecutive offsets and positions.
struct Run {
  ShardId shard;
  GlobalPosition position;
  ShardOffset offset;
  std::uint64_t count = 0;
  [[nodiscard]] bool is_elsewhere() const { return offset.value == 0; }  ///< only positions: another node's
  friend bool operator==(const Run&, const Run&) = default;
};

/// A cut as runs, in position order; refused offsets end a run. What other nodes hold has none.
std::vector<Run> runs_of(const Cut& cut);
/// The same with those of other nodes between them: no position is missing.
std::vector<Run> all_runs_of(const Cut& cut);

/// The runs of one shard, neighbours merged, searched both ways.
class ShardRuns {
 public:
  /// Shape: behind everything added before, in offset and position.
  void add(const Run& run);
  [[nodiscard]] std::optional<GlobalPosition> position_of(ShardOffset offset) const;
  [[nodiscard]] std::optional<ShardOffset> offset_of(GlobalPosition position) const;
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }

 private:
  std::vector<Run> runs_;
};

}  // namespace evershard::sharding
