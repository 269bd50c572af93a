// ClusterStatus: how a cluster is: its nodes, its shards, how far each is behind.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/store/api/cluster_view.hpp"

namespace evershard {

/// Offsets [from, until) of a shard that have positions and that a disk has not; with them goes what the disk has
/// behind them.
struct ShardLoss {
  ShardId shard{};
  ShardOffset from{};
  ShardOffset until{};
  std::uint64_t unordered = 0;  ///< so many offsets from `until` on, which have no position yet
  friend bool operator==(const ShardLoss&, const ShardLoss&) = default;

  /// `3:1-40`, and `3:1-40+2` where two more have no position yet: shard, first and last offset.
  [[nodiscard]] std::string text() const;
  /// Nothing: it is no such text.
  [[nodiscard]] static std::optional<ShardLoss> parse(const std::string& text);
};

struct ClusterStatus {
  struct Node {
    ClusterView::Node is{};
    std::uint32_t shards = 0;         ///< it owns
    CutNumber applied{};              ///< the last cut it said to have applied; about every second
    std::uint64_t behind = 0;         ///< cuts that were there and not applied when it said so
    std::uint32_t refused = 0;        ///< of its shards, those whose disk is refused
    std::uint64_t behind_events = 0;  ///< that those cuts placed; of a node that is down: by now. At least, where the
                                      ///< coordinator leads since then only
    std::uint64_t behind_ms = 0;      ///< since the first of those cuts was made
    std::uint32_t replicas = 0;       ///< it keeps
    std::uint32_t learns = 0;         ///< it is to keep, and is being given
    std::uint64_t learned_events = 0, learn_events = 0;  ///< so many of those that it is given
    std::string zone{};
    bool full = false;  ///< its disk: others write its shards, and it takes nothing
  };
  struct Shard {
    std::uint32_t node = 0;  ///< its owner; 0: nobody
    Epoch epoch{};
    bool open = false;       ///< its owner is up and has it
    ShardOffset durable{1};  ///< the first offset that was not reported as durable
    ShardOffset ordered{1};  ///< the first offset without a place in the order; behind `durable`: that much waits
    GlobalPosition last_position{};         ///< the last one it was given; 0: none
    std::string trouble{};                  ///< why it is not open; empty: it is, or its node is not here
    std::uint32_t quorum = 1;               ///< so many of `replicas` have what is acknowledged
    std::vector<std::uint32_t> replicas{};  ///< the nodes that keep it, ascending; none: its owner alone
    std::vector<std::uint32_t> learners{};  ///< are to keep it, and are being given it
  };

  std::uint32_t self = 0;    ///< the node that answers
  GlobalPosition applied{};  ///< what that node has applied
  std::string trouble{};     ///< why the coordinator was not asked; then all below is what the node remembers
  Epoch coordinator{};
  CutNumber last_cut{};
  GlobalPosition watermark{};
  std::uint64_t cuts_per_second = 0;  ///< of the last ten seconds
  std::vector<Node> nodes{};          ///< ascending by number
  std::vector<Shard> shards{};        ///< one a shard
};

/// What an operator wants.
struct ShardAssignment {
  std::uint32_t node = 0;  ///< to whom
  std::vector<ShardId> shards{};
  std::vector<ShardLoss> accepted{};  ///< what may be lost: it must be exactly what is
  bool drain = false;                 ///< instead: other replicas write what the node writes, until it is started again
  bool balance = false;               ///< instead: all nodes write about as many shards, those too that were drained
  /// Instead, who keeps what. It takes long, and is asked for again and again: the answer says how much is left.
  enum class Sets : std::uint8_t {
    none,
    add,        ///< `node` gets its share of the replicas
    remove,     ///< `node` is to keep nothing; others are given what it keeps
    move,       ///< `node` keeps these shards, and `from` does not any more; 0: whoever has most
    rebalance,  ///< all nodes keep about as many
  };
  Sets sets = Sets::none;
  std::uint32_t from = 0;
};

/// All of it is done, or nothing.
struct ShardsAssigned {
  bool done = false;                ///< false: `losses` must be accepted first
  std::vector<ShardLoss> losses{};  ///< one a shard that loses
  std::uint64_t left = 0;           ///< of Sets: so many replicas are still to be made, or given up
};

}  // namespace evershard
