// WatermarkSignal under real threads.

#include "evershard/cluster/watermark_signal.hpp"

#include <thread>

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using Waited = WatermarkSignal::Waited;

const std::atomic<bool> never{false};

TEST(WatermarkSignal, DoesNotWaitForWhatIsThere) {
  WatermarkSignal signal{GlobalPosition{5}};

  const auto waited = signal.wait(GlobalPosition{5}, 0ms, never);

  EXPECT_EQ(waited, Waited::reached);
}

TEST(WatermarkSignal, TellsTheTimeOut) {
  WatermarkSignal signal{GlobalPosition{5}};

  const auto waited = signal.wait(GlobalPosition{6}, 1ms, never);

  EXPECT_EQ(waited, Waited::timed_out);
}

TEST(WatermarkSignal, WaitsThroughTheLongestTimeOutThereIs) {
  WatermarkSignal signal{GlobalPosition{0}};
  std::thread later([&] {
    std::this_thread::sleep_for(20ms);
    signal.advance(GlobalPosition{1});
  });

  const auto waited = signal.wait(GlobalPosition{1}, std::chrono::milliseconds::max(), never);
  later.join();

  EXPECT_EQ(waited, Waited::reached);
}

TEST(WatermarkSignal, WakesWhoeverIsCancelled) {
  WatermarkSignal signal{GlobalPosition{0}};
  std::atomic<bool> cancelled{false};
  std::thread later([&] {
    std::this_thread::sleep_for(20ms);
    cancelled = true;
    signal.nudge();
  });

  const auto waited = signal.wait(GlobalPosition{1}, 60s, cancelled);
  later.join();

  EXPECT_EQ(waited, Waited::cancelled);
}

TEST(WatermarkSignal, WakesEverybodyWhenItCloses) {
  WatermarkSignal signal{GlobalPosition{0}};
  std::atomic<int> closed{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 3; ++i) {
    waiters.emplace_back([&] { closed += signal.wait(GlobalPosition{1}, 60s, never) == Waited::closed; });
  }

  std::this_thread::sleep_for(20ms);
  signal.close();
  for (auto& waiter : waiters) waiter.join();

  EXPECT_EQ(closed, 3);
  EXPECT_EQ(signal.wait(GlobalPosition{1}, 60s, never), Waited::closed);
}

/// Each waiter wants every single number; one missed wake-up and it hangs, to the time-out.
TEST(WatermarkSignal, MissesNobodyWhileItMoves) {
  constexpr std::uint64_t last = 20'000;
  WatermarkSignal signal{GlobalPosition{0}};
  std::atomic<std::uint64_t> seen_of_all{0};
  const auto follow = [&] {
    for (std::uint64_t next = 1; next <= last; ++next) {
      if (signal.wait(GlobalPosition{next}, 30s, never) != Waited::reached) return;
      ++seen_of_all;
    }
  };
  std::vector<std::thread> followers;
  for (int i = 0; i < 3; ++i) followers.emplace_back(follow);

  for (std::uint64_t position = 1; position <= last; ++position) {
    signal.advance(GlobalPosition{position});
    if (position % 64 == 0) std::this_thread::yield();
  }
  for (auto& follower : followers) follower.join();

  EXPECT_EQ(seen_of_all, 3 * last);
}

}  // namespace
}  // namespace evershard::cluster
