// SealingQueue: appends that wait for a key wait beside their caller, who may be a thread that others wait for.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/services/erasure/subject_keys.hpp"

namespace evershard::cluster {

struct SealingQueueOptions {
  std::size_t events_max = 50'000;  ///< that wait; beyond these: `overloaded`
  std::size_t bytes_max = 64u << 20;
  /// Is told which keys all waiting appends are going to need, before the first of them is sealed, to ask for the keys
  /// together. Null: each append asks for its own keys.
  std::function<void(KeysWanted)> fetch{};
};

/// What one thread sends stays in order: while something is in the queue, all goes there.
class SealingQueue {
 public:
  explicit SealingQueue(SealingQueueOptions options = {}) : options_(std::move(options)), thread_([this] { loop(); }) {}
  ~SealingQueue() { stop(); }
  SealingQueue(const SealingQueue&) = delete;

  /// The queue holds an append: one that comes now stands behind it.
  [[nodiscard]] bool busy() const { return left_.load(std::memory_order_acquire) != 0; }
  /// Of this thread, who is about to wait for something else. Never of the queue's own.
  [[nodiscard]] bool has_mine() const;
  /// `append`: what it is about. Errors: overloaded: too much waits; `work` is not called
  [[nodiscard]] Result<void> run(const Append& append, std::function<void()> work);
  /// Does the work that is in the queue, and work that comes until then; later work is done in its caller's thread.
  /// Idempotent; not to be called from work that the queue runs.
  void stop();

 private:
  struct Work {
    std::function<void()> work;
    KeysWanted wanted;
    std::size_t events = 0;
    std::size_t bytes = 0;
    std::thread::id sender;
  };

  void loop();
  void done_with(const Work& one);

  const SealingQueueOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable more_;
  std::deque<Work> work_;
  bool stopping_ = false;
  std::atomic<std::size_t> left_{0};  ///< not done yet
  std::size_t events_ = 0;            ///< of those
  std::size_t bytes_ = 0;
  std::map<std::thread::id, std::size_t> senders_;
  std::once_flag joined_;
  std::thread thread_;
};

}  // namespace evershard::cluster
