// EntityCounters: what happened to the aggregates of a shard, counted.

#pragma once

#include <cstdint>

namespace evershard::actors {

/// Only ever grow.
struct EntityCounters {
  std::uint64_t asked = 0;
  std::uint64_t replied = 0;      ///< answers, by kind: asked = replied + rejected + failed + those not answered yet
  std::uint64_t rejected = 0;
  std::uint64_t failed = 0;
  std::uint64_t duplicates = 0;   ///< of `replied`: with the stored reply
  std::uint64_t overloaded = 0;   ///< of `failed`: over the bound
  std::uint64_t timed_out = 0;    ///< of `failed`: outcome unknown
  std::uint64_t dropped = 0;      ///< of `failed`: never begun: time over, stopped, not loaded
  std::uint64_t cancelled = 0;    ///< of `failed`: the caller went away
  std::uint64_t stashed = 0;      ///< had to wait for loading, or for a load again
  std::uint64_t sent = 0;         ///< appends
  std::uint64_t stored = 0;
  std::uint64_t look_ups = 0;
  std::uint64_t models_read = 0;
  std::uint64_t loads = 0;        ///< that succeeded
  std::uint64_t loads_failed = 0;
  std::uint64_t replayed = 0;     ///< events
  std::uint64_t snapshots_used = 0;
  std::uint64_t snapshots_skipped = 0;  ///< other revision, damaged, ahead of the stream
  std::uint64_t snapshots = 0;          ///< sent: with an append or alone
  std::uint64_t snapshots_dropped = 0;  ///< too large or not encodable: the append went without
  std::uint64_t discarded = 0;          ///< provisional states
  std::uint64_t conflicts = 0;          ///< somebody else appended
  std::uint64_t condition_retries = 0;
  std::uint64_t outcomes_unknown = 0;
  std::uint64_t late = 0;               ///< results nobody waited for any more
  std::uint64_t passivated = 0;         ///< idle, or asked to
  std::uint64_t evicted = 0;            ///< over the limit of live ones
};

}  // namespace evershard::actors
