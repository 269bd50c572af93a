#include "evershard/cluster/link/session/liveness.hpp"

#include <gtest/gtest.h>

#include "tests/link/session/two_peers.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;

TEST(Liveness, SpeaksWhenItWasSilentForAHeartbeat) {
  Liveness liveness(500ms, 2s, at(0));
  EXPECT_FALSE(liveness.must_speak(at(499)));
  EXPECT_TRUE(liveness.must_speak(at(500)));
  liveness.sent(at(500));
  EXPECT_FALSE(liveness.must_speak(at(999)));
}

TEST(Liveness, GivesUpWhoIsSilentForTwoSeconds) {
  Liveness liveness(500ms, 2s, at(0));
  for (int ms = 100; ms < 2'000; ms += 100) EXPECT_FALSE(liveness.is_dead(at(ms))) << ms;
  EXPECT_TRUE(liveness.is_dead(at(2'000)));
}

TEST(Liveness, KeepsWhoIsHeard) {
  Liveness liveness(500ms, 2s, at(0));
  for (int ms = 0; ms < 10'000; ms += 100) {
    if (ms % 1'900 == 0) liveness.heard(at(ms));
    EXPECT_FALSE(liveness.is_dead(at(ms))) << ms;
  }
}

TEST(Liveness, DoesNotCountTheTimeThatItsOwnProcessSlept) {
  Liveness liveness(500ms, 2s, at(0));
  EXPECT_FALSE(liveness.is_dead(at(100)));
  EXPECT_FALSE(liveness.is_dead(at(60'000)));  // stopped for a minute: what the peer sent is not read yet
  for (int ms = 60'100; ms < 61'900; ms += 100) EXPECT_FALSE(liveness.is_dead(at(ms))) << ms;
  EXPECT_TRUE(liveness.is_dead(at(61'900)));
}

}  // namespace
}  // namespace evershard::cluster
