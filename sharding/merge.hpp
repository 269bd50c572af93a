// PageMerge: pages of many shards, one sequence in position order.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/read.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::sharding {

/// One shard's answer: events in the direction asked for, and how far it has looked.
struct ShardPage {
  ShardId shard;
  std::vector<RecordedEvent> events;
  GlobalPosition complete_to;  ///< nothing of this shard is missing up to here (backwards: down to here), inclusive
  bool end = false;            ///< nothing of this shard follows
};

/// Gives out an event only when no shard can still have one before it; says whose page it waits for.
///
/// Cost: a heap of the shards' next events; an event is moved, never copied.
class PageMerge {
 public:
  PageMerge(std::vector<ShardId> shards, Direction direction);
  /// Errors of use (out of order, unknown shard, overlap with what was given, after its end): invalid_argument, and
  /// nothing of the page is taken.
  Result<void> add(ShardPage page);
  /// The next event, if it is certain.
  std::optional<RecordedEvent> next();
  /// Shards whose next page is needed before next() can go on; none when next() has an event, and when finished.
  [[nodiscard]] std::vector<ShardId> waiting_for() const;
  /// Everything was given out, and nothing follows.
  [[nodiscard]] bool finished() const;
  /// Every event up to here (backwards: down to here) was given out.
  [[nodiscard]] GlobalPosition complete_to() const;

 private:
  /// How far along the direction asked for: rises in both.
  using Along = std::uint64_t;
  struct Source {
    ShardId shard;
    std::deque<RecordedEvent> events;
    Along complete_to = 0;
    bool end = false;
  };
  struct Head {
    Along at;
    std::size_t source;
    friend bool operator>(const Head& a, const Head& b) { return a.at > b.at; }
  };

  [[nodiscard]] Along along(GlobalPosition position) const;
  [[nodiscard]] bool certain() const { return !heads_.empty() && heads_.front().at <= certain_to_; }
  void push_head(std::size_t source);

  std::vector<Source> sources_;  ///< by shard
  std::vector<Head> heads_;      ///< the first event of each source that has one; a heap
  Along certain_to_ = 0;         ///< up to here the events of every shard are known
  Direction direction_;
};

}  // namespace evershard::sharding
