#include "evershard/storage/rocks/merge_pace.hpp"

#include <chrono>

namespace evershard::storage {
namespace {

constexpr auto room_is_looked_for_every = std::chrono::milliseconds(200);

}  // namespace

void MergePace::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  closing_.notify_all();
}

void MergePace::Request(std::int64_t, rocksdb::Env::IOPriority priority, rocksdb::Statistics*) {
  if (priority != rocksdb::Env::IO_LOW) return;  // a flush, or a merge that writes wait for
  std::unique_lock lock(mutex_);
  while (!closed_ && asked_ == 0 && !has_room_()) closing_.wait_for(lock, room_is_looked_for_every);
}

}  // namespace evershard::storage
