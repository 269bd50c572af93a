#include "evershard/actors/aggregate/reading_threads.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <utility>

namespace evershard::actors {

ReadingThreads::ReadingThreads(std::size_t threads) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
}

void ReadingThreads::run(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    waiting_.push_back(std::move(work));
  }
  wake_.notify_one();
}

bool ReadingThreads::run_one() {
  std::function<void()> next;
  {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return false;
    next = std::move(waiting_.front());
    waiting_.pop_front();
  }
  next();
  return true;
}

void ReadingThreads::work() {
  // Behind those who append and answer: many loads at once take what they leave. A thread's own, on Linux.
  // Where it is not allowed, these threads work beside the others.
  (void)setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 5);
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return stopped_ || !waiting_.empty(); });
    if (stopped_) return;
    auto next = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    next();
    next = nullptr;
    lock.lock();
  }
}

void ReadingThreads::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    waiting_.clear();
  }
  wake_.notify_all();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

}  // namespace evershard::actors
