// WorkPool: a few threads for what may wait for the disk, so that network threads never do.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace evershard::serving {

/// First come, first served; whoever has more to do gives the next piece back to the end, so that a long read delays others by one
/// page. Bounded by its users: each has at most one piece waiting.
class WorkPool {
 public:
  explicit WorkPool(std::size_t threads);
  /// Runs what is waiting, then ends.
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;

  /// `work` must not throw. From any thread.
  void run(std::function<void()> work);
  [[nodiscard]] std::size_t waiting() const;

 private:
  void serve();

  mutable std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> work_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace evershard::serving
