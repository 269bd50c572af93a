// Reading: ranges, directions, pages.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/numbers.hpp"

namespace evershard {

enum class Direction : std::uint8_t { forwards = 0, backwards = 1 };

/// Reading everything, or a query's matches, in position order.
///
/// Shape: forwards from the first event after `after`; backwards from the last event before `before`.
///        Both bounds hold in both directions: (after, before), and `up_to` inclusive (as of).
struct ReadOptions {
  GlobalPosition after{0};                 ///< exclusive
  std::optional<GlobalPosition> before{};  ///< exclusive; absent: no bound
  std::optional<GlobalPosition> up_to{};   ///< inclusive: as of this position
  std::optional<std::uint64_t> limit{};    ///< absent: no limit; 0: nothing
  Direction direction = Direction::forwards;
  std::optional<GlobalPosition> at_least{};  ///< wait until the watermark has reached it
  /// At most so many events of each aggregate, those met first in the direction; absent: all. One without an aggregate
  /// is not counted.
  std::optional<std::uint64_t> per_aggregate{};
  /// Where counting begins, exclusive, for a read that goes on: at or in front of where it begins; absent: there.
  std::optional<GlobalPosition> per_aggregate_from{};

  friend bool operator==(const ReadOptions&, const ReadOptions&) = default;
};

/// Reading one aggregate's stream, in order of seq_nr.
struct StreamOptions {
  std::optional<SeqNr> from{};  ///< inclusive; absent: the first, backwards the last
  std::optional<std::uint64_t> limit{};
  Direction direction = Direction::forwards;
  std::optional<GlobalPosition> up_to{};  ///< inclusive: as of this position

  friend bool operator==(const StreamOptions&, const StreamOptions&) = default;
};

/// Events in the order asked for, each once.
struct Page {
  std::vector<RecordedEvent> events;
  GlobalPosition watermark;  ///< what the whole read is bounded by: a consistency token
  bool complete = false;     ///< nothing follows

  friend bool operator==(const Page&, const Page&) = default;
};

/// One row of the aggregates' directory.
struct AggregateInfo {
  AggregateId aggregate;
  SeqNr version;
  GlobalPosition last_position;
  ShardId shard;
  friend bool operator==(const AggregateInfo&, const AggregateInfo&) = default;
};

}  // namespace evershard
