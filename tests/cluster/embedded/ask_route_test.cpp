// What is asked again, and what is told in the end.

#include <gtest/gtest.h>

#include "evershard/cluster/aggregates/ask_route.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;

const actors::SteadyTime start{1h};

AnyAnswer failed_with(ErrorCode code) { return AnyAnswer::failed({code, "because"}); }

class Route : public ::testing::Test {
 protected:
  std::optional<actors::SteadyTime> back(AnyAnswer answer, actors::SteadyTime at = start) {
    last = std::move(answer);
    return route->came_back(last, at, jitter);
  }
  void repeatable(bool may) { route.emplace(start + 2s, may); }

  actors::Jitter jitter{7};
  std::optional<AskRoute> route{std::in_place, start + 2s, false};
  AnyAnswer last;
};

TEST_F(Route, TellsWhatTheAggregateSaid) {
  for (const auto& answer : {AnyAnswer::replied("r", SeqNr{1}, GlobalPosition{2}), AnyAnswer::rejected("no", SeqNr{1}),
                             failed_with(ErrorCode::overloaded), failed_with(ErrorCode::invalid_argument),
                             failed_with(ErrorCode::condition_failed), failed_with(ErrorCode::corruption)}) {
    EXPECT_FALSE(back(answer));
    EXPECT_EQ(last, answer);
  }
}

TEST_F(Route, AsksAgainWhereNothingWasDoneUntilTheTimeIsOver) {
  auto at = start;
  int tries = 0;
  for (;; ++tries) {
    const auto again = back(failed_with(tries % 2 == 0 ? ErrorCode::wrong_shard : ErrorCode::unavailable), at);
    if (!again) break;
    EXPECT_GT(*again, at);
    EXPECT_LE(*again - at, 505ms);
    EXPECT_LT(*again, start + 2s);
    at = *again;
  }
  EXPECT_GE(tries, 4);
  EXPECT_EQ(last.error.code, ErrorCode::unavailable) << "where the shard was is nothing to who asked";
}

TEST_F(Route, LeavesAnUnknownOutcomeUnknownWhereAskingTwiceWouldDoItTwice) {
  EXPECT_FALSE(back(failed_with(ErrorCode::timeout)));
  EXPECT_EQ(last, failed_with(ErrorCode::timeout));
}

TEST_F(Route, AsksAgainAfterAnUnknownOutcomeWhereThatIsSafe) {
  repeatable(true);
  EXPECT_TRUE(back(failed_with(ErrorCode::timeout)));
  EXPECT_TRUE(back(failed_with(ErrorCode::unavailable)));
  EXPECT_FALSE(back(AnyAnswer::replied("r", SeqNr{1}, GlobalPosition{2}, true)));
  EXPECT_EQ(last.reply, "r");
}

TEST_F(Route, DoesNotForgetAnUnknownOutcomeOverALaterFailure) {
  for (const auto code :
       {ErrorCode::overloaded, ErrorCode::invalid_argument, ErrorCode::condition_failed, ErrorCode::corruption}) {
    repeatable(true);
    EXPECT_TRUE(back(failed_with(ErrorCode::timeout)));
    EXPECT_FALSE(back(failed_with(code)));
    EXPECT_EQ(last.error.code, ErrorCode::timeout);
  }
  repeatable(true);
  EXPECT_TRUE(back(failed_with(ErrorCode::timeout)));
  EXPECT_FALSE(back(failed_with(ErrorCode::unavailable), start + 2s));
  EXPECT_EQ(last.error.code, ErrorCode::timeout);
}

}  // namespace
}  // namespace evershard::cluster
