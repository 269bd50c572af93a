// ClusterStatus: how a cluster is: its nodes, its shards, how far each is behind.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evershard/api/cluster_view.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/timestamp.hpp"

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

/// Something that happened to who writes shards, or who keeps them.
struct ClusterChange {
  enum class Cause : std::uint8_t {
    leads,         ///< a coordinator began to lead; it does not know what was before
    node_lost,     ///< the writer's process ended, or its connection
    node_silent,   ///< the writer did not answer: it was frozen, or cut off
    disk_full,     ///< the writer's disk is full
    disk_lacks,    ///< the writer's disk lacks what is ordered
    drained,       ///< an operator wants the node to write nothing
    removed,       ///< an operator wants the node to keep nothing
    balanced,      ///< all nodes are to write about as many shards
    assigned,      ///< an operator gave the shards to the node
    moved,         ///< its writer is to keep the shard no longer
    learns,        ///< a node is to keep the shards, and is being given them
    learned,       ///< it has them, and counts
    left,          ///< a node does not keep the shards any more
    stands_still,  ///< the writer is here and applies nothing, unlike others
  };
  static constexpr std::size_t causes = 14;

  Timestamp at{};  ///< when it was done
  Cause cause{};
  std::uint32_t from = 0;         ///< who wrote or kept the shards; 0: nobody
  std::uint32_t to = 0;           ///< who writes or keeps them; 0: nobody; the same as `from`: it was away, and is back
  std::vector<ShardId> shards{};  ///< ascending
  std::uint64_t without_writer_ms = 0;  ///< for so long they had no writer, as the coordinator saw it; of several, the
                                        ///< longest
  friend bool operator==(const ClusterChange&, const ClusterChange&) = default;
};

/// Such as `node_lost`.
[[nodiscard]] const char* name_of(ClusterChange::Cause cause);
/// For people: `node 2 was lost`.
[[nodiscard]] std::string sentence_of(const ClusterChange& change);

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
    std::uint32_t learns = 0;         ///< replicas that it is being given, to keep them
    std::uint64_t learned_events = 0, learn_events = 0;  ///< events of those replicas: given so far, and in all
    std::string zone{};
    bool full = false;                             ///< its disk: others write its shards, and it takes nothing
    std::optional<std::uint64_t> learn_left_ms{};  ///< as fast as lately; absent: it learns nothing, or it is not known
    std::optional<std::int64_t> clock_ahead_ms{};  ///< of the coordinator's; below 0: behind it; absent: not known
    bool clock_differs = false;                    ///< by more than a second
  };
  struct Shard {
    std::uint32_t node = 0;  ///< its owner; 0: nobody
    Epoch epoch{};
    bool open = false;       ///< its owner is up and has it
    ShardOffset durable{1};  ///< the first offset that was not reported as durable
    ShardOffset ordered{1};  ///< the first offset without a place in the order; behind `durable`: that much waits
    GlobalPosition last_position{};         ///< the last position it was given; 0: none
    std::string trouble{};                  ///< why it is not open; empty: it is, or its node is not here
    std::uint32_t quorum = 1;               ///< so many of `replicas` have what is acknowledged
    std::vector<std::uint32_t> replicas{};  ///< the nodes that keep it, ascending; none: its owner alone
    std::vector<std::uint32_t> learners{};  ///< nodes that are to keep it, and are being given its events
    bool without_quorum = false;            ///< too few of `replicas` are up; `trouble` says what to do
    std::uint64_t without_writer_ms = 0;    ///< how long it has had no writer; 0: it has one, or nobody knows
  };
  /// Since the coordinator leads.
  struct Count {
    ClusterChange::Cause cause{};
    std::uint64_t changes = 0;
    std::uint64_t without_writer_ms = 0;  ///< of all of them together
    friend bool operator==(const Count&, const Count&) = default;
  };
  /// The nodes that keep some shards, those who write them, and whether they are enough.
  struct Set {
    std::vector<std::uint32_t> nodes{};     ///< ascending
    std::vector<std::uint32_t> learners{};  ///< ascending
    std::uint32_t quorum = 1;
    std::uint32_t up = 0;                  ///< so many of `nodes`
    std::vector<ShardId> shards{};         ///< ascending
    std::vector<std::uint32_t> leaders{};  ///< who of `nodes` writes some of the shards, and is up; ascending
    std::string trouble{};                 ///< why it has no quorum, and what to do; empty: it has one
  };

  std::uint32_t self = 0;    ///< the node that answers
  GlobalPosition applied{};  ///< what that node has applied
  std::string trouble{};     ///< why the coordinator was not asked; then all below is what the node remembers
  Epoch coordinator{};
  CutNumber last_cut{};
  GlobalPosition watermark{};
  std::uint64_t cuts_per_second = 0;     ///< of the last ten seconds
  std::vector<Node> nodes{};             ///< ascending by number
  std::vector<Shard> shards{};           ///< one a shard
  std::vector<ClusterChange> changes{};  ///< the newest ones, oldest first, since the coordinator leads
  std::vector<Count> counts{};           ///< of causes that have been

  /// Of shards with replicas, each set once, in the sequence of their first shards.
  [[nodiscard]] std::vector<Set> sets() const;
};

/// What an operator wants.
struct ShardAssignment {
  std::uint32_t node = 0;  ///< to whom
  std::vector<ShardId> shards{};
  std::vector<ShardLoss> accepted{};  ///< what may be lost: it must be exactly what is
  bool drain = false;                 ///< instead: other replicas write what the node writes, until it is started again
  bool balance = false;               ///< instead: all nodes write about as many shards, those too that were drained
  /// Instead, which nodes keep which shards. Such a change takes long, and the caller asks for it again and again: the
  /// answer says how many replicas are left.
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

/// The whole order is carried out, or nothing of it.
struct ShardsAssigned {
  bool done = false;                ///< false: `losses` must be accepted first
  std::vector<ShardLoss> losses{};  ///< one a shard that loses
  std::uint64_t left = 0;           ///< of Sets: so many replicas are still to be made, or given up
};

}  // namespace evershard
