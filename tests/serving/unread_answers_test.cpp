#include "evershard/cluster/serving/unread_answers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace evershard::serving {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const UnreadAnswers::Clock::time_point start{};
const std::array<char, 8> names{};

UnreadAnswers::Call call(std::size_t n) { return &names.at(n); }

TEST(UnreadAnswers, HaveRoomUntilTheBoundIsReached) {
  UnreadAnswers unread({.bytes_max = 100, .patience = 10s});
  unread.sends(call(0), 49, start);
  EXPECT_TRUE(unread.has_room_ahead());
  unread.sends(call(1), 1, start);
  EXPECT_FALSE(unread.has_room_ahead());
  EXPECT_TRUE(unread.has_room());
  unread.sends(call(2), 70, start);
  EXPECT_FALSE(unread.has_room());

  unread.took(call(2));
  EXPECT_EQ(unread.bytes(), 50u);
  EXPECT_TRUE(unread.has_room());
  unread.took(call(2));
  unread.took(call(7));
  EXPECT_EQ(unread.bytes(), 50u) << "what sends nothing";
}

TEST(UnreadAnswers, GiveUpNobodyWhileThereIsRoom) {
  UnreadAnswers unread({.bytes_max = 100, .patience = 10s});
  unread.sends(call(0), 99, start);
  EXPECT_THAT(unread.to_give_up(start + 1h), IsEmpty());
}

TEST(UnreadAnswers, GiveUpWhoeverTookNothingForTheLongestTimeAndNoMoreThanIsNeeded) {
  UnreadAnswers unread({.bytes_max = 100, .patience = 10s});
  unread.sends(call(0), 40, start + 2s);
  unread.sends(call(1), 40, start + 1s);
  unread.sends(call(2), 40, start + 5s);

  EXPECT_THAT(unread.to_give_up(start + 10s), IsEmpty()) << "nobody for 10 s yet";
  EXPECT_THAT(unread.to_give_up(start + 20s), ElementsAre(call(1)));
  EXPECT_FALSE(unread.has_room()) << "until it has gone";
  EXPECT_THAT(unread.to_give_up(start + 20s), IsEmpty()) << "it is on its way";

  unread.took(call(1));
  EXPECT_TRUE(unread.has_room());
}

TEST(UnreadAnswers, KeepWhoeverTakesOneAnswerAfterTheOther) {
  UnreadAnswers unread({.bytes_max = 100, .patience = 10s});
  unread.sends(call(0), 60, start);
  unread.sends(call(1), 60, start);
  unread.took(call(0));
  unread.sends(call(0), 60, start + 9s);
  EXPECT_THAT(unread.to_give_up(start + 12s), ElementsAre(call(1)));
}

}  // namespace
}  // namespace evershard::serving
