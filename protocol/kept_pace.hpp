// How often a state is written that is written whole each time.

#pragma once

#include <chrono>
#include <cstddef>

namespace evershard {

/// How long to wait until the next one, behind one of so many bytes. A small state is written for each settlement; of a
/// large one (much is parked, for many different reasons) no more than 2 MiB a second are written: what is settled
/// meanwhile goes together.
[[nodiscard]] constexpr std::chrono::milliseconds pace_behind(std::size_t bytes) {
  constexpr std::size_t small = 64u << 10, bytes_per_ms = 2'048;
  return std::chrono::milliseconds(bytes <= small ? 0 : (bytes - small) / bytes_per_ms);
}

}  // namespace evershard
