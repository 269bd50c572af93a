// InFlight: keeps so much under way from one client thread; answers come on the store's threads.

#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

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
    if (count_.fetch_sub(1, std::memory_order_acq_rel) == most_) count_.notify_one();
  }
  void drain() {
    for (auto now = count_.load(); now != 0; now = count_.load()) {
      if (now >= most_)
        count_.wait(now);
      else
        std::this_thread::yield();
    }
  }

 private:
  const std::uint32_t most_;
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace evershard::bench
