#include "evershard/cluster/link/session/inbox.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <thread>

namespace evershard::cluster {
namespace {

TEST(Inbox, WakesOnceUntilItWasTaken) {
  int woken = 0;
  Inbox<int> inbox([&] { ++woken; });
  std::vector<int> taken;
  EXPECT_TRUE(inbox.put(1));
  EXPECT_TRUE(inbox.put(2));
  EXPECT_EQ(woken, 1);
  inbox.take(taken);
  EXPECT_EQ(taken, (std::vector<int>{1, 2}));
  EXPECT_TRUE(inbox.put(3));
  EXPECT_EQ(woken, 2);
  inbox.take(taken);
  EXPECT_EQ(taken, std::vector<int>{3});
}

TEST(Inbox, TakesNothingWhenClosedAndGivesWhatItHad) {
  Inbox<int> inbox([] {});
  EXPECT_TRUE(inbox.put(1));
  inbox.close();
  EXPECT_FALSE(inbox.put(2));
  std::vector<int> taken;
  inbox.take(taken);
  EXPECT_EQ(taken, std::vector<int>{1});
}

TEST(Inbox, LosesNothingAndKeepsEachThreadsSequence) {
  constexpr int writers = 4, each = 20'000;
  std::mutex mutex;
  std::condition_variable changed;
  bool woken = false;
  Inbox<std::pair<int, int>> inbox([&] {
    const std::lock_guard lock(mutex);
    woken = true;
    changed.notify_one();
  });
  std::vector<std::thread> threads;
  for (int w = 0; w < writers; ++w) {
    threads.emplace_back([&, w] {
      for (int i = 0; i < each; ++i) ASSERT_TRUE(inbox.put({w, i}));
    });
  }
  std::map<int, int> next;
  std::vector<std::pair<int, int>> taken;
  for (int total = 0; total < writers * each;) {
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return woken; });
      woken = false;
    }
    inbox.take(taken);
    for (const auto& [writer, i] : taken) EXPECT_EQ(next[writer]++, i);
    total += static_cast<int>(taken.size());
  }
  for (auto& thread : threads) thread.join();
}

TEST(Inbox, WakesNobodyAfterItWasClosed) {
  for (int round = 0; round < 200; ++round) {
    std::atomic<bool> gone{false};
    Inbox<int> inbox([&] { EXPECT_FALSE(gone); });
    std::thread writer([&] {
      std::vector<int> taken;
      while (inbox.put(1)) inbox.take(taken);
    });
    inbox.close();
    gone = true;
    writer.join();
  }
}

}  // namespace
}  // namespace evershard::cluster
