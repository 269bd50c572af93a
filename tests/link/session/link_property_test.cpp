// A seeded world: two peers, connections that end at any time, bytes cut anywhere, slow handlers, late answers.
// Whatever happens, every request has one answer, none says more than is known, and nothing holds more than its bound.

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>
#include <set>

#include "tests/link/session/two_peers.hpp"

namespace evershard::cluster {
namespace {

struct World {
  explicit World(std::uint64_t seed)
      : random(seed), limits_a(limits()), limits_b(limits()), peers(limits_a, limits_b) {}

  std::uint64_t pick(std::uint64_t n) { return random() % n; }
  LinkLimits limits() {
    LinkLimits l;
    l.payload_bytes_max = static_cast<std::uint32_t>(1'000 + pick(5'000));
    l.queue_calls_max = 5 + pick(100);
    l.queue_bytes_max = l.payload_bytes_max * (1 + pick(4));
    l.requests_max = static_cast<std::uint32_t>(1 + pick(20));
    l.request_bytes_max = l.payload_bytes_max * (1 + pick(4));
    l.message_bytes_max = l.payload_bytes_max * (1 + pick(4)) + message_bytes_extra;
    l.answer_bytes_max = l.payload_bytes_max * (1 + pick(20));
    l.frame_bytes_max = 1'024 + pick(4'000);
    l.frame_items_max = 1 + pick(20);
    return l;
  }

  void step() {
    now += std::chrono::milliseconds(pick(40));
    switch (pick(12)) {
      case 0:
      case 1:
      case 2:
        return ask(pick(2) == 0 ? peers.a : peers.b);
      case 3:
        return say(pick(2) == 0 ? peers.a : peers.b);
      case 4:
      case 5:
        return deliver(to_b, peers.b);
      case 6:
      case 7:
        return deliver(to_a, peers.a);
      case 8:
        return handle(peers.a);
      case 9:
        return handle(peers.b);
      case 10:
        return speak();
      default:
        if (pick(20) == 0) return pick(2) == 0 ? cut("cut off") : connect();
        for (auto* side : {&peers.a, &peers.b}) {
          side->peer.calls().expire(now);
          if (side->peer.session() && !side->peer.session()->check_alive(now)) cut("silent");
        }
    }
  }

  void connect() {
    cut("a newer one");
    ++session;
    to_a.clear();
    to_b.clear();
    peers.connect(session, now);
  }
  // Each side hears of it for itself; bytes under way are lost, or arrive first.
  void cut(const std::string& why) {
    if (pick(2) == 0) deliver(to_b, peers.b);
    peers.a.peer.end(why, now);
    peers.b.peer.end(why, now);
    to_a.clear();
    to_b.clear();
  }
  void ask(TestSide& side) {
    const auto ticket = ++tickets;
    const bool large = pick(4) == 0;
    std::string bytes =
        std::to_string(ticket) + ":" + std::string(pick(large ? side.limits.payload_bytes_max - 10 : 60), 'q');
    const auto taken = side.request(ticket, std::move(bytes), now, static_cast<int>(50 + pick(6'000)));
    (taken ? open : refused).insert(ticket);
    (&side == &peers.a ? asked_a : asked_b).insert(ticket);
  }
  void say(TestSide& side) {
    const auto number = ++said;
    (void)side.peer.calls().message(MessageKind(1), std::to_string(number) + ":" + std::string(pick(900), 'm'), now);
  }
  void speak() {
    to_b += peers.a.written(now, 1 + pick(8'000));
    to_a += peers.b.written(now, 1 + pick(8'000));
  }
  void deliver(std::string& bytes, TestSide& side) {
    const auto part = bytes.substr(0, 1 + pick(bytes.size() + 1));
    bytes.erase(0, part.size());
    const auto received = side.receive(part, now);
    EXPECT_TRUE(received) << received.error().what;
    look(side);
  }
  void handle(TestSide& side) {
    for (auto n = pick(6); n > 0 && !side.requests.empty(); --n) {
      const auto at = pick(side.requests.size());
      auto request = std::move(side.requests[at]);
      side.requests.erase(side.requests.begin() + static_cast<long>(at));
      const auto ticket = std::stoull(request.bytes);
      EXPECT_TRUE(handled.insert(ticket).second) << "request " << ticket << " was handled twice";
      side.peer.answer(request.session, request.number,
                       pick(5) == 0 ? Result<std::string>(refuse(ErrorCode::not_found, std::to_string(ticket)))
                                    : Result<std::string>(std::to_string(ticket) + ":" + std::string(pick(900), 'r')));
    }
    for (auto& message : side.messages) side.peer.release(message.session, message.cost);
    auto& last = &side == &peers.a ? last_said_a : last_said_b;
    for (auto& message : side.messages) {
      const auto number = std::stoull(message.bytes);
      EXPECT_GT(number, last) << "a message came twice, or overtook another";
      last = number;
    }
    side.messages.clear();
  }
  void look(TestSide& side) {
    side.collect();
    if (!side.peer.session()) return;
    EXPECT_LE(side.peer.session()->open_requests(), side.limits.requests_max);
    EXPECT_LE(side.peer.calls().waiting(), side.limits.queue_calls_max);
    EXPECT_LE(side.peer.calls().waiting_bytes(), side.limits.queue_bytes_max);
  }
  void check_answers(TestSide& side, const std::set<std::uint64_t>& asked) {
    side.collect();
    for (const auto& [ticket, count] : side.answer_counts) {
      EXPECT_EQ(count, 1) << "request " << ticket;
      EXPECT_TRUE(asked.contains(ticket));
      EXPECT_FALSE(refused.contains(ticket)) << "request " << ticket << " was refused, and answered too";
      const auto& outcome = side.answers.at(ticket);
      if (outcome) {
        EXPECT_EQ(std::stoull(*outcome), ticket) << "another's answer";
        EXPECT_TRUE(handled.contains(ticket));
      } else if (outcome.error().code == ErrorCode::not_found) {
        EXPECT_EQ(outcome.error().what, std::to_string(ticket));
      } else if (outcome.error().code != ErrorCode::timeout) {
        EXPECT_FALSE(handled.contains(ticket))
            << "request " << ticket << " was done, and its caller told " << outcome.error().what;
      }
    }
    for (const auto ticket : asked)
      EXPECT_TRUE(refused.contains(ticket) || side.answers.contains(ticket))
          << "request " << ticket << " was never answered";
  }

  std::mt19937_64 random;
  LinkTime now = at(0);
  LinkLimits limits_a, limits_b;
  TwoPeers peers;
  std::string to_a, to_b;
  std::uint64_t session = 0, tickets = 0, said = 0, last_said_a = 0, last_said_b = 0;
  std::set<std::uint64_t> open, refused, asked_a, asked_b, handled;
};

TEST(LinkProperty, EveryRequestHasOneAnswerAndNoneSaysTooMuch) {
  std::size_t answered = 0, timed_out = 0, refused = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    world.connect();
    for (int i = 0; i < 3'000; ++i) world.step();
    world.cut("the end");
    for (int ms = 0; ms < 20; ++ms) {
      world.now += std::chrono::milliseconds(1'000);
      world.peers.a.peer.calls().expire(world.now);
      world.peers.b.peer.calls().expire(world.now);
    }
    world.check_answers(world.peers.a, world.asked_a);
    world.check_answers(world.peers.b, world.asked_b);
    EXPECT_EQ(world.peers.a.peer.calls().waiting_bytes(), 0u);
    EXPECT_EQ(world.peers.a.peer.calls().in_flight(), 0u);
    for (const auto& [ticket, outcome] : world.peers.a.answers) {
      if (outcome)
        ++answered;
      else if (outcome.error().code == ErrorCode::timeout)
        ++timed_out;
      else
        ++refused;
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(answered, 10'000u) << "the world is a lively one";
  EXPECT_GT(timed_out, 500u);
  EXPECT_GT(refused, 500u);
}

// Without any fault nothing is refused or lost, whatever the limits.
TEST(LinkProperty, APatientWorldLosesNothing) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    World world(seed);
    world.connect();
    for (int round = 0; round < 200; ++round) {
      for (int n = 0; n < 5; ++n) world.ask(world.peers.a), world.say(world.peers.b);
      for (int n = 0; n < 8; ++n) {
        world.speak();
        world.deliver(world.to_b, world.peers.b);
        world.deliver(world.to_a, world.peers.a);
        world.handle(world.peers.b);
        world.handle(world.peers.a);
      }
      world.now += std::chrono::milliseconds(1);
    }
    for (int n = 0; n < 20'000 && (world.peers.a.peer.calls().waiting() + world.peers.a.peer.calls().in_flight() +
                                       world.peers.b.peer.calls().waiting() >
                                   0);
         ++n) {
      world.speak();
      world.deliver(world.to_b, world.peers.b);
      world.deliver(world.to_a, world.peers.a);
      world.handle(world.peers.b);
      world.handle(world.peers.a);
    }
    EXPECT_EQ(world.peers.a.peer.calls().waiting(), 0u);
    EXPECT_EQ(world.peers.a.peer.calls().in_flight(), 0u);
    EXPECT_EQ(world.peers.b.peer.calls().waiting(), 0u) << "messages that never found room";
    world.check_answers(world.peers.a, world.asked_a);
    for (const auto& [ticket, outcome] : world.peers.a.answers) {
      if (outcome || outcome.error().code == ErrorCode::not_found) continue;
      EXPECT_NE(outcome.error().what.find("answer was dropped"), std::string::npos) << outcome.error().what;
    }
    if (HasFailure()) break;
  }
}

}  // namespace
}  // namespace evershard::cluster
