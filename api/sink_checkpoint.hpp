// SinkCheckpoint: how far a sink is, of which store, and who wrote it; what a writer may make of it. No database, no
// clock.

#pragma once

#include <optional>
#include <string>

#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/kept_place.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

/// One row in the sink's own database, written in the transaction of the rows that it speaks of.
struct SinkCheckpoint {
  std::string store_id;
  std::string fork_id;      ///< another one in every backup, clone and restored store
  GlobalPosition position;  ///< every event up to here has had its effect in the sink, once
  Epoch epoch;              ///< of the writer that put it there: the fencing token
  /// The event at the position: by it a store that was put back without another fork is known. All zeros: not known, or
  /// a target that does not keep it. It is not compared: where the rest is the same, it is.
  EventId event{};
  friend bool operator==(const SinkCheckpoint& a, const SinkCheckpoint& b) {
    return a.store_id == b.store_id && a.fork_id == b.fork_id && a.position == b.position && a.epoch == b.epoch;
  }
};

/// Who is about to write: for which store, and under which epoch. Of two that think they are the sink's home, the one
/// with the higher epoch is.
struct SinkWriter {
  std::string store_id;
  std::string fork_id;
  Epoch epoch;  ///< greater than that of every writer before it
};

/// What a writer puts in place of the checkpoint it found, before its first event: from then on every older writer is
/// refused.
///
/// `standing`: what stands where in the store.
///
/// Errors: invalid_argument  the sink is one of another store, or of another history of it (another fork: restored, a
///                           clone; or another event at its position: put back from an older disk): its rows may be of
///                           events that are not there
///         fenced            a writer with a higher epoch has been there, or another one with the same
///         unavailable       the sink is ahead of the watermark: this node is behind, or the store has lost events
///         those of reading the event
[[nodiscard]] Result<SinkCheckpoint> sink_taken_over(const std::optional<SinkCheckpoint>& found,
                                                     const SinkWriter& writer, GlobalPosition watermark,
                                                     const EventIdStanding& standing);

/// After a write whose outcome is unknown: whether it happened. Errors: fenced: somebody else has written since
[[nodiscard]] Result<bool> sink_was_written(const std::optional<SinkCheckpoint>& found,
                                            const std::optional<SinkCheckpoint>& expected, const SinkCheckpoint& next);

}  // namespace evershard
