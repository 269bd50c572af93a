// Who connects and is no peer, or is one and misbehaves: it is gone, and nobody else notices.

#include <gmock/gmock.h>
#include <sys/resource.h>

#include <atomic>
#include <fstream>
#include <list>
#include <random>

#include "tests/link/shell/raw_peer.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

std::size_t resident_mb() {
  std::ifstream in("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  in >> all >> resident;
  return resident * 4'096 >> 20;
}

/// A node with an honest peer, which must not notice anything.
class Hostile : public ::testing::Test {
 protected:
  Hostile() : node(test_options(1)), honest(test_options(2)) {
    node.listen();
    honest.dial(node);
    EXPECT_TRUE(wait_for([&] { return honest.ask(1, "before").has_value(); }));
  }
  void TearDown() override {
    EXPECT_TRUE(honest.ask(1, "after"));
    EXPECT_EQ(honest.count(honest.downs, 1), 0);
    EXPECT_EQ(node.count(node.downs, 2), 0);
  }
  std::string frame(FrameType type, std::string_view body, std::uint32_t sequence = 1) {
    std::string out;
    FrameWriter writer(out);
    out += body;
    writer.finish(SessionNumber(99), sequence, type);
    return out;
  }
  TestNode node, honest;
};

TEST_F(Hostile, GarbageIsRefused) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    RawPeer raw(node.port);
    std::string garbage(64 + random() % 5'000, '\0');
    for (auto& c : garbage) c = static_cast<char>(random());
    raw.say(garbage);
    EXPECT_TRUE(raw.is_over());
  }
  EXPECT_TRUE(wait_for([&] { return node.was_refused("the dialler does not know the secret"); }));
}

TEST_F(Hostile, OtherProtocolsAreRefused) {
  const std::string client_hello("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11);
  const std::string basp("\x00\x00\x00\x00\x7f\xff\xff\xff\x00\x00\x00\x00\x00\x00\x00\x03", 16);
  for (const auto& words : {std::string("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"), client_hello, basp}) {
    RawPeer raw(node.port);
    raw.say(words + std::string(200, 'x'));
    EXPECT_TRUE(raw.is_over());
  }
}

TEST_F(Hostile, HalfAGreetingAndSilenceEndInASecond) {
  RawPeer silent(node.port), half(node.port), slow(node.port);
  half.say(std::string(63, 'x'));
  const auto began = std::chrono::steady_clock::now();
  std::thread dripping([&] {
    for (int i = 0; i < 40 && slow.say("x"); ++i) std::this_thread::sleep_for(50ms);
  });
  EXPECT_TRUE(silent.is_over());
  EXPECT_TRUE(half.is_over());
  EXPECT_TRUE(slow.is_over());
  EXPECT_LT(std::chrono::steady_clock::now() - began, 60s);
  dripping.join();
  EXPECT_TRUE(wait_for([&] { return node.was_refused("it was silent, or too slow"); }));
}

TEST_F(Hostile, ConnectingAndLeavingHarmsNobody) {
  for (int i = 0; i < 500; ++i) {
    RawPeer raw(node.port);
    if (i % 2 == 0) raw.say("EVSLINK\x01");
  }
}

TEST_F(Hostile, ACrowdOfSilentOnesDoesNotKeepPeersOut) {
  auto patient = test_options(4);
  patient.limits.greeting_time_max = 60s;  // the crowd stays
  TestNode crowded(patient), late(test_options(5));
  crowded.listen();
  std::list<RawPeer> crowd;
  for (int i = 0; i < 400; ++i) crowd.emplace_back(crowded.port);
  EXPECT_TRUE(wait_for([&] { return crowded.was_refused("too many connected that have not shown who they are"); }));
  late.dial(crowded);
  EXPECT_TRUE(late.ask(4, "let me in"));
}

TEST_F(Hostile, AGreetingHeardBeforeIsNoUse) {
  // What an honest peer said, said again on a new connection: the nonce is another one.
  std::string said;
  {
    RawPeer raw(node.port);
    const auto hello = raw.hear(40);
    LinkNonce theirs, ours;
    std::copy(hello.begin() + 8, hello.end(), theirs.begin());
    ours.fill('n');
    said = std::string(ours.data(), ours.size()) + secret_proof(test_secret, LinkSide::dialler, theirs, ours);
    raw.say(said);
    EXPECT_EQ(raw.hear(33).at(0), '\0') << "it was right";
  }
  RawPeer again(node.port);
  again.hear(40);
  again.say(said);
  EXPECT_EQ(again.hear(33).at(0), '\1');
  EXPECT_TRUE(again.is_over());
}

TEST_F(Hostile, APeerThatSendsGarbageAfterItsGreetingIsCutOff) {
  for (const auto& [bytes, why] :
       {std::pair<std::string, std::string>{std::string(100, 'x'), "is no frame"},
        {std::string("\xff\xff\xff\x7f", 4) + std::string(20, 'x'), "is no frame: 2147483647 bytes long"},
        {frame(FrameType::messages, std::string(8, '\0') + "\x07"), "a piece of type 7"},
        {frame(FrameType::heartbeat, std::string(8, '\0'), 2), "frame 2 behind frame 0"},
        {frame(FrameType::heartbeat, std::string(8, '\1')), "bytes it was sent"}}) {
    RawPeer raw(node.port);
    ASSERT_TRUE(raw.greet(7, 1));
    raw.say(bytes);
    EXPECT_TRUE(raw.is_over()) << why;
    EXPECT_TRUE(wait_for([&, why = why] {
      return node.look([&] {
        return !node.reasons.empty() && node.reasons.back().code == ErrorCode::corruption &&
               node.reasons.back().what.find(why) != std::string::npos;
      });
    })) << why;
  }
}

TEST_F(Hostile, APeerThatGreetsAndIsSilentIsGivenUpInTwoSeconds) {
  TestNode noticing(noticing_options(1));
  noticing.listen();
  RawPeer raw(noticing.port);
  const auto began = std::chrono::steady_clock::now();
  ASSERT_TRUE(raw.greet(7, 1));
  EXPECT_TRUE(raw.is_over());
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_GE(took, 1'900ms);
  EXPECT_LT(took, 60s);
}

TEST_F(Hostile, WhatAPeerAnnouncesIsNotReserved) {
  const auto before = resident_mb();
  std::list<RawPeer> peers;
  for (std::uint32_t i = 0; i < 20; ++i) {
    auto& raw = peers.emplace_back(node.port);
    ASSERT_TRUE(raw.greet(100 + i, 1));
    std::string body(8, '\0');
    write_piece(body, FrameType::messages, {PieceType::first, CallNumber(1), MessageKind(1), 0, 32u << 20, "x"});
    raw.say(frame(FrameType::messages, body));
  }
  EXPECT_TRUE(honest.ask(1, "x"));
  EXPECT_LT(resident_mb(), before + 50);
}

// It sends heartbeats and reads nothing: what is kept for it has a bound.
TEST_F(Hostile, APeerThatDoesNotReadCostsABoundedAmountOfMemory) {
  RawPeer raw(node.port);
  ASSERT_TRUE(raw.greet(7, 1));
  ASSERT_TRUE(wait_for([&] { return node.is_connected(7); }));
  std::atomic<bool> over{false};
  std::thread heart([&] {
    for (std::uint32_t n = 1; !over; ++n) {
      if (!raw.say(frame(FrameType::heartbeat, std::string(8, '\0'), n))) return;
      std::this_thread::sleep_for(200ms);
    }
  });
  const auto before = resident_mb();
  static std::atomic<int> answered{0},
      refused{0};  // what is in flight is answered when the node stops, after this function
  constexpr int requests = 100'000;
  for (int i = 0; i < requests; ++i) {
    node.links->request(NodeNumber(7), MessageKind(1), std::string(4'096, 'x'), 60s,
                        [&](const Result<std::string>& outcome) {
                          ++answered;
                          if (!outcome && outcome.error().code != ErrorCode::timeout) ++refused;
                        });
  }
#ifdef __SANITIZE_ADDRESS__
  constexpr auto quarantine_mb =
      256 + 128;  // what is freed is kept for a while, by default so much, and every piece has a frame
#else
  constexpr auto quarantine_mb = 0;
#endif
  EXPECT_LT(resident_mb(), before + 250 + quarantine_mb)
      << "64 MiB that wait, as many on the way through the process, and buffers";
  EXPECT_TRUE(wait_for([&] { return answered + static_cast<int>(LinkLimits{}.requests_max) >= requests; }));
  EXPECT_GT(refused, requests / 2);
  over = true;
  heart.join();
}

TEST(HostileAnswer, ADiallerSurvivesWhoeverAnswers) {
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listening, reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listening, 16), 0);
  ASSERT_EQ(::getsockname(listening, reinterpret_cast<sockaddr*>(&address), &size), 0);
  TestNode node(test_options(5)), good(test_options(1));
  good.listen();
  node.dial(good);
  node.dial(NodeNumber(2), ntohs(address.sin_port));
  std::mt19937_64 random(2);
  for (int round = 0; round < 6; ++round) {
    const int peer = ::accept(listening, nullptr, nullptr);
    std::string words(round == 0 ? 0 : 1'000, '\0');
    for (auto& c : words) c = static_cast<char>(random());
    if (round == 5)
      words = std::string("EVSLINK\x01", 8) + std::string(32, 'n') + std::string(1, '\0') + std::string(32, 'p');
    (void)!::send(peer, words.data(), words.size(), MSG_NOSIGNAL);
    std::this_thread::sleep_for(20ms);
    ::close(peer);
    EXPECT_TRUE(node.ask(1, "x"));
  }
  ::close(listening);
  EXPECT_TRUE(wait_for([&] {
    return node.was_refused("does not speak this protocol") && node.was_refused("the peer does not know the secret");
  }));
}

}  // namespace
}  // namespace evershard::cluster
