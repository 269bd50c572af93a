// PageMerge: pages of many shards, one sequence in position order.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/read.hpp"

namespace evershard::sharding {

/// One shard's answer: events in the direction asked for, and how far it has looked.
struct ShardPage {
  ShardId shard;
  std::vector<RecordedEvent> events;
  GlobalPosition complete_to;  ///< nothing of this shard is missing up to here (backwards: down to here)
  bool end = false;            ///< nothing of this shard follows
};

/// Gives out an event only when no shard can still have one before it; says whose page it waits for.
class PageMerge {
 public:
  PageMerge(std::vector<ShardId> shards, Direction direction);
  /// Errors of use (out of order, unknown shard, overlap with what was given): invalid_argument
  Result<void> add(ShardPage page);
  /// The next event, if it is certain.
  std::optional<RecordedEvent> next();
  /// Shards whose next page is needed before next() can go on.
  [[nodiscard]] std::vector<ShardId> waiting_for() const;
  [[nodiscard]] bool finished() const;
  /// Everything up to here (backwards: down to here) was given out.
  [[nodiscard]] GlobalPosition complete_to() const;

 private:
  struct Source {
    ShardId shard;
    std::deque<RecordedEvent> events;
    GlobalPosition complete_to;
    bool started = false;
    bool end = false;
  };
  std::vector<Source> sources_;
  Direction direction_;
};

}  // namespace evershard::sharding
