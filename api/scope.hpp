// Scope: what a caller may do.

#pragma once

#include <cstdint>

namespace evershard {

enum class Scope : std::uint8_t { read = 1, append = 2, admin = 4 };

/// Both are needed.
constexpr Scope operator|(Scope a, Scope b) {
  return static_cast<Scope>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}

}  // namespace evershard
