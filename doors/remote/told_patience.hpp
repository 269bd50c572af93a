// ToldPatience: how long what a server answers as "not now" is asked for again. Decisions only: no clock.

#pragma once

#include <chrono>
#include <utility>

#include "evershard/protocol/error.hpp"

namespace evershard::remote {

/// Of one call, over all its tries. That nobody answers is another matter: it is borne until the call's time-out.
/// Source: docs/server.md, "What is tried again".
class ToldPatience {
 public:
  using Clock = std::chrono::steady_clock;
  explicit ToldPatience(std::chrono::milliseconds most) : most_(most) {}

  /// A server answered so. Returns: it may be asked again
  [[nodiscard]] bool bears(const Error& error, Clock::time_point now) {
    if (error.lasting()) return false;
    if (!std::exchange(told_, true)) since_ = now;
    return now - since_ < most_;
  }
  /// Somebody did what was asked.
  void worked() { told_ = false; }

 private:
  const std::chrono::milliseconds most_;
  bool told_ = false;
  Clock::time_point since_{};  ///< told: it was answered so first
};

}  // namespace evershard::remote
