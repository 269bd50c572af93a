#include "evershard/cluster/link/session/backoff.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;

TEST(Backoff, DoublesUpToItsBoundAndStartsAgain) {
  Backoff backoff(50ms, 2s);

  for (const auto whole : {50ms, 100ms, 200ms, 400ms, 800ms, 1'600ms, 2'000ms, 2'000ms})
    EXPECT_EQ(backoff.failed(0), whole);

  backoff.succeeded();
  EXPECT_EQ(backoff.failed(0), 50ms);
}

TEST(Backoff, WaitsFromAHalfToAllOfIt) {
  for (std::uint64_t random : {std::uint64_t{1}, std::uint64_t{25'000}, std::uint64_t{999'983}, UINT64_MAX}) {
    Backoff backoff(50ms, 50ms);
    const auto delay = backoff.failed(random);
    EXPECT_GE(delay, 25ms);
    EXPECT_LE(delay, 50ms);
  }
  Backoff backoff(50ms, 50ms);
  EXPECT_EQ(backoff.failed(25'000), 25ms);
}

TEST(Backoff, IsNeverNothing) {
  Backoff backoff(1ms, 1ms);
  EXPECT_GT(backoff.failed(UINT64_MAX), 0us);
}

}  // namespace
}  // namespace evershard::cluster
