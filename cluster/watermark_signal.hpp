// WatermarkSignal: who waits for the watermark is woken when it moves; nobody polls.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "evershard/protocol/numbers.hpp"

namespace evershard::cluster {

/// One thread moves it, any number wait.
class WatermarkSignal {
 public:
  explicit WatermarkSignal(GlobalPosition start) : watermark_(start.value) {}

  /// Shape: never goes back. Cost: an atomic store while nobody waits.
  void advance(GlobalPosition watermark);
  /// Wakes everybody, now and ever after.
  void close();
  /// Wakes whoever waits, to look at its own `cancelled`.
  void nudge();

  [[nodiscard]] GlobalPosition watermark() const { return GlobalPosition(watermark_.load()); }

  enum class Waited : std::uint8_t { reached, timed_out, cancelled, closed };
  /// Reached wins over all others, and is never told before the watermark is there.
  [[nodiscard]] Waited wait(GlobalPosition at_least, std::chrono::milliseconds timeout, const std::atomic<bool>& cancelled);

 private:
  std::atomic<std::uint64_t> watermark_;
  std::atomic<int> waiting_{0};
  std::mutex mutex_;
  std::condition_variable moved_;
  bool closed_ = false;
};

}  // namespace evershard::cluster
