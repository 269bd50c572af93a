#include "evershard/cluster/node/work_threads.hpp"

#include <utility>

namespace evershard::cluster {

WorkThreads::WorkThreads(std::size_t threads) {
  for (std::size_t i = 0; i != threads; ++i) threads_.emplace_back([this] { loop(); });
}

WorkThreads::~WorkThreads() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  more_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void WorkThreads::run(std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
  }
  more_.notify_one();
}

void WorkThreads::loop() {
  for (std::unique_lock lock(mutex_);;) {
    more_.wait(lock, [this] { return stopping_ || !work_.empty(); });
    if (work_.empty()) return;
    auto work = std::move(work_.front());
    work_.pop_front();
    lock.unlock();
    work();
    lock.lock();
  }
}

}  // namespace evershard::cluster
