// PartThreads: asks of a table's parts, several at the same time.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "evershard/storage/index/read_work.hpp"

namespace evershard::cluster {

/// Threads begin with the first each(). Who asks works too, so that asks that wait keep no other from getting on. Any
/// thread.
class PartThreads {
 public:
  explicit PartThreads(std::size_t threads) : threads_max_(threads) {}
  ~PartThreads();

  /// Calls `task` with 0 .. count - 1, and returns when all have returned. Shape: it does not throw.
  void each(std::size_t count, const std::function<void(std::size_t)>& task);

 private:
  struct Round {
    const std::function<void(std::size_t)>* task;
    std::size_t count;
    storage::ReadWork* work;  ///< of who asks: helpers spend of it too
    std::atomic<std::size_t> next{0};
    std::size_t done = 0;  ///< under the mutex
  };
  /// Calls the round's task until no call of the round is left to begin.
  void work(Round& round);
  void help();

  const std::size_t threads_max_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  std::deque<std::shared_ptr<Round>> rounds_;
  std::vector<std::thread> threads_;
};

}  // namespace evershard::cluster
