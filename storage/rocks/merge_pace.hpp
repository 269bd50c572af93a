// MergePace: merges wait while the disk has no room for them; what is in memory is written all the same.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <limits>
#include <mutex>

#include <rocksdb/rate_limiter.h>

namespace evershard::storage {

/// RocksDB asks it before each write of a flush and of a merge. A merge that waits has written what it has, and goes on
/// when there is room.
class MergePace final : public rocksdb::RateLimiter {
 public:
  /// `has_room`: any thread, until close().
  explicit MergePace(std::function<bool()> has_room) : has_room_(std::move(has_room)) {}

  /// Merges that somebody asked for, and who looked whether there is room, do not wait meanwhile.
  class Asked {
   public:
    explicit Asked(MergePace& pace) : pace_(pace) { ++pace_.asked_; }
    ~Asked() { --pace_.asked_; }
    Asked(const Asked&) = delete;

   private:
    MergePace& pace_;
  };
  /// Nobody waits any more: the database is being closed.
  void close();

  using rocksdb::RateLimiter::Request;
  void Request(std::int64_t bytes, rocksdb::Env::IOPriority priority, rocksdb::Statistics* of) override;
  void SetBytesPerSecond(std::int64_t) override {}
  [[nodiscard]] std::int64_t GetSingleBurstBytes() const override { return std::numeric_limits<std::int64_t>::max(); }
  [[nodiscard]] std::int64_t GetTotalBytesThrough(rocksdb::Env::IOPriority) const override { return 0; }
  [[nodiscard]] std::int64_t GetTotalRequests(rocksdb::Env::IOPriority) const override { return 0; }
  [[nodiscard]] std::int64_t GetBytesPerSecond() const override { return std::numeric_limits<std::int64_t>::max(); }

 private:
  const std::function<bool()> has_room_;
  std::atomic<int> asked_{0};
  std::mutex mutex_;
  std::condition_variable closing_;
  bool closed_ = false;
};

}  // namespace evershard::storage
