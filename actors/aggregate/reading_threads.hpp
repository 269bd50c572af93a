// ReadingThreads: blocking reads, off the actors' and the writers' path.

#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace evershard::actors {

/// What is run in order of arrival, by as many threads as there are. With none, by whoever calls run_one():
/// deterministic.
class ReadingThreads {
 public:
  explicit ReadingThreads(std::size_t threads);
  ~ReadingThreads() { stop(); }
  ReadingThreads(const ReadingThreads&) = delete;

  /// Stopped: the work is dropped.
  void run(std::function<void()> work);
  /// Runs what waits first, in this thread. Returns: whether there was anything.
  bool run_one();
  /// What was begun is finished, what waits is dropped.
  void stop();

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> waiting_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace evershard::actors
