#include "evershard/storage/index/seal_pace.hpp"

#include <gtest/gtest.h>

#include "evershard/storage/index/tail_admission.hpp"

namespace evershard::storage {
namespace {

using std::chrono::microseconds;

/// Seconds that sealing a tail takes, and how full the active one is by then.
double fill_when_done(const SealPace& pace, double appended_per_second) {
  constexpr std::size_t tail = 100'000;
  double seconds = 0;
  for (double events = 0; events < tail; events += 1'000) {
    auto busy = microseconds(static_cast<int>(1'000 * pace.cost_us_event()));
    auto load = 1 + seconds * appended_per_second / tail;
    seconds += 1e-6 * static_cast<double>((busy + pace.rest(busy, 0, appended_per_second, load)).count());
  }
  return seconds * appended_per_second / tail;
}

TEST(SealPace, IsDoneBeforeTheActiveTailIsHalfFull) {
  SealPace pace(100'000, 0);

  for (double rate : {100.0, 10'000.0, 50'000.0, 100'000.0, 116'000.0})
    EXPECT_LE(fill_when_done(pace, rate), 0.36) << rate;
}

TEST(SealPace, LeavesTheRestToAppends) {
  SealPace pace(100'000, 0);

  EXPECT_GE(fill_when_done(pace, 60'000), 0.3);  // not at once either
  EXPECT_GE(pace.rest(microseconds(1'000), 0, 20'000, 1.1), microseconds(3'000));
}

TEST(SealPace, DoesNotDawdleWhereNobodyAppends) {
  SealPace pace(100'000, 0);

  EXPECT_EQ(pace.rest(microseconds(1'000), 0, 0, 1), microseconds(4'000));
}

TEST(SealPace, DoesNotRestWhenItIsLate) {
  EXPECT_EQ(SealPace(100'000, 0).rest(microseconds(1'000), 0, 10, 1.45), microseconds(0));
  EXPECT_EQ(SealPace(100'000, 1'000).rest(microseconds(1'000), 1'000'000, 10, 1.45), microseconds(0));
}

TEST(SealPace, KeepsAFixedPaceWhereOneIsSet) {
  SealPace pace(100'000, 1'000'000);

  EXPECT_EQ(pace.rest(microseconds(2'000), 10'000, 1'000'000, 1.1), microseconds(8'000));
  EXPECT_EQ(pace.rest(microseconds(20'000), 10'000, 1'000'000, 1.1), microseconds(0));
}

TEST(SealPace, LearnsWhatAnEventCosts) {
  SealPace pace(100'000, 0);
  for (int i = 0; i < 20; ++i) pace.learn(100'000, microseconds(600'000));
  pace.learn(10, microseconds(1'000'000));  // too few to tell

  EXPECT_NEAR(pace.cost_us_event(), 6, 0.1);
}

TEST(TailAdmission, OpensSlowsAndCloses) {
  EXPECT_EQ(admission_of(0).kind, Admission::Kind::open);
  EXPECT_EQ(admission_of(1.49).kind, Admission::Kind::open);
  EXPECT_EQ(admission_of(1.5).kind, Admission::Kind::slow);
  EXPECT_EQ(admission_of(1.99).kind, Admission::Kind::slow);
  EXPECT_EQ(admission_of(2).kind, Admission::Kind::full);
}

TEST(TailAdmission, DelaysTheMoreTheFullerItIs) {
  std::uint32_t last = 0;
  for (double lag = 1.5; lag < 2; lag += 0.05) {
    auto delay = admission_of(lag).delay_us;
    EXPECT_GT(delay, last);
    last = delay;
  }

  EXPECT_LE(last, slow_delay_us_max);
}

TEST(TailAdmission, MeasuresFilesOnTheSameScale) {
  EXPECT_DOUBLE_EQ(lag_of(12, 24, 48), 0.75);
  EXPECT_DOUBLE_EQ(lag_of(24, 24, 48), 1.5);
  EXPECT_DOUBLE_EQ(lag_of(48, 24, 48), 2);
}

}  // namespace
}  // namespace evershard::storage
