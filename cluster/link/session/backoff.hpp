// Backoff: how long to wait before the next dial.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace evershard::cluster {

/// Doubles from `min` to `max`, and takes between a half and all of that, so that those who lost a peer together do not
/// come back together.
class Backoff {
 public:
  Backoff(std::chrono::milliseconds min, std::chrono::milliseconds max) : min_(min), max_(max), next_(min) {}

  /// `random`: any 64 bits
  std::chrono::microseconds failed(std::uint64_t random) {
    const std::chrono::microseconds whole = next_;
    next_ = next_ > max_ / 2 ? max_ : next_ * 2;
    const auto half = static_cast<std::uint64_t>(whole.count()) / 2;
    return whole - std::chrono::microseconds(half == 0 ? 0 : random % (half + 1));
  }
  /// A session lasted: the next dial after it comes soon.
  void succeeded() { next_ = min_; }

 private:
  const std::chrono::milliseconds min_;
  const std::chrono::milliseconds max_;
  std::chrono::milliseconds next_;
};

}  // namespace evershard::cluster
