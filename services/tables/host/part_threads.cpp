#include "evershard/services/tables/host/part_threads.hpp"

#include <algorithm>
#include <optional>

namespace evershard::cluster {

PartThreads::~PartThreads() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void PartThreads::each(std::size_t count, const std::function<void(std::size_t)>& task) {
  if (count == 0) return;
  const auto round = std::make_shared<Round>();
  round->task = &task;
  round->count = count;
  round->work = storage::ReadWork::current();
  {
    const std::lock_guard lock(mutex_);
    rounds_.push_back(round);
    while (threads_.size() < std::min(threads_max_, count - 1)) threads_.emplace_back([this] { help(); });
  }
  changed_.notify_all();
  work(*round);
  std::unique_lock lock(mutex_);
  std::erase(rounds_, round);
  changed_.wait(lock, [&] { return round->done == round->count; });
}

void PartThreads::work(Round& round) {
  for (auto i = round.next++; i < round.count; i = round.next++) {
    (*round.task)(i);
    bool last = false;
    {
      const std::lock_guard lock(mutex_);
      last = ++round.done == round.count;
    }
    if (last) changed_.notify_all();
  }
}

void PartThreads::help() {
  for (std::unique_lock lock(mutex_);;) {
    changed_.wait(lock, [&] { return closing_ || !rounds_.empty(); });
    if (closing_) return;
    const auto round = rounds_.front();
    lock.unlock();
    {
      std::optional<storage::ReadWork::Scope> at_work;
      if (round->work != nullptr && round->next < round->count)
        at_work.emplace(*round->work, storage::ReadWork::Hand::helping);
      work(*round);
    }
    lock.lock();
    std::erase(rounds_, round);
  }
}

}  // namespace evershard::cluster
