#include "evershard/cluster/link/session/answer_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "evershard/cluster/link/session/piece.hpp"
#include "evershard/protocol/codec.hpp"
#include "tests/link/session/two_peers.hpp"

namespace evershard::cluster {
namespace {

using ::testing::HasSubstr;

LinkLimits answering_limits() {
  LinkLimits limits;
  limits.requests_max = 2;
  limits.request_bytes_max = limits.payload_bytes_max = 1'000;
  limits.answer_bytes_max = 1'500;
  return limits;
}

/// All answers, put together from frames of so many bytes.
std::vector<Whole> written_answers(AnswerQueue& queue, FrameRoom room) {
  Reassembly lane(FrameType::answers, 1u << 20);
  std::vector<Whole> out;
  while (true) {
    std::string body;
    if (!queue.write(body, room)) return out;
    ByteReader in(body);
    std::size_t items = 0;
    while (in.left() > 0) {
      auto whole = lane.add(*read_piece(in, FrameType::answers));
      EXPECT_TRUE(whole);
      if (*whole) out.push_back(**whole);
      ++items;
    }
    EXPECT_LE(items, room.items);
  }
}

TEST(AnswerQueue, RefusesMoreThanWasGranted) {
  AnswerQueue queue(answering_limits(), 2'000);
  EXPECT_TRUE(queue.open(CallNumber(1), 600));
  EXPECT_EQ(queue.open(CallNumber(2), 401).error().code, ErrorCode::corruption);
  EXPECT_TRUE(queue.open(CallNumber(2), 400));
  EXPECT_EQ(queue.open(CallNumber(3), 0).error().code, ErrorCode::corruption);
  queue.answer(CallNumber(1), "done");
  EXPECT_TRUE(queue.open(CallNumber(3), 600));
}

TEST(AnswerQueue, AnswersOnce) {
  AnswerQueue queue(answering_limits(), 2'000);
  ASSERT_TRUE(queue.open(CallNumber(1), 1));
  queue.answer(CallNumber(1), "one");
  queue.answer(CallNumber(1), "two");
  queue.answer(CallNumber(9), "nine");
  const auto answers = written_answers(queue, {1'000, 256});
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].bytes, "one");
  EXPECT_EQ(queue.waiting_bytes(), 0u);
}

TEST(AnswerQueue, CutsLargeAnswersAndKeepsRefusalsWhole) {
  for (const std::size_t room : {40u, 100u, 333u, 5'000u}) {
    AnswerQueue queue(answering_limits(), 2'000);
    ASSERT_TRUE(queue.open(CallNumber(1), 1));
    ASSERT_TRUE(queue.open(CallNumber(2), 1));
    const std::string large(900, 'x');
    queue.answer(CallNumber(1), large);
    queue.answer(CallNumber(2), refuse(ErrorCode::condition_failed, "no", at_position(7)));
    const auto answers = written_answers(queue, {room, 3});
    ASSERT_EQ(answers.size(), 2u) << room;
    EXPECT_EQ(answers[0].bytes, large);
    ASSERT_TRUE(answers[1].refusal);
    const auto error = codec::decode<Error>(answers[1].bytes);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::condition_failed);
    EXPECT_EQ(error->details->position, GlobalPosition(7));
  }
}

TEST(AnswerQueue, SaysTimeoutWhenNobodyTakesTheAnswers) {
  AnswerQueue queue(answering_limits(), 2'000);
  ASSERT_TRUE(queue.open(CallNumber(1), 1));
  ASSERT_TRUE(queue.open(CallNumber(2), 1));
  queue.answer(CallNumber(1), std::string(1'000, 'x'));
  queue.answer(CallNumber(2), std::string(501, 'x'));
  const auto answers = written_answers(queue, {1'000, 256});
  ASSERT_EQ(answers.size(), 2u);
  ASSERT_TRUE(answers[1].refusal);
  EXPECT_EQ(codec::decode<Error>(answers[1].bytes)->code, ErrorCode::timeout);
}

TEST(AnswerQueue, RefusesAnAnswerThatIsTooLarge) {
  AnswerQueue queue(answering_limits(), 2'000);
  ASSERT_TRUE(queue.open(CallNumber(1), 1));
  queue.answer(CallNumber(1), std::string(1'001, 'x'));
  const auto answers = written_answers(queue, {1'000, 256});
  ASSERT_TRUE(answers.at(0).refusal);
  EXPECT_EQ(codec::decode<Error>(answers[0].bytes)->code, ErrorCode::too_large);
}

TEST(AnswerQueue, RefusesAnAnswerThatIsTooLargeForThePeer) {
  AnswerQueue queue(answering_limits(), 500);
  ASSERT_TRUE(queue.open(CallNumber(1), 1));
  queue.answer(CallNumber(1), std::string(501, 'x'));
  const auto answers = written_answers(queue, {1'000, 256});
  ASSERT_TRUE(answers.at(0).refusal);
  EXPECT_EQ(codec::decode<Error>(answers[0].bytes)->code, ErrorCode::too_large);
}

TEST(AnswerQueue, SendsTextsThatAreLongOrNotText) {
  for (const auto& text : {std::string(100'000, 'x'), std::string("\xff\xfe broken")}) {
    AnswerQueue queue(answering_limits(), 2'000);
    ASSERT_TRUE(queue.open(CallNumber(1), 1));
    queue.answer(CallNumber(1), refuse(ErrorCode::io, text));
    const auto answers = written_answers(queue, {1'000, 256});
    const auto error = codec::decode<Error>(answers.at(0).bytes);
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code, ErrorCode::io);
    EXPECT_LE(error->what.size(), 4'200u);
  }
}

}  // namespace
}  // namespace evershard::cluster
