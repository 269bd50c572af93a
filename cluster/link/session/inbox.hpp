// Inbox: from many threads to one, in the sequence in which it was put in.

#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace evershard::cluster {

/// A queue between threads. The consumer is woken once, and not again until it has taken the items.
template <class T>
class Inbox {
 public:
  /// `wake`: called without a lock held, from any thread; until close() has returned.
  explicit Inbox(std::function<void()> wake) : wake_(std::move(wake)) {}
  Inbox(const Inbox&) = delete;

  /// Returns: false: it is closed, `item` was not taken
  bool put(T& item) {
    std::unique_lock lock(mutex_);
    if (closed_) return false;
    items_.push_back(std::move(item));
    if (std::exchange(woken_, true)) return true;
    ++waking_;
    lock.unlock();
    wake_();
    lock.lock();
    --waking_;
    return true;
  }
  bool put(T&& item) { return put(static_cast<T&>(item)); }

  /// Everything. `into` is emptied first, and its memory used again.
  void take(std::vector<T>& into) {
    into.clear();
    const std::lock_guard lock(mutex_);
    woken_ = false;
    items_.swap(into);
  }

  /// Takes no further items. Items that are inside can still be taken out.
  void close() {
    std::unique_lock lock(mutex_);
    closed_ = true;
    while (waking_ > 0) {
      lock.unlock();
      std::this_thread::yield();
      lock.lock();
    }
  }

 private:
  const std::function<void()> wake_;
  std::mutex mutex_;
  std::vector<T> items_;
  bool woken_ = false;
  bool closed_ = false;
  std::size_t waking_ = 0;
};

}  // namespace evershard::cluster
