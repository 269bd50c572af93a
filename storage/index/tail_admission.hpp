// TailAdmission: from how far sealing lags behind to what appends are told. Plain arithmetic, shared by both stores.

#pragma once

#include "evershard/storage/store.hpp"

namespace evershard::storage {

/// `lag`: 1 is one full tail in memory; a second may fill while the first is being sealed.
inline constexpr double lag_slow = 1.5;
inline constexpr double lag_full = 2;
inline constexpr std::uint32_t slow_delay_us_min = 100;
inline constexpr std::uint32_t slow_delay_us_max = 50'000;

/// Open below 1.5, then slow with a delay that grows with the square of what is above it, full at 2.
Admission admission_of(double lag);

/// Any quantity with two thresholds, on the same scale.
constexpr double lag_of(double value, double slow, double full) {
  return value < slow ? value / slow * lag_slow : lag_slow + (value - slow) / (full - slow) * (lag_full - lag_slow);
}

}  // namespace evershard::storage
