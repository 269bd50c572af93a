// WatermarkWatch: the watermark as everybody sees it, and who wants to know when it moves.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>

#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::actors {

/// Called with the new watermark from the thread that moved it: must be short, must not throw or call the watch.
using WatermarkListener = std::function<void(GlobalPosition)>;

/// One thread at a time moves it, any number wait or listen. Cost: an atomic store while nobody does.
class WatermarkWatch {
 public:
  explicit WatermarkWatch(GlobalPosition start) : watermark_(start.value) {}

  [[nodiscard]] GlobalPosition watermark() const { return GlobalPosition{watermark_.load()}; }
  /// Shape: never goes back.
  void advance(GlobalPosition watermark);
  /// Nothing will move any more: whoever waits gets `why`, now and ever after. The first one counts.
  void close(Error why);

  /// `cancelled` is looked at whenever somebody is woken. Errors: timeout; cancelled; what it was closed with
  [[nodiscard]] Result<GlobalPosition> wait_for(GlobalPosition position, std::chrono::milliseconds timeout,
                                                const std::atomic<bool>* cancelled = nullptr);
  /// Wakes whoever waits, to look at its own `cancelled`.
  void nudge();

  /// Hears of every move from now on; look at watermark() once after this call. Returns: what unlisten() takes.
  [[nodiscard]] std::uint64_t listen(WatermarkListener listener);
  /// On return it is not being called and will not be.
  void unlisten(std::uint64_t id);

 private:
  std::atomic<std::uint64_t> watermark_;
  std::atomic<std::uint32_t> interested_{0};
  std::mutex mutex_;
  std::condition_variable moved_;
  std::map<std::uint64_t, WatermarkListener> listeners_;
  std::uint64_t last_id_ = 0;
  std::optional<Error> closed_;
};

}  // namespace evershard::actors
