// CutLogState: where the cut log stands after its last record: the order, who leads, who owns which shard.

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/sharding/cut.hpp"
#include "evershard/sharding/cut_builder.hpp"
#include "evershard/sharding/leadership.hpp"

namespace evershard::sharding {

/// The same value is the log's checkpoint: the state after the cuts that were folded.
struct CutLogState {
  struct Shard {
    Epoch epoch;                   ///< of its last opening; 0: never opened
    std::uint32_t node = 0;        ///< its owner; 0: nobody
    ShardOffset next{1};           ///< the first offset no cut covers
    GlobalPosition last_position;  ///< the last position it was given; 0: none
    Epoch written;                 ///< the epoch under which its newest ordered events were written; 0: none
    ShardOffset
        folded;  ///< the last offset that cuts it has folded cover; 0: none. Those that cover what is behind are there
    /// The losses that operators accepted: the epoch of each, and the offset from which on events were lost. Of losses
    /// that begin at the same offset as a later loss, or behind it, only the later one is kept. Not sent to nodes.
    struct Loss {
      Epoch epoch;
      ShardOffset from;
      friend bool operator==(const Loss&, const Loss&) = default;
    };
    std::vector<Loss> losses{};  ///< epochs and offsets ascend
    ReplicaSet replicas{};       ///< who keeps it

    /// The offset from which on events were given up after `epoch`: a disk of that epoch does not know of the loss.
    /// Nothing: no events were given up after it.
    [[nodiscard]] std::optional<ShardOffset> lost_after(Epoch epoch) const;
    void follow(const Opening& opening);
    /// Who has to hold a cut before it is folded: the replicas, or the owner alone.
    [[nodiscard]] std::vector<std::uint32_t> keepers() const;
    /// Events from there on were given up under that epoch. Shape: not before the last one.
    void lose(Epoch under, ShardOffset from);
    friend bool operator==(const Shard&, const Shard&) = default;
  };

  CutLogState() = default;
  explicit CutLogState(std::uint32_t shard_count) : shards(shard_count) {}

  Epoch epoch;                ///< of who leads; 0: nobody ever did
  Leaderships leaderships{};  ///< who led, the newest of them; not sent with a checkpoint
  CutNumber last_cut;
  GlobalPosition watermark;
  std::vector<Shard> shards;

  /// What Ordering starts with.
  [[nodiscard]] OrderState order() const;
  friend bool operator==(const CutLogState&, const CutLogState&) = default;
};

/// Whether `cut` is what comes next: the next number, positions and offsets that join on, epochs as opened.
/// Errors: corruption, with what does not fit
Result<void> check_follows(const CutLogState& state, const Cut& cut);
/// The state behind it. Shape: check_follows().
void follow(CutLogState& state, const Cut& cut);

/// A shard that a cut names in segments, openings or replica sets, and the offsets [first, end) of it that it covers;
/// equal: none.
struct NamedShard {
  ShardId shard;
  ShardOffset first{1};
  ShardOffset end{1};
};
/// Each once, ascending.
std::vector<NamedShard> shards_named(const Cut& cut);

}  // namespace evershard::sharding
