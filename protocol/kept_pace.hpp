// How often a state is kept of which little changes at a time.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace evershard {

/// How long to wait until the next one, behind a state of so many bytes of which so many were written. A small state is
/// written for each settlement. No more than 2 MiB a second are written: of a large state (much is parked, for many
/// different reasons) that is what changed, and now and then all of it. To find out what changed, all of it is looked
/// at, a tenth of the time at most. What is settled meanwhile goes together.
[[nodiscard]] constexpr std::chrono::milliseconds pace_behind(std::size_t state_bytes, std::size_t written_bytes) {
  constexpr std::size_t small = 64u << 10, written_per_ms = 2'048, looked_at_per_ms = 100u << 10;
  const auto beyond = [](std::size_t bytes) { return bytes <= small ? 0 : bytes - small; };
  return std::chrono::milliseconds(
      std::max(beyond(written_bytes) / written_per_ms, beyond(state_bytes) / looked_at_per_ms));
}

}  // namespace evershard
