// What is told of clocks that differ, and of how long a node still learns: with times that are given.

#include "evershard/cluster/order/clock_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/cluster/order/learn_rate.hpp"

namespace evershard::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Turn = ClockWatch::Turn;

class ClocksOfNodes : public testing::Test {
 protected:
  /// A word a second, of a clock that is so far ahead; it needed so long to come. Returns: what it told last
  Turn says(int times, milliseconds ahead, milliseconds needed = milliseconds(0), seconds every = seconds(1)) {
    Turn last = Turn::none;
    for (int i = 0; i != times; ++i) {
      now_ += every;
      const auto here = std::chrono::duration_cast<std::chrono::microseconds>(now_.time_since_epoch()).count();
      const auto turn = watch_.said(now_, 7, Timestamp{here + 1'000'000'000},
                                    Timestamp{here + 1'000'000'000 + (ahead - needed).count() * 1'000});
      if (turn != Turn::none) {
        last = turn;
        ++turns_;
      }
    }
    return last;
  }
  ClockWatch watch_;
  ClockWatch::Time now_{};
  int turns_ = 0;
};

TEST_F(ClocksOfNodes, AreToldOnceWhenTheyDifferAndWhenTheyAgreeAgain) {
  EXPECT_EQ(says(20, milliseconds(900)), Turn::none);
  EXPECT_EQ(says(20, milliseconds(2'500)), Turn::differs);
  EXPECT_TRUE(watch_.differs(7));
  EXPECT_EQ(watch_.ahead(7), milliseconds(2'500));
  EXPECT_EQ(says(20, milliseconds(-3)), Turn::agrees);
  EXPECT_FALSE(watch_.differs(7));
  EXPECT_EQ(says(20, milliseconds(-1'200)), Turn::differs);
  EXPECT_EQ(watch_.ahead(7), milliseconds(-1'200));
  EXPECT_EQ(turns_, 3);
}

TEST_F(ClocksOfNodes, DoNotDifferBecauseWordsAreLate) {
  EXPECT_EQ(says(20, milliseconds(300), milliseconds(20)), Turn::none);
  EXPECT_EQ(says(4, milliseconds(300), milliseconds(3'000)), Turn::none);
  EXPECT_EQ(watch_.ahead(7), milliseconds(280));
  // Of many that were held up together none says more than another.
  EXPECT_EQ(says(500, milliseconds(300), milliseconds(4'000), seconds(0)), Turn::none);
}

TEST_F(ClocksOfNodes, AreNotJudgedByAWordOrTwo) {
  EXPECT_EQ(says(2, milliseconds(-5'000)), Turn::none);
  EXPECT_FALSE(watch_.differs(7));
  EXPECT_EQ(says(1, milliseconds(-5'000)), Turn::differs);
}

TEST_F(ClocksOfNodes, AreForgottenWithTheNode) {
  says(5, milliseconds(5'000));
  watch_.lost(7);
  EXPECT_EQ(watch_.ahead(7), std::nullopt);
  EXPECT_FALSE(watch_.differs(7));
}

TEST_F(ClocksOfNodes, OfAnEarlierReleaseAreNotKnown) {
  EXPECT_EQ(watch_.said(now_, 7, Timestamp{1'000}, Timestamp{}), Turn::none);
  EXPECT_EQ(watch_.ahead(7), std::nullopt);
}

TEST(LearnRates, SayHowLongItTakesAsFastAsLately) {
  LearnRate rate;
  LearnRate::Time now{};
  EXPECT_EQ(rate.left(1'000), std::nullopt);
  for (std::uint64_t s = 0; s <= 10; ++s) rate.seen(now + seconds(s), 10 * s);
  EXPECT_EQ(rate.left(1'100), milliseconds(100'000));
  EXPECT_EQ(rate.left(50), milliseconds(0)) << "it has more than all";
  // It goes faster now.
  for (std::uint64_t s = 11; s <= 60; ++s) rate.seen(now + seconds(s), 100 + 100 * (s - 10));
  EXPECT_EQ(rate.left(5'200), milliseconds(1'000));
}

TEST(LearnRates, DoNotKnowWhereNothingIsLearned) {
  LearnRate rate;
  LearnRate::Time now{};
  for (std::uint64_t s = 0; s <= 60; ++s) rate.seen(now + seconds(s), 40);
  EXPECT_EQ(rate.left(1'000), std::nullopt);
  rate.seen(now + seconds(61), 3);  // it was started again
  EXPECT_EQ(rate.left(1'000), std::nullopt);
}

}  // namespace
}  // namespace evershard::cluster
