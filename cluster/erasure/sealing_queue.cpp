#include "evershard/cluster/erasure/sealing_queue.hpp"

#include <utility>

namespace evershard::cluster {

void SealingQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  more_.notify_all();
  std::call_once(joined_, [this] { thread_.join(); });
}

void SealingQueue::run(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_) {
      left_.fetch_add(1, std::memory_order_acq_rel);
      work_.push_back(std::move(work));
      more_.notify_one();
      return;
    }
  }
  work();
}

void SealingQueue::loop() {
  for (std::unique_lock lock(mutex_);;) {
    more_.wait(lock, [this] { return stopping_ || !work_.empty(); });
    if (work_.empty()) return;
    auto work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
    work = nullptr;
    left_.fetch_sub(1, std::memory_order_acq_rel);
    lock.lock();
  }
}

}  // namespace evershard::cluster
