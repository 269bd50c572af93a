// Cut: which events of which shards come next in the global order. A stored cut is a fact.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/sharding/replica_set.hpp"

namespace evershard::sharding {

/// The next offsets of one shard, [first, end); those refused (ascending) get no position.
struct Segment {
  ShardId shard;
  Epoch epoch;
  ShardOffset first;
  ShardOffset end;
  std::vector<ShardOffset> refused;

  /// In a node's copy of a cut: so many positions, given to shards of other nodes. Shape: at least one.
  [[nodiscard]] static Segment elsewhere(std::uint64_t events);
  [[nodiscard]] bool is_elsewhere() const;
  [[nodiscard]] std::uint64_t events() const { return end - first - refused.size(); }
  friend bool operator==(const Segment&, const Segment&) = default;
};

/// A writer takes over a shard under the next epoch.
struct Opening {
  ShardId shard;
  Epoch epoch;
  std::uint32_t node = 0;
  ShardOffset tail;
  /// [lost_from, lost_until): offsets that cuts cover and that are gone for good, as an operator accepted; equal: none.
  /// What the new writer's disk has from lost_from on is given up, and it goes on at lost_until.
  ShardOffset lost_from{};
  ShardOffset lost_until{};

  [[nodiscard]] bool loses() const { return lost_from != lost_until; }
  friend bool operator==(const Opening&, const Opening&) = default;
};

/// From this cut on these nodes keep the shard; before the cut's openings.
struct NewReplicas {
  ShardId shard;
  ReplicaSet set;
  friend bool operator==(const NewReplicas&, const NewReplicas&) = default;
};

/// Positions run through the segments in sequence, from `first_position`.
struct Cut {
  CutNumber number;
  Epoch coordinator;
  GlobalPosition first_position;
  std::vector<Segment> segments;
  std::vector<Opening> openings;
  std::vector<NewReplicas> replicas{};

  [[nodiscard]] std::uint64_t events() const;
  /// The last position given: the watermark after it.
  [[nodiscard]] GlobalPosition last_position() const;
  friend bool operator==(const Cut&, const Cut&) = default;
};

/// Shape: version byte, varints; a cut of 64 shards is about 220 bytes. Source: docs/internals/on-disk-format.md,
/// "Order".
std::string encode(const Cut& cut);
void encode(const Cut& cut, std::string& out);
/// Whose row it is: only a node keeps cuts in which positions lie elsewhere.
enum class CutOf : std::uint8_t { store, node };

/// Errors: corruption
Result<Cut> decode_cut(std::string_view bytes, CutOf of = CutOf::store);

}  // namespace evershard::sharding
