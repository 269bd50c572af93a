#include "evershard/services/erasure/sealing_queue.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "evershard/protocol/validate.hpp"
#include "evershard/services/erasure/sealing.hpp"

namespace evershard::cluster {

namespace {

thread_local const SealingQueue* queue_of_this_thread = nullptr;  // thread_ itself is being joined while others ask

}  // namespace

void SealingQueue::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  more_.notify_all();
  std::call_once(joined_, [this] { thread_.join(); });
}

bool SealingQueue::has_mine() const {
  if (!busy() || queue_of_this_thread == this) return false;
  const std::lock_guard lock(mutex_);
  return senders_.contains(std::this_thread::get_id());
}

Result<void> SealingQueue::run(const Append& append, std::function<void()> work) {
  Work one{std::move(work), keys_wanted(append), append.events.size(), bytes_of(append), std::this_thread::get_id()};
  {
    const std::lock_guard lock(mutex_);
    if (!stopping_ || left_ != 0) {  // the loop ends when it is empty: nothing overtakes what is in it
      // An append that is larger than the whole bound is taken if nothing else waits.
      if (left_ != 0 && (events_ + one.events > options_.events_max || bytes_ + one.bytes > options_.bytes_max)) {
        return refuse(ErrorCode::overloaded, std::to_string(events_) + " events of " + std::to_string(bytes_) +
                                                 " bytes wait for keys of subjects: try again later");
      }
      left_.fetch_add(1, std::memory_order_acq_rel);
      events_ += one.events;
      bytes_ += one.bytes;
      ++senders_[one.sender];
      work_.push_back(std::move(one));
      more_.notify_one();
      return {};
    }
  }
  one.work();
  return {};
}

void SealingQueue::done_with(const Work& one) {
  events_ -= one.events;
  bytes_ -= one.bytes;
  if (const auto sender = senders_.find(one.sender); --sender->second == 0) senders_.erase(sender);
  left_.fetch_sub(1, std::memory_order_acq_rel);
}

void SealingQueue::loop() {
  queue_of_this_thread = this;
  for (std::unique_lock lock(mutex_);;) {
    more_.wait(lock, [this] { return stopping_ || !work_.empty(); });
    if (work_.empty()) return;
    auto batch = std::exchange(work_, {});
    lock.unlock();
    if (options_.fetch) {
      KeysWanted all;
      for (auto& one : batch) {
        std::ranges::move(one.wanted.subjects, std::back_inserter(all.subjects));
        std::ranges::move(one.wanted.ids, std::back_inserter(all.ids));
      }
      if (!all.subjects.empty() || !all.ids.empty()) options_.fetch(std::move(all));
    }
    for (auto& one : batch) {
      one.work();
      one.work = nullptr;
      lock.lock();
      done_with(one);
      lock.unlock();
    }
    lock.lock();
  }
}

}  // namespace evershard::cluster
