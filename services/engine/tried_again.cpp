#include "evershard/services/engine/tried_again.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace evershard::cluster {
namespace {

constexpr std::chrono::milliseconds tried_first{1'000};
constexpr std::chrono::milliseconds tried_most{30'000};

}  // namespace

bool TriedAgain::works(const std::function<Result<void>()>& work) {
  const auto done = work();
  const bool says = !done && warn_ && std::exchange(said_, done.error().what) != done.error().what;
  {
    const std::lock_guard lock(mutex_);
    fails_ = !done;
  }
  if (says) warn_(Error(done.error().code, what_ + ": " + done.error().what));
  return done.has_value();
}

void TriedAgain::begin(std::function<Result<void>()> work) {
  if (works(work)) return;
  const std::lock_guard lock(mutex_);
  if (stopping_ || thread_.joinable()) return;
  thread_ = std::thread([this, work = std::move(work)] {
    for (auto pause = tried_first;; pause = std::min(2 * pause, tried_most)) {
      {
        std::unique_lock waiting(mutex_);
        changed_.wait_for(waiting, pause, [this] { return stopping_; });
        if (stopping_) return;
      }
      if (works(work)) return;
    }
  });
}

bool TriedAgain::fails() const {
  const std::lock_guard lock(mutex_);
  return fails_;
}

void TriedAgain::stop() {
  std::thread thread;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    thread.swap(thread_);
  }
  changed_.notify_all();
  if (thread.joinable()) thread.join();
}

}  // namespace evershard::cluster
