// WorkThreads: what has to wait for the disk or for other nodes, done beside the thread that decides.

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace evershard::cluster {

/// First come, first served. On destruction what was given is done, then the threads end.
class WorkThreads {
 public:
  explicit WorkThreads(std::size_t threads);
  ~WorkThreads();
  WorkThreads(const WorkThreads&) = delete;

  void run(std::function<void()> work);

 private:
  void loop();

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> work_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace evershard::cluster
