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
/// Shape:  version byte 1; cut number, watermark, coordinator's epoch: 8 bytes each, big-endian; then 2 + 8 bytes for
///         each shard whose epoch is not 1.
/// Source: docs/internals/on-disk-format.md, "State".
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

/// Offsets [from, until) of a shard that have positions and are gone, as an operator accepted. Those positions lie in
/// (after, up_to], among others.
struct LostRange {
  ShardOffset from;
  ShardOffset until;
  GlobalPosition after;
  GlobalPosition up_to;
  Epoch epoch{};  ///< of the opening that says so; 0: written before that was kept
  friend bool operator==(const LostRange&, const LostRange&) = default;
};

/// The state row of one shard of a node, whose journal may go on behind the cuts.
///
/// Shape:  version byte 1, then `end`; or 2, then `end`, `damaged` (1 byte), `whole_to`; or 3, then the same,
///         `gone_from`, and 5 x 8 bytes for each lost range; or 4, then `followed`, `settled`
///         and one of those before. Numbers: 8 bytes, big-endian. Of version 2 there are rows with lost ranges of 4 x 8
///         bytes, without an epoch.
struct Covered {
  ShardOffset end{1};             ///< the first offset that no cut applied covers
  bool damaged = false;           ///< cuts cover what is not here: what the journal has from `end` on does not count
  GlobalPosition whole_to{};      ///< of one that is damaged: up to here nothing is missing; 0: not known
  std::vector<LostRange> lost{};  ///< ascending by `until`
  /// What has places from here on was given up, and is on this disk all the same, until the store is opened again
  /// (given_up.hpp); 0: there is none.
  ShardOffset gone_from{0};
  /// The newest epoch that this disk follows: what the journal has behind the cuts is of that writer, or of one before
  /// it up to where cuts covered the shard when that one began; 0: it never followed.
  Epoch followed{};
  /// Of one that follows: before this offset cuts that are not applied here yet have decided everything, and the rows
  /// of appends that waited did not come with their events: each counts as an append of its own. 0: there is none.
  ShardOffset settled{0};

  /// One that an operator let go on has no journal before this offset: 1: it never was.
  [[nodiscard]] ShardOffset begins() const { return lost.empty() ? ShardOffset{1} : lost.back().until; }
  /// Whether cuts gave places from `from` on to what is not lost yet.
  [[nodiscard]] bool has_placed(ShardOffset from) const;
  friend bool operator==(const Covered&, const Covered&) = default;
};
std::string encode_covered(const Covered& covered);
/// Errors: corruption
Result<Covered> decode_covered(std::string_view bytes);

}  // namespace evershard::storage
