#include <evershard/aggregate.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/actors/model/ledger.hpp"

namespace evershard {
namespace {

TEST(Answer, CarriesTheReplyInItsType) {
  const Answer<ledger::Balance> answer(AnyAnswer::replied(*to_bytes(balance(7)), SeqNr{3}, GlobalPosition{9}, true));

  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->amount(), 7);
  EXPECT_EQ((*answer).amount(), 7);
  EXPECT_TRUE(answer.duplicate());
  EXPECT_EQ(answer.version(), SeqNr{3});
  EXPECT_EQ(answer.position(), GlobalPosition{9});
  EXPECT_FALSE(answer.rejected() || answer.failed());
}

TEST(Answer, CarriesARejection) {
  const Answer<ledger::Balance> answer(AnyAnswer::rejected("no", SeqNr{3}));

  EXPECT_FALSE(answer);
  EXPECT_TRUE(answer.rejected());
  EXPECT_EQ(answer.rejection(), "no");
  EXPECT_EQ(answer.version(), SeqNr{3});
}

TEST(Answer, CarriesAnError) {
  const Answer<ledger::Balance> answer(AnyAnswer::failed({ErrorCode::timeout, "late"}));

  EXPECT_FALSE(answer);
  EXPECT_TRUE(answer.failed());
  EXPECT_EQ(answer.error(), Error(ErrorCode::timeout, "late"));
}

TEST(Answer, WhoseReplyCannotBeDecodedHasFailedAndStillSaysWhere) {
  const Answer<ledger::Balance> answer(AnyAnswer::replied("\x08", SeqNr{3}, GlobalPosition{9}));

  EXPECT_TRUE(answer.failed());
  EXPECT_EQ(answer.error().code, ErrorCode::corruption);
  EXPECT_EQ(answer.version(), SeqNr{3});
  EXPECT_EQ(answer.position(), GlobalPosition{9});
}

TEST(Answer, OfACommandWithoutReplyIsDone) {
  const Answer<Done> answer(AnyAnswer::replied("", SeqNr{1}, GlobalPosition{1}));

  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, Done{});
}

TEST(AnswerDeathTest, StopsWhoReadsAReplyThatIsNotThere) {
  const Answer<ledger::Balance> answer(AnyAnswer::rejected("no", SeqNr{0}));

  EXPECT_DEATH(static_cast<void>(answer->amount()), "did not reply");
}

}  // namespace
}  // namespace evershard
