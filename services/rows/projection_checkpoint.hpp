// ProjectionCheckpoint: how far the rows of a projection are, and of which store.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "evershard/protocol/event_id.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::storage {

/// Which store rows are of. A backup, a clone, a restored store has the same id and another fork.
struct ProjectionOwner {
  EventId store{};
  EventId fork{};
  friend bool operator==(const ProjectionOwner&, const ProjectionOwner&) = default;
};

/// Kept with the rows, and written with them in one step.
struct ProjectionCheckpoint {
  GlobalPosition position{};     ///< every event up to here has had its effect, once
  std::uint64_t definition = 0;  ///< by which version of its definition the rows were made
  bool complete = false;         ///< it has reached the watermark once: readers may be moved to it
  std::string state{};           ///< the projection's own: counters, the last number; small
  EventId event{};               ///< which event is at the position; zeros: not known
  friend bool operator==(const ProjectionCheckpoint&, const ProjectionCheckpoint&) = default;
};

/// Source: docs/internals/on-disk-format.md, "Projections"
[[nodiscard]] std::string encode(const ProjectionCheckpoint& checkpoint, const ProjectionOwner& owner);

struct OwnedCheckpoint {
  ProjectionOwner owner{};
  ProjectionCheckpoint checkpoint{};
};
/// Errors: corruption
[[nodiscard]] Result<OwnedCheckpoint> decode_checkpoint(std::string_view bytes);

}  // namespace evershard::storage
