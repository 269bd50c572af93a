#include "evershard/actors/threads/work_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <memory>
#include <thread>

namespace evershard::cluster {
namespace {

TEST(WorkPool, RunsEachPieceOnceInTheOrderItCame) {
  std::vector<int> order;
  {
    WorkPool pool(1);
    for (int i = 0; i < 1'000; ++i) pool.run([&order, i] { order.push_back(i); });
  }  // the end waits for what is waiting
  ASSERT_EQ(order.size(), 1'000u);
  for (int i = 0; i < 1'000; ++i) ASSERT_EQ(order[static_cast<std::size_t>(i)], i);
}

TEST(WorkPool, RunsWhatManyThreadsGiveAndWhatWorkItselfGives) {
  std::atomic<int> ran{0};
  {
    WorkPool pool(4);
    std::vector<std::thread> givers;
    for (int t = 0; t < 4; ++t) {
      givers.emplace_back([&] {
        for (int i = 0; i < 500; ++i) {
          pool.run([&] {
            ++ran;
            pool.run([&] { ++ran; });
          });
        }
      });
    }
    for (auto& giver : givers) giver.join();
  }
  EXPECT_EQ(ran, 4'000);
}

TEST(WorkPool, UsesAllItsThreads) {
  std::latch together(4);
  WorkPool pool(3);
  for (int i = 0; i < 3; ++i) pool.run([&] { together.arrive_and_wait(); });
  together.arrive_and_wait();  // never comes back where they run one after the other
  SUCCEED();
}

TEST(WorkPool, SaysHowMuchIsWaiting) {
  std::promise<void> go;
  std::promise<void> begun;
  WorkPool pool(1);  // ends before what its work looks at
  pool.run([&] {
    begun.set_value();
    go.get_future().wait();
  });
  begun.get_future().wait();
  for (int i = 0; i < 5; ++i) pool.run([] {});
  EXPECT_EQ(pool.waiting(), 5u);
  go.set_value();
}

// What a piece holds may take the pool's lock itself when it goes.
TEST(WorkPool, LetsGoOfAPieceOutsideOfItsLock) {
  std::promise<void> gone;
  WorkPool pool(1);
  auto held = std::shared_ptr<int>(new int(1), [&](const int* it) {
    delete it;
    (void)pool.waiting();
    gone.set_value();
  });
  pool.run([held] {});
  held.reset();
  EXPECT_EQ(gone.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

}  // namespace
}  // namespace evershard::cluster
