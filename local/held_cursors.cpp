#include "evershard/local/held_cursors.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace evershard::cluster {

HeldCursors::Ticket HeldCursors::leave(std::unique_ptr<storage::EventCursor> cursor) {
  const std::lock_guard lock(mutex_);
  if (closed_) return 0;
  if (!thread_.joinable()) {
    try {
      thread_ = std::thread([this] { look_after(); });
    } catch (const std::system_error&) {
      return 0;
    }
  }
  held_.push_back({++last_, Clock::now(), std::move(cursor)});
  if (!std::exchange(watching_, true)) wake_.notify_one();
  return last_;
}

std::unique_ptr<storage::EventCursor> HeldCursors::take(Ticket ticket) {
  if (ticket == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(held_.begin(), held_.end(), [&](const Held& held) { return held.ticket == ticket; });
  if (found == held_.end()) return nullptr;
  auto cursor = std::move(found->cursor);
  held_.erase(found);
  return cursor;
}

void HeldCursors::close() {
  std::list<Held> rest;
  std::thread thread;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    rest.swap(held_);
    thread.swap(thread_);
    wake_.notify_one();
  }
  if (thread.joinable()) thread.join();
}

std::size_t HeldCursors::held() const {
  const std::lock_guard lock(mutex_);
  return held_.size();
}

void HeldCursors::look_after() {
  std::unique_lock lock(mutex_);
  while (!closed_) {
    wake_.wait(lock, [&] { return closed_ || watching_; });
    wake_.wait_for(lock, idle_max_, [&] { return closed_; });
    std::list<Held> old;
    const auto before = Clock::now() - idle_max_;
    while (!held_.empty() && held_.front().since <= before) old.splice(old.end(), held_, held_.begin());
    watching_ = !held_.empty();
    lock.unlock();
    old.clear();  // unlocked: letting go of a tail frees a hundred megabytes
    lock.lock();
  }
}

}  // namespace evershard::cluster
