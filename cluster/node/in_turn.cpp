#include "evershard/cluster/node/in_turn.hpp"

#include <utility>

namespace evershard::cluster {

void InTurn::run(std::uint32_t origin, std::function<void()> work) {
  {
    const std::lock_guard lock(mutex_);
    auto& queue = waiting_[origin];
    queue.push_back(std::move(work));
    if (queue.size() > 1) return;
  }
  threads_.run([this, origin] { next(origin); });
}

void InTurn::next(std::uint32_t origin) {
  std::unique_lock lock(mutex_);
  const auto work = std::move(waiting_[origin].front());
  lock.unlock();
  work();
  lock.lock();
  auto& queue = waiting_[origin];
  queue.pop_front();
  if (queue.empty()) {
    waiting_.erase(origin);
    return;
  }
  lock.unlock();
  threads_.run([this, origin] { next(origin); });
}

}  // namespace evershard::cluster
