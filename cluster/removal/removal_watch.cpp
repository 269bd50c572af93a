#include "evershard/cluster/removal/removal_watch.hpp"

#include "evershard/protocol/retention_events.hpp"

namespace evershard::cluster {

void RemovalWatch::begin() {
  const std::lock_guard lock(mutex_);
  if (stopping_ || thread_.joinable()) return;
  thread_ = std::thread([this] {
    for (std::unique_lock waiting(mutex_); !stopping_; changed_.wait_for(waiting, looks_every)) {
      waiting.unlock();
      look();
      waiting.lock();
    }
  });
}

void RemovalWatch::stop() {
  std::thread thread;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    thread.swap(thread_);
  }
  changed_.notify_all();
  if (thread.joinable()) thread.join();
}

/// A node that is away is asked again in a moment: then everything that came meanwhile is seen.
void RemovalWatch::look() {
  const auto head = events_.head();
  if (!head || *head == looked_at_) return;
  const auto log = events_.aggregate({std::string(retention::log_type), std::string(retention::log_value)});
  if (!log && log.error().code != ErrorCode::not_found) return;
  looked_at_ = *head;
  if (!log || log->version == seen_) return;
  seen_ = log->version;
  ++changes_;
}

}  // namespace evershard::cluster
