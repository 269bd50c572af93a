// StopSignals: SIGTERM, SIGINT and SIGHUP as something to wait for, instead of something that interrupts.

#pragma once

#include <chrono>
#include <csignal>

namespace evershard::server {

enum class Asked { nothing, stop, reload };

/// Made before any thread is: threads inherit that these signals are blocked. They stay so.
class StopSignals {
 public:
  StopSignals();
  /// The next signal, or nothing where none comes in time. From one thread at a time.
  [[nodiscard]] Asked wait(std::chrono::milliseconds timeout) const;

 private:
  sigset_t set_;
};

}  // namespace evershard::server
