#include "evershard/actors/threads/work_pool.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace evershard::cluster {
namespace {

constexpr int long_work_niceness = 10;  ///< a ninth of the processor beside one that is not nice

thread_local WorkPool* pool_here = nullptr;
thread_local bool parted_here = false;

/// This thread's, out of a list. Not joinable: it is in another one, or somebody is about to join it.
std::thread taken_out(std::vector<std::thread>& threads) {
  const auto found = std::find_if(threads.begin(), threads.end(), [](const std::thread& thread) {
    return thread.get_id() == std::this_thread::get_id();
  });
  if (found == threads.end()) return {};
  std::thread thread = std::move(*found);
  threads.erase(found);
  return thread;
}

}  // namespace

WorkPool::WorkPool(std::size_t threads) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

WorkPool::~WorkPool() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  more_.notify_all();
  // Whoever parts now is replaced as before: what is waiting is run.
  for (std::unique_lock lock(mutex_); !threads_.empty() || !parted_.empty() || !ended_.empty();) {
    auto& threads = !threads_.empty() ? threads_ : !parted_.empty() ? parted_ : ended_;
    auto thread = std::move(threads.back());
    threads.pop_back();
    lock.unlock();
    thread.join();
    lock.lock();
  }
}

void WorkPool::part_with_this_thread() {
  if (pool_here == nullptr || std::exchange(parted_here, true)) return;
  pool_here->replace_this_thread();
  // Only this thread: on Linux a priority is a thread's.
  // Where it is not allowed, long work runs beside the short.
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), long_work_niceness);
}

void WorkPool::replace_this_thread() {
  std::vector<std::thread> ended;
  {
    const std::lock_guard lock(mutex_);
    if (auto thread = taken_out(threads_); thread.joinable()) parted_.push_back(std::move(thread));
    threads_.emplace_back([this] { serve(); });  // before the priority is lowered, which a new thread inherits
    ended.swap(ended_);
  }
  for (auto& thread : ended) thread.join();
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
  pool_here = this;
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
    if (!parted_here) continue;
    if (auto thread = taken_out(parted_); thread.joinable()) ended_.push_back(std::move(thread));
    return;
  }
}

}  // namespace evershard::cluster
