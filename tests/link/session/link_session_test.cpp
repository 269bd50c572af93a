#include "evershard/cluster/link/session/link_session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "evershard/protocol/codec.hpp"
#include "tests/link/session/two_peers.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(LinkSession, CarriesRequestsAnswersAndMessagesBothWays) {
  TwoPeers peers;
  peers.connect(5, at(0));
  ASSERT_TRUE(peers.a.request(1, "from a", at(0), 1'500));
  ASSERT_TRUE(peers.b.request(2, "from b", at(0)));
  ASSERT_TRUE(peers.a.peer.calls().message(MessageKind(9), "a message", at(0)));
  ASSERT_TRUE(peers.carry(at(10)));

  ASSERT_EQ(peers.b.requests.size(), 1u);
  EXPECT_EQ(peers.b.requests[0].bytes, "from a");
  EXPECT_EQ(peers.b.requests[0].kind, MessageKind(7));
  EXPECT_EQ(peers.b.requests[0].deadline, at(1'500)) << "what was left of its time, from when it came";
  ASSERT_EQ(peers.b.messages.size(), 1u);
  EXPECT_EQ(peers.b.messages[0].bytes, "a message");
  EXPECT_EQ(peers.b.messages[0].kind, MessageKind(9));

  peers.a.answer_all(at(10));
  peers.b.peer.answer(SessionNumber(5), CallNumber(1), refuse(ErrorCode::version_conflict, "it moved", at_position(4)));
  ASSERT_TRUE(peers.carry(at(20)));
  EXPECT_EQ(peers.b.answers.at(2).value(), "answer to from b");
  EXPECT_EQ(peers.a.answers.at(1).error(), Error(ErrorCode::version_conflict, "it moved", at_position(4)));
}

TEST(LinkSession, CutsWhatIsLargeAndPutsItTogether) {
  TwoPeers peers;
  peers.connect(5, at(0));
  std::mt19937_64 random(1);
  std::string large(5u << 20, '\0');
  for (auto& c : large) c = static_cast<char>(random());
  ASSERT_TRUE(peers.a.request(1, large, at(0)));
  ASSERT_TRUE(peers.a.peer.calls().message(MessageKind(1), large, at(0)));
  const auto first = peers.a.written(at(0), 1);
  EXPECT_LE(first.size(), LinkLimits{}.frame_bytes_max);
  ASSERT_TRUE(peers.b.receive(first, at(0)));
  EXPECT_TRUE(peers.b.requests.empty());
  ASSERT_TRUE(peers.carry(at(0)));
  EXPECT_EQ(peers.b.requests.at(0).bytes, large);
  EXPECT_EQ(peers.b.messages.at(0).bytes, large);
  peers.b.peer.answer(SessionNumber(5), CallNumber(1), large);
  ASSERT_TRUE(peers.carry(at(0)));
  EXPECT_EQ(peers.a.answers.at(1).value(), large);
}

TEST(LinkSession, KeepsFramesWithinTheirBounds) {
  LinkLimits limits;
  limits.frame_bytes_max = 4'096;
  limits.frame_items_max = 10;
  TwoPeers peers(limits, limits);
  peers.connect(5, at(0));
  for (std::uint64_t ticket = 1; ticket <= 500; ++ticket)
    ASSERT_TRUE(peers.a.request(ticket, std::string(ticket * 7 % 900, 'x'), at(0)));
  FrameReader reader;
  reader.feed(peers.a.written(at(0)));
  std::size_t pieces = 0;
  while (true) {
    const auto frame = reader.next();
    ASSERT_TRUE(frame);
    if (!*frame) break;
    EXPECT_LE((*frame)->body.size() + frame_header_bytes, 4'096u);
    ByteReader in((*frame)->body.substr(8));
    std::size_t items = 0;
    while (in.left() > 0) ASSERT_TRUE(read_piece(in, FrameType::requests)) << ++items;
    EXPECT_LE(items, 10u);
    ++pieces;
  }
  EXPECT_GE(pieces, 50u);
}

TEST(LinkSession, LargePayloadsOfOneLaneDoNotHoldTheOthers) {
  TwoPeers peers;
  peers.connect(5, at(0));
  ASSERT_TRUE(peers.a.request(1, std::string(30u << 20, 'x'), at(0)));
  (void)peers.a.written(at(0), 1);
  ASSERT_TRUE(peers.a.peer.calls().message(MessageKind(9), "soon", at(0)));
  // The next two frames: one of each lane.
  const auto next = peers.a.written(at(0), (1u << 20) + 1);
  EXPECT_THAT(next, HasSubstr("soon"));
}

TEST(LinkSession, IsHeardEveryHeartbeatAndGivenUpWithoutThem) {
  TwoPeers peers;
  peers.connect(5, at(0));
  EXPECT_TRUE(peers.a.written(at(499)).empty());
  for (int ms = 500; ms <= 10'000; ms += 100) {
    const auto beat = peers.a.written(at(ms));
    ASSERT_TRUE(peers.b.receive(beat, at(ms)));
    EXPECT_TRUE(peers.b.peer.session()->check_alive(at(ms))) << ms;
  }
  for (int ms = 10'100; ms < 12'000; ms += 100) EXPECT_TRUE(peers.b.peer.session()->check_alive(at(ms))) << ms;
  const auto dead = peers.b.peer.session()->check_alive(at(12'000));
  EXPECT_EQ(dead.error(), Error(ErrorCode::unavailable, "nothing was heard of it for 2000 ms"));
}

TEST(LinkSession, GivesBackTheRoomOfMessages) {
  LinkLimits limits;
  limits.payload_bytes_max = 1'000;
  limits.message_bytes_max = 10'000;
  TwoPeers peers(limits, limits);
  peers.connect(5, at(0));
  std::size_t sent = 0;
  for (int i = 0; i < 100; ++i) {
    for (int n = 0; n < 5; ++n) ASSERT_TRUE(peers.a.peer.calls().message(MessageKind(1), std::string(900, 'm'), at(i)));
    ASSERT_TRUE(peers.carry(at(i)));
    std::uint64_t held = 0;
    for (const auto& message : peers.b.messages) held += message.cost;
    EXPECT_LE(held, 10'000u);
    for (const auto& message : peers.b.messages) peers.b.peer.release(message.session, message.cost);
    sent += peers.b.messages.size();
    peers.b.messages.clear();
  }
  ASSERT_TRUE(peers.carry(at(100)));
  EXPECT_EQ(sent + peers.b.messages.size(), 500u);
}

TEST(LinkSession, EndsWithWhoOverdrawsItsCredit) {
  LinkLimits strict;
  strict.requests_max = 3;
  TwoPeers peers(LinkLimits{}, strict);
  // The peer was granted three; it behaves as if it had been granted many.
  peers.a.peer.begin(agreement(2, 5), at(0));
  peers.b.peer.begin(agreement(1, 5), at(0));
  for (std::uint64_t ticket = 1; ticket <= 4; ++ticket) ASSERT_TRUE(peers.a.request(ticket, "x", at(0)));
  const auto received = peers.b.receive(peers.a.written(at(0)), at(0));
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ErrorCode::corruption);
  EXPECT_THAT(received.error().what, HasSubstr("more than it was granted"));

  LinkLimits few_messages;
  few_messages.message_bytes_max = 100;
  TwoPeers others(LinkLimits{}, few_messages);
  others.a.peer.begin(agreement(2, 5), at(0));
  others.b.peer.begin(agreement(1, 5), at(0));
  ASSERT_TRUE(others.a.peer.calls().message(MessageKind(1), std::string(50, 'm'), at(0)));
  EXPECT_THAT(others.b.receive(others.a.written(at(0)), at(0)).error().what,
              HasSubstr("more messages than it was granted"));
}

TEST(LinkSession, NoticesAFrameThatIsMissingOrCameTwice) {
  TwoPeers peers;
  peers.connect(5, at(0));
  const auto beat = [&](int ms) { return peers.a.written(at(ms)); };
  const auto first = beat(500), second = beat(1'000), third = beat(1'500);
  ASSERT_TRUE(peers.b.receive(first, at(500)));
  EXPECT_THAT(peers.b.receive(third, at(1'500)).error().what, HasSubstr("frame 3 behind frame 1"));

  TwoPeers twice;
  twice.connect(5, at(0));
  const auto frame = twice.a.written(at(500));
  ASSERT_TRUE(twice.b.receive(frame, at(500)));
  EXPECT_THAT(twice.b.receive(frame, at(500)).error().what, HasSubstr("frame 1 behind frame 1"));
}

TEST(LinkSession, DropsWhatBelongsToAnotherSession) {
  TwoPeers peers;
  peers.connect(5, at(0));
  ASSERT_TRUE(peers.a.request(1, "old", at(0)));
  const auto old_frames = peers.a.written(at(0));
  peers.connect(6, at(10));
  ASSERT_TRUE(peers.b.receive(old_frames, at(10)));
  EXPECT_TRUE(peers.b.requests.empty());
  EXPECT_EQ(peers.b.peer.session()->stale_frames(), 1u);
  EXPECT_EQ(peers.a.code(1), ErrorCode::timeout);
}

TEST(LinkSession, DropsAnswersAndReleasesOfAnOldSession) {
  TwoPeers peers;
  peers.connect(5, at(0));
  ASSERT_TRUE(peers.a.request(1, "one", at(0)));
  ASSERT_TRUE(peers.carry(at(0)));
  const auto old = peers.b.requests.at(0);
  peers.connect(6, at(10));
  ASSERT_TRUE(peers.a.request(2, "two", at(10)));
  ASSERT_TRUE(peers.carry(at(10)));
  EXPECT_EQ(old.number, peers.b.requests.at(1).number)
      << "numbers start again: without sessions one would be taken for the other";

  peers.b.peer.answer(old.session, old.number, "answer to one");
  peers.b.peer.release(old.session, 1'000);
  ASSERT_TRUE(peers.carry(at(20)));

  peers.a.collect();
  EXPECT_FALSE(peers.a.answers.contains(2));
  peers.b.peer.answer(SessionNumber(6), old.number, "answer to two");
  ASSERT_TRUE(peers.carry(at(30)));
  EXPECT_EQ(peers.a.answers.at(2).value(), "answer to two");
  EXPECT_EQ(peers.a.code(1), ErrorCode::timeout);
}

TEST(LinkSession, SaysGoodbyeWithAReason) {
  TwoPeers peers;
  peers.connect(5, at(0));
  std::string out;
  peers.a.peer.session()->write_goodbye(out, {ErrorCode::cancelled, "node 1 stops"});
  EXPECT_EQ(peers.b.receive(out, at(0)).error(),
            Error(ErrorCode::cancelled, "the peer ended the session: node 1 stops"));
}

TEST(LinkSession, AnswersTimeoutWhenItEndsAndKeepsWhatWasNotSent) {
  LinkLimits one;
  one.requests_max = 1;
  TwoPeers peers(one, one);
  peers.connect(5, at(0));
  ASSERT_TRUE(peers.a.request(1, "sent", at(0)));
  ASSERT_TRUE(peers.a.request(2, "waiting", at(0)));
  ASSERT_TRUE(peers.carry(at(0)));
  EXPECT_TRUE(peers.a.peer.end("killed", at(10)));
  EXPECT_FALSE(peers.a.peer.end("killed", at(10)));
  EXPECT_EQ(peers.a.code(1), ErrorCode::timeout);
  EXPECT_FALSE(peers.a.answers.contains(2));
  peers.b.requests.clear();
  peers.connect(6, at(20));
  ASSERT_TRUE(peers.carry(at(20)));
  peers.b.answer_all(at(20));
  ASSERT_TRUE(peers.carry(at(20)));
  EXPECT_EQ(peers.a.answers.at(2).value(), "answer to waiting");
}

TEST(LinkSession, RefusesFramesThatSayWhatTheyMustNot) {
  const auto outcome = [](FrameType type, const std::string& body) {
    TwoPeers peers;
    peers.connect(5, at(0));
    std::string out;
    FrameWriter writer(out);
    out += body;
    writer.finish(SessionNumber(5), 1, type);
    const auto received = peers.b.receive(out, at(0));
    return received ? "taken" : received.error().what;
  };
  const std::string nothing_released(8, '\0');
  std::string answer = nothing_released;
  write_piece(answer, FrameType::answers, {PieceType::first, CallNumber(1), {}, 0, 1, "x"});
  std::string no_error = nothing_released;
  write_piece(no_error, FrameType::answers, {PieceType::refusal, CallNumber(1), {}, 0, 0, "\xff\xff"});
  EXPECT_EQ(outcome(FrameType::heartbeat, nothing_released), "taken");
  EXPECT_THAT(outcome(FrameType::heartbeat, "1234567"), HasSubstr("ends early"));
  EXPECT_THAT(outcome(FrameType::heartbeat, nothing_released + "x"), HasSubstr("with more in it"));
  EXPECT_THAT(outcome(FrameType::heartbeat, std::string(8, '\1')),
              HasSubstr("of messages, after 0 bytes of the 0 bytes it was sent"));
  EXPECT_THAT(outcome(FrameType::answers, answer), HasSubstr("answered request 1, which is not under way"));
  EXPECT_THAT(outcome(FrameType::answers, no_error), HasSubstr("a refusal that is no error"));
  EXPECT_THAT(outcome(FrameType::requests, nothing_released + "\x09"), HasSubstr("a piece of type 9"));
  EXPECT_THAT(outcome(FrameType::goodbye, "\xff\xff"), HasSubstr("a goodbye without a reason"));
}

TEST(LinkSession, SurvivesFramesOfGarbageWithARightChecksum) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 3'000; ++round) {
    TwoPeers peers;
    peers.connect(5, at(0));
    std::string out;
    for (std::uint32_t sequence = 1; sequence <= 4; ++sequence) {
      FrameWriter writer(out);
      std::string body(random() % 8 == 0 ? random() % 8 : 8, '\0');
      for (auto n = random() % 100; n > 0; --n)
        body.push_back(static_cast<char>(random() % 3 == 0 ? random() : random() % 4));
      out += body;
      writer.finish(SessionNumber(5), sequence, FrameType(1 + random() % 5));
    }
    (void)peers.b.receive(out, at(0));
    EXPECT_LE(peers.b.requests.size(), LinkLimits{}.requests_max);
  }
}

}  // namespace
}  // namespace evershard::cluster
