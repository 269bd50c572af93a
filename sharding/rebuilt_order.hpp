// RebuiltOrder: the cut log's state from what the nodes hold, where the log itself is lost.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "evershard/protocol/result.hpp"
#include "evershard/sharding/cut_log_state.hpp"

namespace evershard::sharding {

/// What the disk of one node says of the order.
struct HeldOrder {
  std::uint32_t node = 0;
  CutNumber last_cut;  ///< the last one applied
  GlobalPosition watermark;
  Epoch coordinator;  ///< who made it
  struct Shard {
    Epoch epoch;          ///< the newest one it was opened under there; 0: none
    ShardOffset next{1};  ///< the first offset no applied cut covers
    std::vector<CutLogState::Shard::Loss>
        losses{};  ///< what it knows to be given up, in sequence; an epoch of 0 is not known
  };
  std::vector<Shard> shards;  ///< one a shard
};

/// What a node acknowledged as ordered, it had applied: so every acknowledged position is in its cuts. A position that
/// nobody's cuts name was given to a shard of a node that had not heard of it, or is not here.
class RebuiltOrder {
 public:
  explicit RebuiltOrder(std::uint32_t shards) : state_(shards), owners_(shards) {}

  /// Errors: invalid_argument: the node was given already
  Result<void> add(const HeldOrder& held);
  /// Cuts as that node keeps them (sharding/node_cut.hpp). Shape: after add(), each node's in order.
  void add(std::uint32_t node, const Cut& kept);

  struct Outcome {
    CutLogState state;  ///< all cuts are folded
    /// Positions [from, until) whose events nobody given has; ascending.
    std::vector<std::pair<GlobalPosition, GlobalPosition>> unknown;
    std::uint64_t unknown_positions = 0;
    std::vector<ShardId> unowned;  ///< shards nobody given has ever opened
    std::vector<std::pair<std::uint32_t, CutNumber>>
        behind;  ///< nodes that have not applied the last cut, and how far they are
  };
  /// Errors: corruption: two nodes have one position, or one shard under one epoch, or their cuts differ: named
  [[nodiscard]] Result<Outcome> finish();

 private:
  struct Owner {
    std::uint32_t node = 0;
    Epoch epoch;
  };
  struct Range {
    GlobalPosition from, until;
    std::uint32_t node;
  };
  struct Written {
    Epoch epoch;
    GlobalPosition last_position;
  };

  CutLogState state_;
  std::vector<Owner> owners_;
  std::map<std::uint32_t, HeldOrder> held_;
  std::map<std::pair<std::uint32_t, ShardId>, Written> written_;
  std::vector<Range> ranges_;
};

}  // namespace evershard::sharding
