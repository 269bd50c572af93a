// SealingQueue: appends that wait for a key wait beside their caller, who may be a thread that others wait for.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace evershard::cluster {

/// What one thread sends stays in order: while something is in the queue, all goes there.
class SealingQueue {
 public:
  SealingQueue() : thread_([this] { loop(); }) {}
  ~SealingQueue() { stop(); }
  SealingQueue(const SealingQueue&) = delete;

  /// Whether this one has to go there: it may wait, or stands behind what does.
  [[nodiscard]] bool has_to(bool may_wait) const { return may_wait || left_.load(std::memory_order_acquire) != 0; }
  void run(std::function<void()> work);
  /// What is in it is done; what comes later is done in its caller's thread. Idempotent; not from what it runs.
  void stop();

 private:
  void loop();

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> work_;
  bool stopping_ = false;
  std::atomic<std::size_t> left_{0};  ///< not done yet
  std::once_flag joined_;
  std::thread thread_;
};

}  // namespace evershard::cluster
