// CopyCheckpoint: how far a copy is, of which store, into which one; and whether it may go on from there.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/kept_place.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::cluster {

/// Which store, and which copy of it: a backup, a clone and a restored store have another fork id.
struct StoreName {
  std::string store_id;
  std::string fork_id;
  friend bool operator==(const StoreName&, const StoreName&) = default;
};

/// Everything the filter takes of the source up to `position` is in the target. Kept in the target, as the snapshot of
/// `$copy-NAME`.
struct CopyCheckpoint {
  StoreName source;
  StoreName target;
  std::string filter;                ///< CopyFilter::text()
  GlobalPosition position;           ///< in the source
  GlobalPosition target_position{};  ///< the target's watermark when this was written, or less
  std::uint64_t events = 0;          ///< copied so far
  std::uint64_t gone = 0;            ///< left out: their content had been removed or erased
  EventId event{};                   ///< at `position` of the source; zeros: not known
  EventId target_event{};            ///< at `target_position` of the target
  friend bool operator==(const CopyCheckpoint&, const CopyCheckpoint&) = default;
};

[[nodiscard]] std::string to_json(const CopyCheckpoint& checkpoint);
/// Errors: corruption
[[nodiscard]] Result<CopyCheckpoint> read_copy_checkpoint(std::string_view json);

/// One of the two stores of a copy, as the store is now.
struct CopySide {
  StoreName name;
  GlobalPosition head;
  EventIdStanding standing{};  ///< what stands where
};

/// Whether a copy may begin. Errors: invalid_argument: source and target are one store
[[nodiscard]] Result<void> check_begin(const CopySide& source, const CopySide& target);
/// Whether a copy may go on behind its checkpoint.
///
/// Errors: invalid_argument  it is the checkpoint of another source, of another filter, or source or target is not the
///                           fork it was (restored, or a clone), or has another event where the copy stood (put back
///                           from an older disk). What was copied may not be what is there now
///         unavailable       source or target is behind what the checkpoint says of it; those of reading an event
[[nodiscard]] Result<void> check_resume(const CopyCheckpoint& checkpoint, std::string_view filter,
                                        const CopySide& source, const CopySide& target);

}  // namespace evershard::cluster
