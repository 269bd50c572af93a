// Real processes: killed, frozen, thawed.

#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "tests/link/shell/test_node.hpp"
#include "tests/process/process.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

struct LinkProcess {
  explicit LinkProcess(std::uint32_t node, std::uint16_t dials = 0)
      : process(dials == 0
                    ? std::vector<std::string>{EVERSHARD_LINK_NODE, std::to_string(node)}
                    : std::vector<std::string>{EVERSHARD_LINK_NODE, std::to_string(node), std::to_string(dials)}) {
    const auto lines = process.lines(1);
    port = lines.empty() ? std::uint16_t{0} : static_cast<std::uint16_t>(std::atoi(lines[0].c_str()));
  }
  testing::Process process;
  std::uint16_t port = 0;
};

std::chrono::milliseconds since(Clock::time_point began) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
}

TEST(LinkProcesses, AKilledPeerIsNoticedAtOnce) {
  TestNode two(test_options(2));
  auto soonest = std::chrono::milliseconds::max();  // a busy machine may hold up some of them
  for (int round = 1; round <= 5 && soonest >= 1'000ms; ++round) {
    LinkProcess one(1);
    two.dial(NodeNumber(1), one.port);
    EXPECT_EQ(two.ask(1, "x").value(), "1");

    const auto began = Clock::now();
    one.process.signal(SIGKILL);
    EXPECT_TRUE(wait_for([&] { return two.count(two.downs, 1) == round; }));
    soonest = std::min(soonest, since(began));
    EXPECT_EQ(two.ask(1, "x", 500ms).error().code, ErrorCode::unavailable);
  }
  EXPECT_LT(soonest, 1'000ms);
}

TEST(LinkProcesses, AFrozenPeerIsNoticedInTwoSecondsAndTakenBackWhenItThaws) {
  TestNode two(noticing_options(2)), other(test_options(3));
  LinkProcess one(1);
  two.dial(NodeNumber(1), one.port);
  two.listen();
  other.dial(two);
  ASSERT_TRUE(two.ask(1, "x"));
  std::this_thread::sleep_for(700ms);  // heartbeats have gone to and fro

  const auto began = Clock::now();
  one.process.signal(SIGSTOP);
  std::promise<Result<std::string>> under_way;
  two.links->request(NodeNumber(1), MessageKind(1), "x", 120s,
                     [&](Result<std::string> outcome) { under_way.set_value(std::move(outcome)); });
  const auto outcome = under_way.get_future().get();
  const auto noticed = since(began);
  EXPECT_EQ(outcome.error().code, ErrorCode::timeout);
  EXPECT_GE(noticed, 1'000ms);
  EXPECT_LT(noticed, 60s) << "two seconds, and what a busy machine adds";
  EXPECT_TRUE(other.ask(2, "x")) << "nobody else waited";
  EXPECT_EQ(other.count(other.downs, 2), 0);
  const auto later = two.ask(1, "x", 120s);
  EXPECT_EQ(later.error().code, ErrorCode::unavailable);
  EXPECT_LT(since(began), 100s);

  one.process.signal(SIGCONT);
  EXPECT_TRUE(wait_for([&] { return two.is_connected(1); }));
  EXPECT_EQ(two.ask(1, "x").value(), "1");
}

// A process that slept itself, for longer than anybody waits for it: the first thing it sees must not be that all
// others are gone.
TEST(LinkProcesses, WhoWasFrozenComesBackByItself) {
  TestNode one(noticing_options(1));
  one.listen();
  LinkProcess two(2, one.port);
  ASSERT_TRUE(wait_for([&] { return one.is_connected(2); }));
  two.process.signal(SIGSTOP);
  ASSERT_TRUE(wait_for([&] { return one.count(one.downs, 2) == 1; }));
  two.process.signal(SIGCONT);
  EXPECT_TRUE(wait_for([&] { return one.count(one.ups, 2) == 2; }));
  EXPECT_EQ(one.ask(2, "x").value(), "2");
}

TEST(LinkProcesses, AFrozenPeerDoesNotKeepAnotherFromStopping) {
  LinkProcess one(1);
  TestNode two(test_options(2));
  two.dial(NodeNumber(1), one.port);
  ASSERT_TRUE(two.ask(1, "x"));
  one.process.signal(SIGSTOP);
  std::promise<Result<std::string>> answered;
  two.links->request(NodeNumber(1), MessageKind(1), std::string(20u << 20, 'x'), 60s,
                     [&](Result<std::string> outcome) { answered.set_value(std::move(outcome)); });
  std::this_thread::sleep_for(200ms);  // the network's buffers are full, and so are ours
  const auto began = Clock::now();
  two.links->stop();
  EXPECT_LT(since(began), 50s);
  EXPECT_EQ(answered.get_future().get().error().code, ErrorCode::timeout);
}

TEST(LinkProcesses, ThroughKillsFreezesAndRestartsEveryRequestIsAnswered) {
  auto one = std::make_unique<TestNode>(noticing_options(1));
  const auto port = one->listen();
  LinkProcess two(2, port), three(3, port);
  auto four = std::make_unique<LinkProcess>(4, port);
  for (int round = 0; round < 3; ++round) {
    std::this_thread::sleep_for(300ms);
    two.process.signal(SIGSTOP);
    four->process.signal(SIGKILL);
    std::this_thread::sleep_for(round == 1 ? 2'500ms : 300ms);
    two.process.signal(SIGCONT);
    four = std::make_unique<LinkProcess>(4, port);
    std::this_thread::sleep_for(300ms);
    one.reset();
    one = std::make_unique<TestNode>(noticing_options(1));
    one->listen(port);
  }
  ASSERT_TRUE(wait_for([&] { return one->is_connected(2) && one->is_connected(3) && one->is_connected(4); }));
  std::this_thread::sleep_for(300ms);
  for (auto* const node : {&two, &three, four.get()}) {
    node->process.close_input();
    const auto finished = node->process.wait();
    EXPECT_EQ(finished.status, 0) << finished.err;
    const auto done = finished.out.find("done ");
    ASSERT_NE(done, std::string::npos) << finished.out;
    std::istringstream in(finished.out.substr(done + 5));
    long asked = 0, ok = 0, timeout = 0, refused = 0;
    in >> asked >> ok >> timeout >> refused;
    EXPECT_EQ(ok + timeout + refused, asked);
    EXPECT_GT(ok, 500);
  }
}

}  // namespace
}  // namespace evershard::cluster
