#include "evershard/cluster/serving/work_pool.hpp"

#include <utility>

namespace evershard::serving {

WorkPool::WorkPool(std::size_t threads) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

WorkPool::~WorkPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  more_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void WorkPool::run(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
  }
  more_.notify_one();
}

std::size_t WorkPool::waiting() const {
  const std::lock_guard lock(mutex_);
  return work_.size();
}

void WorkPool::serve() {
  std::unique_lock lock(mutex_);
  while (true) {
    more_.wait(lock, [this] { return ending_ || !work_.empty(); });
    if (work_.empty()) return;
    auto work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
    work = nullptr;  // what it holds goes outside of the lock
    lock.lock();
  }
}

}  // namespace evershard::serving
