// Many rows are read by several threads, each row once; more of them where they come from the disk.

#include "evershard/storage/rocks/parallel_reads.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace evershard::storage {
namespace {

/// A disk that is as cold as the test says.
thread_local std::uint64_t blocks = 0;
std::uint64_t blocks_here() { return blocks; }

struct Read {
  std::vector<int> times;
  std::set<std::thread::id> by;
};

/// `blocks_a_row`: what each row takes from the disk, and a while where that is something.
Read read(ParallelReads& reads, std::size_t count, std::uint64_t blocks_a_row) {
  Read all{std::vector<int>(count), {}};
  std::mutex mutex;
  reads.read(count, [&](std::size_t from, std::size_t until) {
    if (blocks_a_row != 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    blocks += blocks_a_row * (until - from);
    const std::lock_guard lock(mutex);
    for (auto i = from; i != until; ++i) ++all.times[i];
    all.by.insert(std::this_thread::get_id());
  });
  return all;
}

TEST(ParallelReads, ReadsEachRowOnceWhoeverDoesIt) {
  ParallelReads reads(8, &blocks_here);
  for (const std::size_t count : {0, 1, 2, 7, 8, 9, 15, 16, 17, 63, 64, 65, 256})
    for (const std::uint64_t blocks_a_row : {0, 8, 8}) {
      const auto all = read(reads, count, blocks_a_row);
      EXPECT_EQ(all.times, std::vector<int>(count, 1)) << count;
    }
}

TEST(ParallelReads, WakesOthersOnlyBehindABatchThatCameFromTheDisk) {
  ParallelReads reads(1, &blocks_here);
  EXPECT_EQ(read(reads, 64, 0).by.size(), 1u);
  EXPECT_FALSE(reads.cold());
  EXPECT_EQ(read(reads, 64, 8).by.size(), 1u) << "nobody knows yet";
  EXPECT_TRUE(reads.cold());
  std::size_t by = 1;  // on a busy machine those who are woken may come when all is read
  for (int tries = 0; tries != 500 && by == 1; ++tries) by = read(reads, 64, 8).by.size();
  EXPECT_GT(by, 1u);
  EXPECT_TRUE(reads.cold());
  static_cast<void>(read(reads, 64, 0));
  EXPECT_FALSE(reads.cold());
  EXPECT_EQ(read(reads, 64, 0).by.size(), 1u);
}

TEST(ParallelReads, TakesOneRowOfManyFromTheDiskForWarm) {
  ParallelReads reads(1, &blocks_here);
  reads.read(64, [](std::size_t, std::size_t) { blocks += 8; });
  EXPECT_FALSE(reads.cold());
  reads.read(64, [](std::size_t, std::size_t) { blocks += 8 * 8; });
  EXPECT_TRUE(reads.cold());
}

TEST(ParallelReads, TakesHalfTheProcessorsOutOfMemoryTwoAtLeastAndEightAtMost) {
  for (const auto& [processors, threads] : {std::pair(1u, 1u), {2u, 2u}, {4u, 2u}, {8u, 4u}, {64u, 8u}}) {
    ParallelReads reads(processors, &blocks_here);
    std::mutex mutex;
    std::condition_variable came;
    std::set<std::thread::id> by;
    reads.read(256, [&, wanted = threads](std::size_t, std::size_t) {
      std::unique_lock lock(mutex);
      by.insert(std::this_thread::get_id());
      came.notify_all();
      came.wait_for(lock, std::chrono::seconds(30), [&] { return by.size() >= wanted; });
    });
    EXPECT_EQ(by.size(), threads) << processors;
    EXPECT_FALSE(reads.cold());
    EXPECT_EQ(read(reads, 16, 0).by.size(), 1u) << "few rows are their reader's";
  }
}

TEST(ParallelReads, ServesManyReadersAtOnce) {
  ParallelReads reads(2, &blocks_here);
  static_cast<void>(read(reads, 64, 8));
  std::vector<std::thread> readers;
  std::atomic<int> whole{0};
  for (int r = 0; r != 6; ++r)
    readers.emplace_back([&] {
      for (int round = 0; round != 20; ++round) whole += read(reads, 40, 8).times == std::vector<int>(40, 1) ? 1 : 0;
    });
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(whole, 6 * 20);
}

}  // namespace
}  // namespace evershard::storage
