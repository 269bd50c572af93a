// Jitter: random numbers that a seed repeats.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace evershard::actors {

/// Source: splitmix64 (Steele, Lea, Flood 2014). Shape: seeded at random by whoever wants different processes to
/// differ.
class Jitter {
 public:
  explicit Jitter(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15ull);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }

  /// Full jitter: anything from 0 to `min * factor^tries`, at most `max`.
  std::chrono::microseconds delay(std::chrono::milliseconds min, std::chrono::milliseconds max, unsigned tries,
                                  unsigned factor) {
    std::chrono::microseconds bound = min;
    for (; tries > 0 && bound < max; --tries) bound *= factor;
    bound = std::min<std::chrono::microseconds>(bound, max);
    return std::chrono::microseconds(next() % (static_cast<std::uint64_t>(bound.count()) + 1));
  }

 private:
  std::uint64_t state_;
};

}  // namespace evershard::actors
