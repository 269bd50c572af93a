#include "evershard/cluster/link/session/call_queue.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/link/session/two_peers.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

LinkLimits small_limits() {
  LinkLimits limits;
  limits.queue_calls_max = 3;
  limits.queue_bytes_max = 1'000;
  limits.payload_bytes_max = 500;
  return limits;
}

LinkCredit credit_of(std::uint32_t requests, std::uint64_t bytes) { return {requests, bytes, bytes, 1u << 20}; }

struct Queue {
  explicit Queue(const LinkLimits& limits = small_limits()) : calls(NodeNumber(2), limits, at(0)) {}
  Result<void> request(std::uint64_t ticket, std::size_t bytes, int now_ms, int deadline_ms = 60'000) {
    return calls.request(CallTicket(ticket), MessageKind(1), std::string(bytes, 'x'), at(deadline_ms), at(now_ms));
  }
  /// How many went out.
  std::size_t send(int now_ms, FrameRoom room = {1u << 20, 256}) {
    std::string body;
    const auto before = calls.in_flight();
    calls.write_requests(body, room, at(now_ms));
    return calls.in_flight() - before;
  }
  std::vector<std::pair<std::uint64_t, ErrorCode>> answers() {
    std::vector<std::pair<std::uint64_t, ErrorCode>> out;
    for (const auto& answer : calls.take_answers())
      out.emplace_back(answer.ticket.value, answer.outcome ? ErrorCode{} : answer.outcome.error().code);
    return out;
  }
  CallQueue calls;
};

using Answered = std::pair<std::uint64_t, ErrorCode>;

TEST(CallQueue, IsBoundedInCallsAndInBytes) {
  Queue queue;
  EXPECT_TRUE(queue.request(1, 10, 0));
  EXPECT_TRUE(queue.calls.message(MessageKind(1), std::string(10, 'm'), at(0)));
  EXPECT_TRUE(queue.request(2, 10, 0));
  const auto fourth = queue.request(3, 10, 0);
  EXPECT_EQ(fourth.error().code, ErrorCode::overloaded);
  EXPECT_THAT(fourth.error().what, HasSubstr("3 calls of 30 bytes wait for node 2"));

  Queue heavy;
  EXPECT_TRUE(heavy.request(1, 500, 0));
  EXPECT_TRUE(heavy.request(2, 500, 0));
  EXPECT_EQ(heavy.request(3, 1, 0).error().code, ErrorCode::overloaded);
  EXPECT_EQ(heavy.calls.message(MessageKind(1), "m", at(0)).error().code, ErrorCode::overloaded);
  heavy.calls.begin(credit_of(10, 10'000));
  EXPECT_EQ(heavy.send(0), 2u);
  EXPECT_EQ(heavy.calls.waiting_bytes(), 0u) << "what is sent takes no room";
  EXPECT_TRUE(heavy.request(3, 500, 0));
  EXPECT_THAT(heavy.answers(), ElementsAre());
}

TEST(CallQueue, RefusesAPayloadThatIsTooLarge) {
  Queue queue;
  const auto refused = queue.request(1, 501, 0);
  EXPECT_EQ(refused.error().code, ErrorCode::too_large);
  EXPECT_THAT(refused.error().what, HasSubstr("501 bytes"));
  queue.calls.begin({10, 10'000, 10'000, 100});
  EXPECT_EQ(queue.request(1, 101, 0).error().code, ErrorCode::too_large) << "for this peer";
}

TEST(CallQueue, RefusesWhatTheNextSessionsPeerDoesNotTake) {
  Queue queue;
  ASSERT_TRUE(queue.request(1, 200, 0));
  ASSERT_TRUE(queue.request(2, 50, 0));
  queue.calls.begin({10, 10'000, 10'000, 100});
  EXPECT_EQ(queue.send(0), 1u);
  EXPECT_THAT(queue.answers(), ElementsAre(Answered{1, ErrorCode::too_large}));
}

TEST(CallQueue, KeepsToTheCreditInRequests) {
  Queue queue;
  queue.calls.begin(credit_of(2, 10'000));
  for (std::uint64_t ticket = 1; ticket <= 3; ++ticket) ASSERT_TRUE(queue.request(ticket, 10, 0));
  EXPECT_EQ(queue.send(0), 2u);
  EXPECT_EQ(queue.send(0), 0u);
  ASSERT_TRUE(queue.calls.answered(CallNumber(2), "yes"));
  EXPECT_EQ(queue.send(0), 1u);
  EXPECT_THAT(queue.answers(), ElementsAre(Answered{2, ErrorCode{}}));
}

TEST(CallQueue, KeepsToTheCreditInBytes) {
  Queue queue;
  queue.calls.begin(credit_of(10, 500));
  ASSERT_TRUE(queue.request(1, 300, 0));
  ASSERT_TRUE(queue.request(2, 300, 0));
  EXPECT_EQ(queue.send(0), 1u);
  ASSERT_TRUE(queue.calls.answered(CallNumber(1), "yes"));
  EXPECT_EQ(queue.send(0), 1u);
}

TEST(CallQueue, CreditIsHeldByWhatThePeerStillWorksOn) {
  Queue queue;
  queue.calls.begin(credit_of(1, 10'000));
  ASSERT_TRUE(queue.request(1, 10, 0, 100));
  ASSERT_TRUE(queue.request(2, 10, 0));
  EXPECT_EQ(queue.send(0), 1u);
  queue.calls.expire(at(100));
  EXPECT_THAT(queue.answers(), ElementsAre(Answered{1, ErrorCode::timeout}));
  EXPECT_EQ(queue.send(100), 0u) << "the peer has not answered yet";
  ASSERT_TRUE(queue.calls.answered(CallNumber(1), "late"));
  EXPECT_EQ(queue.send(100), 1u);
  EXPECT_THAT(queue.answers(), ElementsAre()) << "its caller was answered";
}

TEST(CallQueue, MessagesWaitForRoomOfTheirOwn) {
  Queue queue;
  queue.calls.begin({1, 10, 2 * (100 + message_bytes_extra), 1'000});
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(queue.calls.message(MessageKind(1), std::string(100, 'm'), at(0)));
  std::string body;
  EXPECT_TRUE(queue.calls.write_messages(body, {1u << 20, 256}));
  EXPECT_EQ(queue.calls.waiting(), 1u);
  EXPECT_FALSE(queue.calls.write_messages(body, {1u << 20, 256}));
  ASSERT_TRUE(queue.calls.released(100 + message_bytes_extra));
  EXPECT_TRUE(queue.calls.write_messages(body, {1u << 20, 256}));
  EXPECT_EQ(queue.calls.waiting(), 0u);
}

TEST(CallQueue, RefusesCountersThatCannotBe) {
  Queue queue;
  queue.calls.begin(credit_of(10, 10'000));
  ASSERT_TRUE(queue.calls.message(MessageKind(1), "m", at(0)));
  std::string body;
  queue.calls.write_messages(body, {1u << 20, 256});
  EXPECT_TRUE(queue.calls.released(65));
  EXPECT_EQ(queue.calls.released(64).error().code, ErrorCode::corruption) << "backwards";
  EXPECT_EQ(queue.calls.released(66).error().code, ErrorCode::corruption) << "more than was sent";
  EXPECT_EQ(queue.calls.answered(CallNumber(1), "x").error().code, ErrorCode::corruption) << "nothing was asked";
}

TEST(CallQueue, SaysOverloadedOfWhatWaitedTooLongInASession) {
  Queue queue;
  queue.calls.begin(credit_of(1, 10'000));
  ASSERT_TRUE(queue.request(1, 10, 0));
  ASSERT_TRUE(queue.request(2, 10, 0));
  EXPECT_EQ(queue.send(0), 1u);
  queue.calls.expire(at(1'999));
  EXPECT_THAT(queue.answers(), ElementsAre());
  queue.calls.expire(at(2'000));
  EXPECT_THAT(queue.answers(), ElementsAre(Answered{2, ErrorCode::overloaded}));
  EXPECT_EQ(queue.calls.waiting(), 0u);
  EXPECT_EQ(queue.calls.waiting_bytes(), 0u);
}

TEST(CallQueue, SaysUnavailableOfWhatWaitedTooLongWithoutOne) {
  Queue queue;
  ASSERT_TRUE(queue.request(1, 10, 0));
  ASSERT_TRUE(queue.request(2, 10, 0, 500));
  queue.calls.expire(at(500));
  EXPECT_THAT(queue.answers(), ElementsAre(Answered{2, ErrorCode::unavailable}))
      << "its own deadline came first, and it was never sent";
  queue.calls.expire(at(2'000));
  EXPECT_THAT(queue.answers(), ElementsAre(Answered{1, ErrorCode::unavailable}));
}

TEST(CallQueue, RefusesAtOnceWhenThePeerIsGoneForLong) {
  Queue queue;
  EXPECT_TRUE(queue.request(1, 1, 1'999));
  EXPECT_EQ(queue.request(2, 1, 2'000).error().code, ErrorCode::unavailable);
  queue.calls.begin(credit_of(1, 10'000));
  queue.calls.end("killed", at(5'000));
  EXPECT_TRUE(queue.request(3, 1, 6'999)) << "it may come back";
  const auto late = queue.request(4, 1, 7'000);
  EXPECT_EQ(late.error().code, ErrorCode::unavailable);
  EXPECT_THAT(late.error().what, HasSubstr("node 2 is not connected: killed"));
}

TEST(CallQueue, AnswersTimeoutToWhatWasUnderWayWhenASessionEnds) {
  Queue queue;
  queue.calls.begin(credit_of(2, 10'000));
  for (std::uint64_t ticket = 1; ticket <= 3; ++ticket) ASSERT_TRUE(queue.request(ticket, 10, 0));
  EXPECT_EQ(queue.send(0), 2u);

  queue.calls.end("killed", at(10));

  EXPECT_THAT(queue.answers(), ElementsAre(Answered{1, ErrorCode::timeout}, Answered{2, ErrorCode::timeout}));
  queue.calls.begin(credit_of(2, 10'000));
  EXPECT_EQ(queue.send(20), 1u) << "what was not sent goes out in the next session";
  EXPECT_TRUE(queue.calls.answered(CallNumber(1), "numbers begin again"));
  EXPECT_THAT(queue.answers(), ElementsAre(Answered{3, ErrorCode{}}));
}

TEST(CallQueue, APayloadSentInPartGoesWithItsSession) {
  Queue queue;
  queue.calls.begin(credit_of(2, 10'000));
  ASSERT_TRUE(queue.request(1, 400, 0));
  ASSERT_TRUE(queue.request(2, 10, 0));
  EXPECT_EQ(queue.send(0, {100, 1}), 1u);
  queue.calls.expire(at(100'000));
  EXPECT_EQ(queue.calls.waiting(), 1u) << "the rest of it must follow, answered or not";
  EXPECT_THAT(queue.answers(), ElementsAre(Answered{2, ErrorCode::overloaded}, Answered{1, ErrorCode::timeout}));
  queue.calls.end("killed", at(100'000));
  EXPECT_EQ(queue.calls.waiting(), 0u);
  EXPECT_EQ(queue.calls.waiting_bytes(), 0u);
}

TEST(CallQueue, IsFirstComeFirstServed) {
  Queue queue;
  queue.calls.begin(credit_of(10, 10'000));
  for (std::uint64_t ticket = 1; ticket <= 3; ++ticket) ASSERT_TRUE(queue.request(ticket, 10 * ticket, 0));
  std::string body;
  queue.calls.write_requests(body, {1u << 20, 256}, at(0));
  ByteReader in(body);
  for (std::uint64_t n = 1; n <= 3; ++n) {
    const auto piece = read_piece(in, FrameType::requests);
    EXPECT_EQ(piece->number, CallNumber(n));
    EXPECT_EQ(piece->total, 10 * n);
    EXPECT_EQ(piece->time_ms, 60'000u);
  }
}

TEST(CallQueue, ClosedAnswersEverythingAndTakesNothing) {
  Queue queue;
  queue.calls.begin(credit_of(1, 10'000));
  ASSERT_TRUE(queue.request(1, 10, 0));
  ASSERT_TRUE(queue.request(2, 10, 0));
  EXPECT_EQ(queue.send(0), 1u);
  queue.calls.close("the process stops");
  EXPECT_THAT(queue.answers(), ElementsAre(Answered{1, ErrorCode::timeout}, Answered{2, ErrorCode::cancelled}));
  EXPECT_EQ(queue.request(3, 1, 0).error().code, ErrorCode::cancelled);
}

TEST(CallQueue, CountsMessagesThatAreLost) {
  Queue queue;
  ASSERT_TRUE(queue.calls.message(MessageKind(1), "m", at(0)));
  queue.calls.expire(at(2'000));
  EXPECT_EQ(queue.calls.messages_lost(), 1u);
  EXPECT_EQ(queue.calls.waiting(), 0u);
}

}  // namespace
}  // namespace evershard::cluster
