#include "evershard/cluster/order/still_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace evershard::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Node 1 goes on; node 2 says every half second what it says. Both write.
class NodesThatStandStill : public ::testing::Test {
 protected:
  /// Returns: when node 2 began to count as standing still, or nothing of it within that time.
  std::vector<std::uint32_t> goes_by(milliseconds time, bool two_moves, bool one_moves = true) {
    std::vector<std::uint32_t> begun;
    for (const auto until = now_ + time; now_ < until;) {
      now_ += milliseconds(500);
      ++cut_;
      if (one_moves) one_ = cut_;
      if (two_moves) two_ = cut_;
      watch_.said(now_, 1, CutNumber{one_}, one_ == cut_);
      watch_.said(now_, 2, CutNumber{two_}, two_ == cut_);
      const auto behind = [&](std::uint64_t applied) { return milliseconds(500) * static_cast<int>(cut_ - applied); };
      const auto now_begun = watch_.look(now_, {{1, true, behind(one_)}, {2, two_writes_, behind(two_)}});
      begun.insert(begun.end(), now_begun.begin(), now_begun.end());
    }
    return begun;
  }

  StillWatch watch_{StillWatch::Options{}};
  StillWatch::Time now_{};
  std::uint64_t cut_ = 0, one_ = 0, two_ = 0;
  bool two_writes_ = true;
};

TEST_F(NodesThatStandStill, RestForAWhileAndLongerWhereItComesAgain) {
  EXPECT_THAT(goes_by(seconds(10), true), IsEmpty());
  EXPECT_THAT(goes_by(milliseconds(2'500), false), IsEmpty()) << "not for so long yet";
  EXPECT_THAT(goes_by(milliseconds(1'000), false), ElementsAre(2u));
  EXPECT_TRUE(watch_.is_still(now_, 2));
  EXPECT_FALSE(watch_.is_still(now_, 1));
  EXPECT_THAT(goes_by(milliseconds(4'000), false), IsEmpty()) << "once";
  EXPECT_THAT(goes_by(milliseconds(1'500), false), ElementsAre(2u)) << "it still does";
  EXPECT_THAT(goes_by(milliseconds(8'500), true), IsEmpty());
  EXPECT_TRUE(watch_.is_still(now_, 2)) << "twice as long";
  EXPECT_THAT(goes_by(seconds(60), true), IsEmpty());
  EXPECT_FALSE(watch_.is_still(now_, 2));
  EXPECT_THAT(goes_by(milliseconds(3'500), false), ElementsAre(2u));
  EXPECT_THAT(goes_by(milliseconds(4'500), true), IsEmpty());
  EXPECT_FALSE(watch_.is_still(now_, 2)) << "the last time was long ago";
}

TEST_F(NodesThatStandStill, AreNoneWhereAllDoOrThereIsNothingToApply) {
  EXPECT_THAT(goes_by(seconds(20), false, false), IsEmpty());
  now_ += seconds(60);  // all that there is was applied, and nobody appends
  EXPECT_THAT(watch_.look(now_, {{1, true, milliseconds(0)}, {2, true, milliseconds(0)}}), IsEmpty());
}

TEST_F(NodesThatStandStill, CountWhereTheyWriteAndAnewWithEachProcess) {
  two_writes_ = false;
  EXPECT_THAT(goes_by(seconds(10), false), IsEmpty());
  two_writes_ = true;
  watch_.came(2);
  EXPECT_THAT(goes_by(milliseconds(2'500), false), IsEmpty()) << "it has just begun";
  EXPECT_THAT(goes_by(milliseconds(1'500), false), ElementsAre(2u));
  watch_.forget();
  EXPECT_FALSE(watch_.is_still(now_, 2));
}

}  // namespace
}  // namespace evershard::cluster
