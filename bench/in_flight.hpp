// InFlight: keeps so much under way from one client thread; answers come on the store's threads.

#pragma once

#include <atomic>
#include <cstdint>

namespace evershard::bench {

class InFlight {
 public:
  explicit InFlight(std::uint32_t most) : most_(most) {}
  void enter() {
    for (;;) {
      const auto now = count_.load(std::memory_order_acquire);
      if (now < most_) break;
      count_.wait(now, std::memory_order_acquire);
    }
    count_.fetch_add(1, std::memory_order_acq_rel);
  }
  void leave() {
    const auto before = count_.fetch_sub(1, std::memory_order_acq_rel);
    if (before == most_ || before == 1) count_.notify_one();
  }
  /// Asleep: who waits for answers takes no processor from who gives them.
  void drain() {
    for (auto now = count_.load(); now != 0; now = count_.load()) count_.wait(now);
  }

 private:
  const std::uint32_t most_;
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace evershard::bench
