// RetentionRecords: what retention keeps in the store itself: policies, as definitions, and the log.
//
// Source: docs/internals/removal.md.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evershard/api/event_store.hpp"
#include "evershard/api/retention.hpp"

namespace evershard::cluster {

/// Any thread. Owner: the store outlives it, and takes reserved names from it.
class RetentionRecords {
 public:
  explicit RetentionRecords(EventStore& store) : store_(store) {}

  Result<void> set_policy(const RetentionPolicy& policy, const RetentionOrder& order);
  Result<void> drop_policy(const std::string& name, const RetentionOrder& order);
  Result<std::vector<RetentionPolicy>> policies();
  /// What the last event of a policy's definition says. Absent: it was dropped. Errors: corruption
  [[nodiscard]] static Result<std::optional<RetentionPolicy>> policy_in(const AggregateId& definition,
                                                                        const RecordedEvent& last);
  Result<std::vector<RetentionEntry>> log(SeqNr after, std::size_t limit);
  /// The sum of a run, where something was removed. `node`: the one whose shards it was about; 0: all. Returns: with
  /// its name in the log.
  Result<RetentionResult> run(RetentionResult total, const RetentionOrder& order, std::uint32_t node = 0);

 private:
  Result<void> record(Event event);

  EventStore& store_;
};

}  // namespace evershard::cluster
