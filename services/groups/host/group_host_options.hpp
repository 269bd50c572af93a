// GroupHostOptions: what a GroupHost needs to know beside its store.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard::cluster {

struct GroupHostOptions {
  std::string fork_id{};  ///< of the store: by it one that was restored is told from the one it was copied from
  /// Whether this process may host the group of this aggregate, and nobody else does. Returns: since when, as a number
  /// that changes with each time it may anew: what was known before then may be old. Absent: always. Errors:
  /// unavailable, wrong_shard
  std::function<Result<std::uint64_t>(const AggregateId& group)> at_home{};
  /// Waits until what was written to this aggregate before, by whomever, is read: asked before a group is loaded.
  /// Absent: it always is.
  std::function<Result<void>(const AggregateId& group)> settled{};
  /// Keeps a group's state; refuses where this is not its home any more since `term`, as at_home said it. `done`: once,
  /// from any thread, or never. Must not wait: others' states are kept meanwhile. Absent: EventStore::put_snapshot.
  std::function<void(Snapshot state, std::uint64_t term, std::function<void(Result<void>)> done)> keep{};
  std::chrono::milliseconds keep_most = std::chrono::seconds(10);  ///< then its outcome is unknown
  /// Reads an event again. `hash`: of its aggregate, by which its shard goes, or of its id where it has none; absent:
  /// not known. Absent: EventStore::event_at.
  std::function<Result<RecordedEvent>(GlobalPosition position, std::optional<std::uint64_t> hash)> event_at{};
  /// Another number each time events were removed or payloads erased: what was read before is read again before it is
  /// given out. Quick. Absent: never.
  std::function<std::uint64_t()> rewritten{};
  /// Told that a group's place fell back, because the store was restored. Absent: nobody is told.
  std::function<void(const Error&)> warn{};
  std::size_t cached_bytes_max =
      16u << 20;  ///< of events that were read and not given out, a group; what is more is read again
  std::chrono::milliseconds kept_every = std::chrono::seconds(5);   ///< of what was looked at while nothing was settled
  std::chrono::milliseconds retry_after = std::chrono::seconds(1);  ///< when reading failed
};

}  // namespace evershard::cluster
