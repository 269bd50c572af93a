// RowLogs: how far the row logs of this node's shards are on their followers, and whether they are whole here.

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/sharding/replica_set.hpp"
#include "evershard/storage/journal/row_log.hpp"

namespace evershard::cluster {

/// What a quorum had under earlier writers is fetched first, from each of so many that have more as meet every quorum:
/// before that nothing is written. Then each follower is sent what it does not have, of the oldest epoch first, a part
/// at a time. A follower that turns up later with entries of earlier writers that this node has never seen is asked for
/// those before it is sent anything: a quorum never had them, so nobody was answered.
///
/// Owner:  one thread.
/// Source: docs/internals/replication.md, rule 26; invariant I-Rows.
class RowLogs {
 public:
  using At = storage::RowLogAt;
  using Ends = storage::RowLogEnds;

  /// This node writes the shard under this epoch, or is about to. `ends`: what it has. `whole`: its log was, at some
  /// time since the disk was made.
  void begin(ShardId shard, Epoch epoch, const Ends& ends, bool whole = true);
  void end(ShardId shard) { shards_.erase(shard); }
  /// A follower's word: under that epoch it has this, and its journal ends there. One whose log is not known to have
  /// been whole may have forgotten what it said it had: it is sent all, and counts for no quorum of before.
  ///
  /// `bases`: as FollowedShard has them.
  void followed(std::uint32_t node, ShardId shard, Epoch epoch, const Ends& ends, ShardOffset tail,
                const sharding::ReplicaSet& set, bool whole = true,
                const std::optional<std::set<std::uint64_t>>& bases = std::nullopt);
  /// Everything that a quorum had is here.
  [[nodiscard]] bool ready(ShardId shard) const;

  /// Of the next entry. Shape: ready().
  [[nodiscard]] At next(ShardId shard) const;
  /// What is here by now, synced.
  void written(ShardId shard, const Ends& ends);
  /// It, and everything that was here before it.
  [[nodiscard]] bool quorum_has(ShardId shard, At at, const sharding::ReplicaSet& set) const;
  /// Everything that is here. Shape: false while it is not ready().
  [[nodiscard]] bool quorum_has_all(ShardId shard, const sharding::ReplicaSet& set) const;
  /// Every follower that is there, and was nearly in step before.
  [[nodiscard]] bool all_have(ShardId shard, At at) const;
  /// The node is not there any more, until its next word.
  void lost(std::uint32_t node);

  /// Of whose log something is wanted, or who is to be sent something: what the epoch of `after` has behind it.
  struct Wanted {
    std::uint32_t node = 0;
    ShardId shard{};
    Epoch epoch{};  ///< of the writer that asks, or sends
    At after{};
    ShardOffset tail{1};                             ///< of its journal
    bool whole = false;                              ///< to be sent: it has all, and is to know it
    std::optional<std::set<std::uint64_t>> bases{};  ///< to be sent: which it has
  };
  /// To be asked, one a shard at a time; not again before given() or again().
  [[nodiscard]] std::vector<Wanted> to_ask();
  /// Whether an answer to it is still of use.
  [[nodiscard]] bool asks(const Wanted& asked) const;
  /// Written here, synced, or of no use any more: that epoch's entries up to that number. `ends`: what is here by now.
  void given(const Wanted& asked, std::uint64_t up_to, const Ends& ends);
  /// What was taken is to come into the log once more, under this node's epoch: nothing is sent before it is there. Who
  /// was sent an entry says that it has it, whatever its own snapshot is: the next writer would ask nobody.
  void owe(ShardId shard);
  void paid(ShardId shard);
  /// ready(), and something is owed.
  [[nodiscard]] bool owes(ShardId shard) const;
  /// It cannot be taken. Where the follower turned up late it keeps what it has, and is sent the rest all the same.
  void not_taken(const Wanted& asked);
  /// To be sent: one part a follower and shard at a time, until its next word that it has more.
  [[nodiscard]] std::vector<Wanted> to_send();
  /// Whose log is whole here and the disk does not know it.
  [[nodiscard]] std::vector<std::pair<ShardId, Epoch>> to_mark() const;
  void marked(ShardId shard);
  /// Whatever is under way is taken for lost.
  void again();

 private:
  struct Follower {
    Ends ends{};
    ShardOffset tail{1};
    bool whole = true;
    std::optional<std::set<std::uint64_t>> bases{};
    bool under_way = false;
  };
  struct Shard {
    Epoch epoch{};
    Ends ends{};
    Ends seen{};  ///< that, and what is not here any more, since newer entries have taken its place
    bool ready = false;
    bool whole = true;  ///< the disk knows that it was
    bool owes = false;
    bool asking = false;
    std::uint32_t asked_last = 0;
    sharding::ReplicaSet set{};  ///< as of the last word
    std::map<std::uint32_t, Follower> followers{};
  };
  static void look(Shard& shard);
  static void note(Shard& shard, const Ends& ends);
  /// Whether so many of its set have said what they have that one of them had all that was answered: of those that
  /// have forgotten nothing, or all there are. Under the first epoch there is nothing to forget.
  [[nodiscard]] static bool heard_enough(const Shard& shard);
  [[nodiscard]] Shard* at(ShardId shard, Epoch epoch);

  std::map<ShardId, Shard> shards_;
};

}  // namespace evershard::cluster
