// AppendsBeside: one client that appends one event after the other, while something else is measured.

#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "evershard/api/event_store.hpp"
#include "evershard/bench/report.hpp"

namespace evershard::bench {

/// Owner: the store outlives it.
class AppendsBeside {
 public:
  explicit AppendsBeside(EventStore& store)
      : thread_([this, &store] {
          for (std::uint64_t n = 0; !stop_; ++n)
            if (store.append(Append{}.event("other-" + std::to_string(n % 100), "bench.added", "1"))) ++appended_;
        }) {}
  ~AppendsBeside() {
    stop_ = true;
    thread_.join();
  }
  AppendsBeside(const AppendsBeside&) = delete;

  /// Appends a second while `work()` runs.
  template <class Work>
  [[nodiscard]] double rate_during(Work work) const {
    const double began = now_seconds();
    const auto first = appended_.load();
    work();
    return static_cast<double>(appended_.load() - first) / (now_seconds() - began);
  }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> appended_{0};
  std::thread thread_;
};

}  // namespace evershard::bench
