// Pace: how often something may happen: so many at once, and so many a second. Decisions only.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace evershard::http2 {

struct PaceBound {
  std::uint32_t at_once = 0;
  std::uint32_t a_second = 0;
};

class Pace {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Pace(PaceBound bound) : bound_(bound), left_(bound.at_once) {}

  /// Counts one. Returns: false: it is one too many.
  [[nodiscard]] bool take(Clock::time_point now) {
    if (last_ != Clock::time_point()) {
      const auto passed = std::chrono::duration<double>(std::max(now - last_, Clock::duration::zero())).count();
      left_ = std::min<double>(bound_.at_once, left_ + passed * bound_.a_second);
    }
    last_ = now;
    if (left_ < 1) return false;
    left_ -= 1;
    return true;
  }

 private:
  const PaceBound bound_;
  double left_;
  Clock::time_point last_{};
};

}  // namespace evershard::http2
