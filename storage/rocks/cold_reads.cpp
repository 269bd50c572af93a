#include "evershard/storage/rocks/cold_reads.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace evershard::storage {
namespace {

constexpr std::size_t piece_min = 2;
constexpr std::size_t worth_it = 8;    // rows: fewer are read as they are
constexpr std::size_t warm_share = 8;  // one row of so many from the disk is warm still
constexpr std::size_t page_blocks = 8;

}  // namespace

/// One batch: whoever is free takes the next piece of it.
class ColdReads::Pieces {
 public:
  using Read = std::function<void(std::size_t from, std::size_t until)>;
  Pieces(std::size_t count, std::size_t piece, const Read& read, BlocksRead blocks_read)
      : count_(count), piece_(piece), read_(&read), blocks_read_(blocks_read) {}

  /// Until none is left. Whoever comes late does nothing: the batch may be gone.
  void work() {
    std::unique_lock lock(mutex_);
    while (begun_ < count_) {
      const auto from = begun_, until = std::min(begun_ + piece_, count_);
      begun_ = until;
      lock.unlock();
      const auto before = blocks_read_();
      (*read_)(from, until);
      const auto blocks = blocks_read_() - before;
      lock.lock();
      blocks_ += blocks;
      done_ += until - from;
    }
    if (done_ == count_) all_done_.notify_all();
  }
  /// Returns: the blocks that were read from the disk
  std::uint64_t wait() {
    std::unique_lock lock(mutex_);
    all_done_.wait(lock, [this] { return done_ == count_; });
    return blocks_;
  }

 private:
  const std::size_t count_, piece_;
  const Read* const read_;
  const BlocksRead blocks_read_;
  std::mutex mutex_;
  std::condition_variable all_done_;
  std::size_t begun_ = 0, done_ = 0;
  std::uint64_t blocks_ = 0;
};

std::uint64_t ColdReads::blocks_read() {
  rusage usage{};
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_inblock) : 0;
}

ColdReads::~ColdReads() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wanted_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void ColdReads::help(const std::shared_ptr<Pieces>& pieces, std::size_t hands) {
  const std::lock_guard lock(mutex_);
  while (threads_.size() + 1 < threads) threads_.emplace_back([this] { work(); });
  waiting_.insert(waiting_.end(), hands, pieces);
  wanted_.notify_all();
}

void ColdReads::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wanted_.wait(lock, [this] { return ending_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const auto pieces = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    pieces->work();
    lock.lock();
  }
}

void ColdReads::read(std::size_t count, const std::function<void(std::size_t from, std::size_t until)>& read) {
  if (count < worth_it) return read(0, count);
  const auto piece = cold() ? std::max(piece_min, (count + threads - 1) / threads) : count;
  const auto pieces = std::make_shared<Pieces>(count, piece, read, blocks_read_);
  if (piece < count) help(pieces, (count - 1) / piece);
  pieces->work();
  cold_.store(pieces->wait() * warm_share >= count * page_blocks, std::memory_order_relaxed);
}

}  // namespace evershard::storage
