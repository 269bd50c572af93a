// Cutting: the making of one cut of what was reported, the appends over several shards in it included.

#pragma once

#include <cstdint>
#include <deque>

#include "evershard/sharding/reports.hpp"
#include "evershard/sharding/several.hpp"

namespace evershard::sharding {

/// One pass, no verdict is taken back: an append is judged where its events go down, all at once.
///
/// Source: docs/internals/ordering.md, "Over several shards".
class Reports::Cutting {
 public:
  Cutting(Reports& reports, CutBuilder& builder) : reports_(reports), builder_(builder) {}

  /// Ends the shards' ranges before parts whose siblings are missing, for a counted number of cuts.
  void hold(std::uint32_t cuts_held_max);
  /// The parts in sequence; one that lacks a sibling all the same is refused.
  void queue();
  /// Everything up to the limits, in sequence.
  void emit();
  /// What was emitted is no longer waiting.
  void clear();

 private:
  Shard& shard(ShardId id) { return reports_.shards_[id.value]; }
  [[nodiscard]] bool within_limits(const Several& several);
  void come_to_head(Shard& shard);
  void take_from_queues(Several& several);
  Several* blocked();
  Several& crossing(Several& from);
  void emit_until(ShardId id, ShardOffset until);
  void emit_several(Several& several);
  void emit_event(ShardId id, const ReportedAppend& append, std::size_t event, bool placed);
  /// What it builds on was not refused.
  [[nodiscard]] static bool stands(const Shard& on, const Waiting& waiting);
  static void remember_refused(Shard& on, const Waiting& waiting);

  Reports& reports_;
  CutBuilder& builder_;
  std::deque<Several*> ready_;  ///< at the head of the queues of all their shards
  std::size_t first_blocked_ = 0;
};

}  // namespace evershard::sharding
