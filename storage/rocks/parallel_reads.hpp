// ParallelReads: the rows of a batch are read by several threads.

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

/// RocksDB 7.8 as Debian builds it reads one block after the other, and takes 3 to 5 us for a row even out of memory.
/// So a batch of many rows is read in pieces, by its reader and threads of our own: as many as half the processors, two
/// at least. Where the last batch came from the disk, it is eight: a disk answers eight reads in little more than the
/// time of one.
///
/// Any thread. Its threads are started when they are needed for the first time.
class ParallelReads {
 public:
  static constexpr std::size_t threads = 8;  ///< with the reader's, from a disk

  /// What the calling thread has had read from a disk so far, in blocks of 512 bytes.
  using BlocksRead = std::uint64_t (*)();
  static std::uint64_t blocks_read();

  explicit ParallelReads(unsigned processors = std::thread::hardware_concurrency(), BlocksRead counted = &blocks_read);
  ParallelReads(const ParallelReads&) = delete;
  ~ParallelReads();

  /// Reads `count` rows by calls of `read(from, until)`, here and perhaps in other threads; returns when all are done.
  void read(std::size_t count, const std::function<void(std::size_t from, std::size_t until)>& read);
  [[nodiscard]] bool cold() const { return cold_.load(std::memory_order_relaxed); }

 private:
  class Pieces;
  void help(const std::shared_ptr<Pieces>& pieces, std::size_t hands);
  void work();
  struct Plan {
    std::size_t piece;   ///< rows
    std::size_t others;  ///< threads, beside the reader's
  };
  [[nodiscard]] Plan plan(std::size_t count) const;

  const std::size_t warm_threads_;
  const BlocksRead blocks_read_;
  std::atomic<bool> cold_{false};
  std::mutex mutex_;
  std::condition_variable wanted_;
  std::deque<std::shared_ptr<Pieces>> waiting_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace evershard::storage
