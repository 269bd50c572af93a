// ColdReads: reads that have to wait for the disk wait for it together.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace evershard::storage {

/// A disk answers eight reads in little more than the time of one. So where the last batch of rows came from the disk,
/// the next is read in pieces, by threads of our own beside the reader's. One that comes from memory is read by its
/// reader: to wake others would cost more. RocksDB 7.8 as Debian builds it reads one block after the other.
///
/// Any thread. Its threads are started when they are needed for the first time.
class ColdReads {
 public:
  static constexpr std::size_t threads = 8;  ///< with the reader's

  /// What the calling thread has had read from a disk so far, in blocks of 512 bytes.
  using BlocksRead = std::uint64_t (*)();
  static std::uint64_t blocks_read();

  explicit ColdReads(BlocksRead counted = &blocks_read) : blocks_read_(counted) {}
  ColdReads(const ColdReads&) = delete;
  ~ColdReads();

  /// Reads `count` rows by calls of `read(from, until)`, here and perhaps in other threads; returns when all are done.
  void read(std::size_t count, const std::function<void(std::size_t from, std::size_t until)>& read);
  [[nodiscard]] bool cold() const { return cold_.load(std::memory_order_relaxed); }

 private:
  class Pieces;
  void help(const std::shared_ptr<Pieces>& pieces, std::size_t hands);
  void work();

  const BlocksRead blocks_read_;
  std::atomic<bool> cold_{false};
  std::mutex mutex_;
  std::condition_variable wanted_;
  std::deque<std::shared_ptr<Pieces>> waiting_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace evershard::storage
