// WorkPool: a few threads for what may wait for the disk, so that network threads never do.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace evershard::cluster {

/// First come, first served; whoever has more to do gives the next piece back to the end, so that a long read delays
/// others by one page. Bounded by its users: each has at most one piece waiting.
class WorkPool {
 public:
  explicit WorkPool(std::size_t threads);
  /// Runs what is waiting, then ends.
  ~WorkPool();
  WorkPool(const WorkPool&) = delete;

  /// `work` must not throw. From any thread.
  void run(std::function<void()> work);
  [[nodiscard]] std::size_t waiting() const;

  /// Asked by a piece of work that turns out to take long: another thread takes this one's place in its pool; this one
  /// gets a lower priority and ends with its piece. In a thread that is no pool's: nothing happens.
  static void part_with_this_thread();

 private:
  void serve();
  void replace_this_thread();

  mutable std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> work_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
  std::vector<std::thread> parted_;  ///< at their last piece
  std::vector<std::thread> ended_;   ///< behind it: to be joined
};

}  // namespace evershard::cluster
