// EntityCounters: what happened to the aggregates of a shard, counted.

#pragma once

#include <cstdint>

namespace evershard::actors {

/// Only ever grow.
struct EntityCounters {
  std::uint64_t asked = 0;
  std::uint64_t replied = 0;  ///< answers, by kind: asked = replied + rejected + failed + those not answered yet
  std::uint64_t rejected = 0;
  std::uint64_t failed = 0;
  std::uint64_t duplicates = 0;  ///< of `replied`: with the stored reply
  std::uint64_t overloaded = 0;  ///< of `failed`: over the bound
  std::uint64_t timed_out = 0;   ///< of `failed`: outcome unknown
  std::uint64_t dropped = 0;     ///< of `failed`: never begun: time over, stopped, not loaded
  std::uint64_t cancelled = 0;   ///< of `failed`: the caller went away
  std::uint64_t stashed = 0;     ///< had to wait for loading, or for a load again
  std::uint64_t sent = 0;        ///< appends
  std::uint64_t stored = 0;
  std::uint64_t look_ups = 0;
  std::uint64_t models_read = 0;
  std::uint64_t loads = 0;  ///< that succeeded
  std::uint64_t loads_failed = 0;
  std::uint64_t replayed = 0;  ///< events
  std::uint64_t snapshots_used = 0;
  std::uint64_t snapshots_skipped = 0;  ///< other revision, damaged, ahead of the stream
  std::uint64_t snapshots = 0;          ///< sent: with an append or alone
  std::uint64_t snapshots_dropped = 0;  ///< too large or not encodable: the append went without
  std::uint64_t discarded = 0;          ///< provisional states
  std::uint64_t conflicts = 0;          ///< somebody else appended
  std::uint64_t condition_retries = 0;
  std::uint64_t outcomes_unknown = 0;
  std::uint64_t late = 0;        ///< results nobody waited for any more
  std::uint64_t passivated = 0;  ///< idle, or asked to
  std::uint64_t evicted = 0;     ///< over the limit of live ones

  EntityCounters& operator+=(const EntityCounters& other) {
    asked += other.asked;
    replied += other.replied;
    rejected += other.rejected;
    failed += other.failed;
    duplicates += other.duplicates;
    overloaded += other.overloaded;
    timed_out += other.timed_out;
    dropped += other.dropped;
    cancelled += other.cancelled;
    stashed += other.stashed;
    sent += other.sent;
    stored += other.stored;
    look_ups += other.look_ups;
    models_read += other.models_read;
    loads += other.loads;
    loads_failed += other.loads_failed;
    replayed += other.replayed;
    snapshots_used += other.snapshots_used;
    snapshots_skipped += other.snapshots_skipped;
    snapshots += other.snapshots;
    snapshots_dropped += other.snapshots_dropped;
    discarded += other.discarded;
    conflicts += other.conflicts;
    condition_retries += other.condition_retries;
    outcomes_unknown += other.outcomes_unknown;
    late += other.late;
    passivated += other.passivated;
    evicted += other.evicted;
    return *this;
  }
  /// `see(name, count)` for each.
  template <class See>
  void each(See see) const {
    see("asked", asked);
    see("replied", replied);
    see("rejected", rejected);
    see("failed", failed);
    see("duplicates", duplicates);
    see("overloaded", overloaded);
    see("timed_out", timed_out);
    see("dropped", dropped);
    see("cancelled", cancelled);
    see("stashed", stashed);
    see("sent", sent);
    see("stored", stored);
    see("look_ups", look_ups);
    see("models_read", models_read);
    see("loads", loads);
    see("loads_failed", loads_failed);
    see("replayed", replayed);
    see("snapshots_used", snapshots_used);
    see("snapshots_skipped", snapshots_skipped);
    see("snapshots", snapshots);
    see("snapshots_dropped", snapshots_dropped);
    see("discarded", discarded);
    see("conflicts", conflicts);
    see("condition_retries", condition_retries);
    see("outcomes_unknown", outcomes_unknown);
    see("late", late);
    see("passivated", passivated);
    see("evicted", evicted);
  }
};

}  // namespace evershard::actors
