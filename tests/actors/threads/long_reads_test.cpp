#include "evershard/actors/threads/long_reads.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <future>
#include <thread>
#include <vector>

#include "evershard/actors/threads/work_pool.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using storage::ReadWork;
using Clock = ReadWork::Clock;

constexpr auto patience = 30s;

/// Every piece is long from its first look on.
LongReadOptions all_are_long(std::size_t at_once) { return {.at_once = at_once, .limits = {.short_max = 0ms}}; }

template <class Condition>
bool soon(Condition condition) {
  for (const auto until = Clock::now() + patience; Clock::now() < until; std::this_thread::sleep_for(1ms)) {
    if (condition()) return true;
  }
  return condition();
}

/// Spends until that fails. Returns: why it did
Error read_for_ever(ReadWork& work) {
  const ReadWork::Scope at_work(work);
  for (;;) {
    if (auto spent = storage::spend(10'000); !spent) return std::move(spent).error();
  }
}

TEST(LongReads, LeaveThePoolsThreadsToOthers) {
  LongReads reads(all_are_long(2));
  WorkPool pool(2);
  std::vector<std::shared_ptr<ReadWork>> works;
  std::vector<std::future<Error>> ended;
  for (int i = 0; i < 8; ++i) {
    works.push_back(reads.begin());
    auto done = std::make_shared<std::promise<Error>>();
    ended.push_back(done->get_future());
    pool.run([work = works.back(), done] { done->set_value(read_for_ever(*work)); });
  }
  ASSERT_TRUE(soon([&] { return reads.figures().at_work == 2 && reads.figures().waiting == 6; }));
  std::promise<int> priority;
  pool.run([&] { priority.set_value(::getpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()))); });
  auto served = priority.get_future();
  ASSERT_EQ(served.wait_for(patience), std::future_status::ready)
      << "eight long reads on two threads, and a short one beside them";
  EXPECT_EQ(served.get(), ::getpriority(PRIO_PROCESS, 0)) << "the thread in a long one's place is no slower";
  // Whoever waits for a place and goes, goes from the line; who is at work goes as soon.
  for (const auto& work : works) work->cancel();
  for (auto& one : ended) {
    ASSERT_EQ(one.wait_for(patience), std::future_status::ready);
    EXPECT_EQ(one.get().code, ErrorCode::cancelled);
  }
  EXPECT_TRUE(soon([&] { return reads.figures().at_work == 0 && reads.figures().waiting == 0; }));
  EXPECT_EQ(reads.figures().begun, 8u);
}

TEST(LongReads, TakeTurnsInTheOrderInWhichTheyCame) {
  LongReads reads(all_are_long(1));
  WorkPool pool(1);
  std::mutex mutex;
  std::vector<int> order;
  const auto first = reads.begin();
  std::promise<void> first_done;
  pool.run([&] {
    (void)read_for_ever(*first);
    first_done.set_value();
  });
  ASSERT_TRUE(soon([&] { return reads.figures().at_work == 1; }));
  std::vector<std::shared_ptr<ReadWork>> works;
  for (int i = 0; i < 5; ++i) {
    works.push_back(reads.begin());
    pool.run([&, i, work = works.back()] {
      const ReadWork::Scope at_work(*work);
      while (storage::spend(100'000)) {
        const std::lock_guard lock(mutex);
        if (order.empty() || order.back() != i) order.push_back(i);
        if (work->wanted()) work->cancel();
      }
    });
    ASSERT_TRUE(soon([&] { return reads.figures().waiting == static_cast<std::size_t>(i + 1); }));
  }
  first->cancel();
  EXPECT_TRUE(soon([&] { return reads.figures().at_work == 0 && reads.figures().waiting == 0; }));
  const std::lock_guard lock(mutex);
  EXPECT_EQ(order, (std::vector{0, 1, 2, 3, 4}));
  first_done.get_future().wait();
}

TEST(LongReads, EndByNameWhenTheirTimeIsOverOrTheServerEnds) {
  LongReads reads(all_are_long(1));
  const auto late = reads.begin(Clock::now() + 20ms);
  EXPECT_EQ(read_for_ever(*late).code, ErrorCode::timeout) << "at work";

  const auto at_work = reads.begin();
  auto busy = std::async(std::launch::async, [&] { return read_for_ever(*at_work); });
  ASSERT_TRUE(soon([&] { return reads.figures().at_work == 1; }));
  const auto waits = reads.begin(Clock::now() + 20ms);
  EXPECT_EQ(read_for_ever(*waits).code, ErrorCode::timeout) << "in the line";
  const auto waiting = reads.begin();
  auto in_line = std::async(std::launch::async, [&] { return read_for_ever(*waiting); });
  ASSERT_TRUE(soon([&] { return reads.figures().waiting == 1; }));
  reads.close();
  EXPECT_EQ(busy.get().code, ErrorCode::unavailable);
  EXPECT_EQ(in_line.get().code, ErrorCode::unavailable);
  EXPECT_EQ(read_for_ever(*reads.begin()).code, ErrorCode::unavailable) << "none gets a place any more";
}

TEST(LongReads, RefuseMoreThanMayWait) {
  auto options = all_are_long(1);
  options.waiting_max = 1;
  LongReads reads(options);
  const auto at_work = reads.begin(), waiting = reads.begin();
  auto busy = std::async(std::launch::async, [&] { return read_for_ever(*at_work); });
  ASSERT_TRUE(soon([&] { return reads.figures().at_work == 1; }));
  auto in_line = std::async(std::launch::async, [&] { return read_for_ever(*waiting); });
  ASSERT_TRUE(soon([&] { return reads.figures().waiting == 1; }));
  EXPECT_EQ(read_for_ever(*reads.begin()).code, ErrorCode::overloaded);
  EXPECT_EQ(reads.figures().begun, 2u);
  EXPECT_EQ(reads.figures().turned_away, 1u);
  reads.close();
}

TEST(LongReads, EndBehindTheProcessorTimeThatOneMayTake) {
  LongReads reads({.limits = {.processor_max = 30ms, .short_max = 3ms}});
  const auto work = reads.begin();
  const auto error = read_for_ever(*work);
  EXPECT_EQ(error.code, ErrorCode::too_large);
  EXPECT_NE(error.what.find("read-processor-max"), std::string::npos) << error.what;
}

// A pool that ends while threads have parted from it runs what waits, and leaves no thread behind.
TEST(LongReads, EndWithThePool) {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> ran{0};
    LongReads reads(all_are_long(2));
    {
      WorkPool pool(2);
      for (int i = 0; i < 20; ++i) {
        pool.run([&] {
          const auto work = reads.begin();
          const ReadWork::Scope at_work(*work);
          (void)storage::spend(100'000);
          ++ran;
        });
      }
    }
    ASSERT_EQ(ran, 20);
  }
}

}  // namespace
}  // namespace evershard::cluster
