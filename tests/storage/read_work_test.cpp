#include "evershard/storage/index/read_work.hpp"

#include <gtest/gtest.h>
#include <time.h>

#include <chrono>
#include <thread>

namespace evershard::storage {
namespace {

using namespace std::chrono_literals;
using Clock = ReadWork::Clock;

TEST(ReadWork, IsNothingToAThreadThatHasNone) {
  EXPECT_EQ(ReadWork::current(), nullptr);
  for (int i = 0; i < 1'000; ++i) EXPECT_TRUE(spend(1'000'000'000));
}

TEST(ReadWork, IsTheThreadsUntilItsScopeEnds) {
  ReadWork outer, inner;
  {
    const ReadWork::Scope of_outer(outer);
    EXPECT_EQ(ReadWork::current(), &outer);
    {
      const ReadWork::Scope of_inner(inner);
      EXPECT_EQ(ReadWork::current(), &inner);
      std::thread([] { EXPECT_EQ(ReadWork::current(), nullptr); }).join();
    }
    EXPECT_EQ(ReadWork::current(), &outer);
  }
  EXPECT_EQ(ReadWork::current(), nullptr);
}

TEST(ReadWork, EndsWithTheFirstErrorItWasCancelledWith) {
  ReadWork work;
  const ReadWork::Scope at_work(work);
  EXPECT_TRUE(spend(1'000'000));
  EXPECT_FALSE(work.token().stop_requested());
  work.cancel({ErrorCode::unavailable, "the server ends"});
  work.cancel();
  EXPECT_TRUE(work.token().stop_requested());
  const auto spent = spend(1'000'000);
  ASSERT_FALSE(spent);
  EXPECT_EQ(spent.error().code, ErrorCode::unavailable);
  EXPECT_EQ(spent.error().what, "the server ends");
}

// A loop of small steps looks in between, too.
TEST(ReadWork, IsLookedAtWithinMicrosecondsOfWork) {
  ReadWork work;
  const ReadWork::Scope at_work(work);
  work.cancel();
  int steps = 0;
  while (spend(100)) ASSERT_LT(++steps, 1'000);
  EXPECT_LT(steps, 400) << "a step of 100 ns is spent 328 times before a look";
}

TEST(ReadWork, EndsAtItsDeadline) {
  ReadWork work({}, {}, Clock::now() - 1ms);
  const ReadWork::Scope at_work(work);
  const auto spent = spend(1'000'000);
  ASSERT_FALSE(spent);
  EXPECT_EQ(spent.error().code, ErrorCode::timeout);
}

/// Spends so much of this thread's processor time: on a busy machine that takes as long as it takes.
void work_for(std::chrono::nanoseconds time) {
  const auto taken = [] {
    timespec now{};
    (void)::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  for (const auto until = taken() + time; taken() < until;) EXPECT_TRUE(spend(1'000));
}

// Of the thread's processor time: waiting costs nothing, and every piece begins anew.
TEST(ReadWork, IsLongByTheProcessorTimeOfOnePiece) {
  int long_ones = 0;
  ReadWork work({.short_max = 5ms},
                [&](ReadWork&) -> Result<ReadWork::Place> { return ++long_ones, ReadWork::Place(); });
  {
    const ReadWork::Scope at_work(work);
    std::this_thread::sleep_for(30ms);
    EXPECT_TRUE(spend(1'000'000));
  }
  EXPECT_EQ(long_ones, 0);
  for (int piece = 1; piece <= 2; ++piece) {
    const ReadWork::Scope at_work(work);
    work_for(30ms);
    EXPECT_EQ(long_ones, piece) << "asked for its place once";
  }
  {
    const ReadWork::Scope helps(work, ReadWork::Hand::helping);
    work_for(30ms);
  }
  EXPECT_EQ(long_ones, 2) << "who helps has the place of whom he helps";
}

TEST(ReadWork, EndsWhereItGetsNoPlace) {
  ReadWork work({.short_max = 0ms},
                [](ReadWork&) -> Result<ReadWork::Place> { return refuse(ErrorCode::overloaded, "no room"); });
  const ReadWork::Scope at_work(work);
  const auto spent = spend(1'000'000);
  ASSERT_FALSE(spent);
  EXPECT_EQ(spent.error().code, ErrorCode::overloaded);
}

TEST(ReadWork, HoldsItsPlaceUntilThePieceIsDone) {
  auto place = std::make_shared<int>(1);
  ReadWork work({.short_max = 0ms}, [&](ReadWork&) -> Result<ReadWork::Place> { return place; });
  {
    const ReadWork::Scope at_work(work);
    EXPECT_TRUE(spend(1'000'000));
    EXPECT_EQ(place.use_count(), 2);
  }
  EXPECT_EQ(place.use_count(), 1);
}

}  // namespace
}  // namespace evershard::storage
