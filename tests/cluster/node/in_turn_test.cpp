// Work of one origin in turn, on threads that all share.

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "evershard/cluster/node/in_turn.hpp"

namespace evershard::cluster {
namespace {

TEST(InTurnTest, DoesOneOriginsWorkInItsOrderOneAtATime) {
  constexpr std::uint32_t origins = 3, each = 400;
  std::mutex mutex;
  std::vector<std::vector<std::uint32_t>> done(origins);
  std::vector<int> at_once(origins);
  int most = 0;
  std::promise<void> all;
  std::uint32_t left = origins * each;
  auto threads = std::make_unique<WorkPool>(4);
  InTurn in_turn(*threads);
  for (std::uint32_t n = 0; n != each; ++n) {
    for (std::uint32_t origin = 0; origin != origins; ++origin) {
      in_turn.run(origin, [&, n, origin] {
        {
          const std::lock_guard lock(mutex);
          most = std::max(most, ++at_once[origin]);
        }
        if (n % 7 == 0) std::this_thread::yield();  // somebody else's turn, if it were for that
        const std::lock_guard lock(mutex);
        done[origin].push_back(n);
        --at_once[origin];
        if (--left == 0) all.set_value();
      });
    }
  }
  EXPECT_EQ(all.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  threads.reset();  // before what it works for

  EXPECT_EQ(most, 1);
  for (const auto& of_origin : done) {
    ASSERT_EQ(of_origin.size(), each);
    for (std::uint32_t n = 0; n != each; ++n) ASSERT_EQ(of_origin[n], n) << "it was overtaken";
  }
}

// One that waits keeps only its own origin waiting.
TEST(InTurnTest, LeavesOtherOriginsAlone) {
  std::promise<void> let_go, behind, other;
  auto threads = std::make_unique<WorkPool>(2);
  InTurn in_turn(*threads);
  const auto gone = let_go.get_future().share();
  in_turn.run(1, [gone] { gone.wait(); });
  in_turn.run(1, [&behind] { behind.set_value(); });
  in_turn.run(2, [&other] { other.set_value(); });

  EXPECT_EQ(other.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  auto next = behind.get_future();
  EXPECT_EQ(next.wait_for(std::chrono::milliseconds(0)), std::future_status::timeout);
  let_go.set_value();
  EXPECT_EQ(next.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  threads.reset();
}

}  // namespace
}  // namespace evershard::cluster
