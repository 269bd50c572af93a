// Time since the machine was started, with the time in which it slept: what a lease is measured by.

#pragma once

#include <time.h>

#include <chrono>
#include <functional>

namespace evershard::cluster {

using BootTime = std::chrono::nanoseconds;
using BootClock = std::function<BootTime()>;

[[nodiscard]] inline BootTime boot_time() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace evershard::cluster
