#include "evershard/storage/rocks/parallel_reads.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace evershard::storage {
namespace {

constexpr std::size_t cold_worth_it = 8;  // rows: fewer are read as they are
constexpr std::size_t cold_piece_min = 2;
constexpr std::size_t warm_worth_it = 48;  // to wake a thread costs as much as a few rows
constexpr std::size_t warm_piece_min = 16;
constexpr std::size_t warm_pieces = 2;  // for each thread: who is held up leaves the rest to the others
constexpr std::size_t warm_share = 8;   // one row of so many from the disk is warm still
constexpr std::size_t page_blocks = 8;

}  // namespace

/// One batch: whoever is free takes the next piece of it.
class ParallelReads::Pieces {
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

std::uint64_t ParallelReads::blocks_read() {
  rusage usage{};
  return getrusage(RUSAGE_THREAD, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_inblock) : 0;
}

ParallelReads::ParallelReads(unsigned processors, BlocksRead counted)
    : warm_threads_(processors < 2 ? 1 : std::clamp<std::size_t>(processors / 2, 2, threads)), blocks_read_(counted) {}

ParallelReads::~ParallelReads() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  wanted_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void ParallelReads::help(const std::shared_ptr<Pieces>& pieces, std::size_t hands) {
  const std::lock_guard lock(mutex_);
  waiting_.insert(waiting_.end(), hands, pieces);
  while (threads_.size() < std::min(threads - 1, waiting_.size())) threads_.emplace_back([this] { work(); });
  for (; hands != 0; --hands) wanted_.notify_one();
}

void ParallelReads::work() {
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

ParallelReads::Plan ParallelReads::plan(std::size_t count) const {
  const auto divided = [count](std::size_t pieces, std::size_t piece_min, std::size_t hands) {
    const auto piece = std::max(piece_min, (count + pieces - 1) / pieces);
    return Plan{piece, std::min((count - 1) / piece, hands - 1)};
  };
  if (cold()) return divided(threads, cold_piece_min, threads);
  if (warm_threads_ == 1 || count < warm_worth_it) return {count, 0};
  return divided(warm_threads_ * warm_pieces, warm_piece_min, warm_threads_);
}

void ParallelReads::read(std::size_t count, const std::function<void(std::size_t from, std::size_t until)>& read) {
  if (count < cold_worth_it) return read(0, count);
  const auto [piece, others] = plan(count);
  const auto pieces = std::make_shared<Pieces>(count, piece, read, blocks_read_);
  if (others != 0) help(pieces, others);
  pieces->work();
  cold_.store(pieces->wait() * warm_share >= count * page_blocks, std::memory_order_relaxed);
}

}  // namespace evershard::storage
