#include "evershard/cluster/watermark_signal.hpp"

#include <algorithm>

#include "evershard/protocol/check.hpp"

namespace evershard::cluster {

void WatermarkSignal::advance(GlobalPosition watermark) {
  EVERSHARD_CHECK(watermark.value >= watermark_.load(std::memory_order_relaxed), "the watermark never goes back");
  watermark_.store(watermark.value);
  // Both sides first say (watermark_, waiting_), then look at the other's, in one total order: one of the two sees the
  // other, so no waiter is missed and an idle one costs nothing.
  if (waiting_.load() > 0) nudge();
}

void WatermarkSignal::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  moved_.notify_all();
}

void WatermarkSignal::nudge() {
  const std::lock_guard lock(mutex_);
  moved_.notify_all();
}

WatermarkSignal::Waited WatermarkSignal::wait(GlobalPosition at_least, std::chrono::milliseconds timeout,
                                              const std::atomic<bool>& cancelled) {
  if (watermark() >= at_least) return Waited::reached;
  // Clamped: the longest milliseconds overflow the clock.
  const auto deadline = std::chrono::steady_clock::now() +
                        std::clamp<std::chrono::milliseconds>(timeout, std::chrono::milliseconds(0), std::chrono::hours(24 * 365));
  std::unique_lock lock(mutex_);
  ++waiting_;
  auto waited = Waited::timed_out;
  for (bool late = false;; late = moved_.wait_until(lock, deadline) == std::cv_status::timeout) {
    if (watermark() >= at_least) waited = Waited::reached;
    else if (closed_) waited = Waited::closed;
    else if (cancelled.load()) waited = Waited::cancelled;
    else if (!late) continue;
    break;
  }
  --waiting_;
  return waited;
}

}  // namespace evershard::cluster
