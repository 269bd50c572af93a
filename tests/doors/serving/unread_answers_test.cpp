#include "evershard/doors/serving/unread_answers.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace evershard::serving {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

const UnreadAnswers::Clock::time_point unread_since{};
const std::array<char, 8> call_names{};

UnreadAnswers::Call unread_call(std::size_t n) { return &call_names.at(n); }

TEST(UnreadAnswers, HaveRoomUntilTheBoundIsReached) {
  UnreadAnswers unread({.bytes_max = 100, .patience = 10s});
  unread.sends(unread_call(0), 49, unread_since);
  EXPECT_TRUE(unread.has_room_ahead());
  unread.sends(unread_call(1), 1, unread_since);
  EXPECT_FALSE(unread.has_room_ahead());
  EXPECT_TRUE(unread.has_room());
  unread.sends(unread_call(2), 70, unread_since);
  EXPECT_FALSE(unread.has_room());

  unread.took(unread_call(2));
  EXPECT_EQ(unread.bytes(), 50u);
  EXPECT_TRUE(unread.has_room());
  unread.took(unread_call(2));
  unread.took(unread_call(7));
  EXPECT_EQ(unread.bytes(), 50u) << "what sends nothing";
}

TEST(UnreadAnswers, GiveUpNobodyWhileThereIsRoom) {
  UnreadAnswers unread({.bytes_max = 100, .patience = 10s});
  unread.sends(unread_call(0), 99, unread_since);
  EXPECT_THAT(unread.to_give_up(unread_since + 1h), IsEmpty());
}

TEST(UnreadAnswers, GiveUpWhoeverTookNothingForTheLongestTimeAndNoMoreThanIsNeeded) {
  UnreadAnswers unread({.bytes_max = 100, .patience = 10s});
  unread.sends(unread_call(0), 40, unread_since + 2s);
  unread.sends(unread_call(1), 40, unread_since + 1s);
  unread.sends(unread_call(2), 40, unread_since + 5s);

  EXPECT_THAT(unread.to_give_up(unread_since + 10s), IsEmpty()) << "nobody for 10 s yet";
  EXPECT_THAT(unread.to_give_up(unread_since + 20s), ElementsAre(unread_call(1)));
  EXPECT_FALSE(unread.has_room()) << "until it has gone";
  EXPECT_THAT(unread.to_give_up(unread_since + 20s), IsEmpty()) << "it is on its way";

  unread.took(unread_call(1));
  EXPECT_TRUE(unread.has_room());
}

TEST(UnreadAnswers, KeepWhoeverTakesOneAnswerAfterTheOther) {
  UnreadAnswers unread({.bytes_max = 100, .patience = 10s});
  unread.sends(unread_call(0), 60, unread_since);
  unread.sends(unread_call(1), 60, unread_since);
  unread.took(unread_call(0));
  unread.sends(unread_call(0), 60, unread_since + 9s);
  EXPECT_THAT(unread.to_give_up(unread_since + 12s), ElementsAre(unread_call(1)));
}

}  // namespace
}  // namespace evershard::serving
