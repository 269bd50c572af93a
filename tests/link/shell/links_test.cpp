// Links in one process, each with its own actor system: what they carry, how they end, and what they refuse.

#include <gmock/gmock.h>

#include <atomic>
#include <set>

#include "evershard/cluster/link/reserved_port.hpp"
#include "tests/link/shell/test_node.hpp"
#include "tests/process/steady_port.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

TEST(Links, CarryRequestsAndMessagesBothWays) {
  TestNode one(test_options(1)), two(test_options(2));
  one.listen();
  two.dial(one);

  EXPECT_EQ(two.ask(1, "hello").value(), "1: hello");
  EXPECT_EQ(one.ask(2, "hello").value(), "2: hello");
  ASSERT_TRUE(two.links->send(NodeNumber(1), MessageKind(3), "a message"));
  ASSERT_TRUE(one.links->send(NodeNumber(2), MessageKind(3), "another"));
  EXPECT_TRUE(
      wait_for([&] { return one.look([&] { return one.messages == std::vector<std::string>{"2: a message"}; }); }));
  EXPECT_TRUE(
      wait_for([&] { return two.look([&] { return two.messages == std::vector<std::string>{"1: another"}; }); }));
  EXPECT_EQ(one.count(one.ups, 2), 1);
  EXPECT_EQ(two.count(two.ups, 1), 1);
}

TEST(Links, FindAPeerInOneOfSeveralPlaces) {
  std::vector<ReservedPort> places;
  for (int i = 0; i < 3; ++i) places.push_back(ReservedPort::open("127.0.0.1", 0).value());
  const auto dialled = [&](TestNode& by) {
    PeerAddress address{NodeNumber(1), "127.0.0.1", places[0].port()};
    address.elsewhere = {{"127.0.0.1", places[1].port()}, {"127.0.0.1", places[2].port()}};
    return by.links->dial(std::move(address));
  };
  TestNode two(test_options(2));
  ASSERT_TRUE(dialled(two));
  for (const int at : {1, 2, 0, 1}) {
    SCOPED_TRACE(at);
    TestNode one(test_options(1));
    one.listen(places[static_cast<std::size_t>(at)].port());
    const auto began = std::chrono::steady_clock::now();
    ASSERT_TRUE(wait_for([&] { return two.is_connected(1); }));
    EXPECT_LT(std::chrono::steady_clock::now() - began, 30s);
    EXPECT_EQ(two.ask(1, "hello").value(), "1: hello");
  }
  // Each of them must be a place where one may go.
  PeerAddress wrong{NodeNumber(1), "127.0.0.1", 1};
  wrong.elsewhere = {{"10.0.0.1", 1}};
  EXPECT_EQ(two.links->dial(wrong).error().code, ErrorCode::invalid_argument);
  wrong.elsewhere = {{"127.0.0.1", 0}};
  EXPECT_EQ(two.links->dial(wrong).error().code, ErrorCode::invalid_argument);
}

TEST(ReservedPort, IsNobodyElsesAndTakesNobodyIn) {
  const auto reserved = ReservedPort::open("127.0.0.1", 0);
  ASSERT_TRUE(reserved) << reserved.error().what;
  TestNode two(test_options(2));
  two.dial(NodeNumber(1), reserved->port());
  EXPECT_TRUE(wait_for([&] { return two.was_refused("onnect"); }));
  TestNode one(test_options(1));
  one.listen(reserved->port());
  EXPECT_TRUE(wait_for([&] { return two.is_connected(1); }));
  const auto taken = ReservedPort::open("127.0.0.1", reserved->port());
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, ErrorCode::unavailable);
  EXPECT_EQ(ReservedPort::open("no address", 1).error().code, ErrorCode::invalid_argument);
}

TEST(HostsAndPorts, AreReadAndWritten) {
  EXPECT_EQ(hosts_and_ports("a:1"), (std::vector<HostAndPort>{{"a", 1}}));
  EXPECT_EQ(hosts_and_ports("a:1,[::1]:2"), (std::vector<HostAndPort>{{"a", 1}, {"::1", 2}}));
  for (const auto* wrong : {"", "a", "a:1,", ",a:1", "a:1,,b:2", "a:1, b", "a:1 b:2,"})
    EXPECT_TRUE(hosts_and_ports(wrong).empty()) << wrong;
  EXPECT_EQ(text_of({"a", 1}), "a:1");
  EXPECT_EQ(text_of({"::1", 2}), "[::1]:2");
}

TEST(Links, CarryLargePayloadsAndEmptyOnes) {
  TestNode one(test_options(1)), two(test_options(2));
  one.listen();
  two.dial(one);
  for (const std::size_t bytes : {0u, 1u, 1'000'000u, 1u << 20, 20u << 20}) {
    std::string payload(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) payload[i] = static_cast<char>(i * 31 >> 3);
    const auto answer = two.ask(1, payload, 30s);
    ASSERT_TRUE(answer) << answer.error().what;
    EXPECT_TRUE(*answer == "1: " + payload) << bytes;
  }
  EXPECT_EQ(two.ask(1, std::string(33u << 20, 'x')).error().code, ErrorCode::too_large);
}

TEST(Links, KeepAllAnswersApartUnderLoad) {
  TestNode one(test_options(1)), two(test_options(2));
  one.listen();
  two.dial(one);
  ASSERT_TRUE(two.ask(1, "warm"));
  constexpr int threads = 4, each = 5'000;
  std::atomic<int> right{0}, wrong{0};
  std::vector<std::thread> callers;
  for (int t = 0; t < threads; ++t) {
    callers.emplace_back([&, t] {
      for (int i = 0; i < each; ++i) {
        const auto text = std::to_string(t) + "/" + std::to_string(i);
        two.links->request(NodeNumber(1), MessageKind(1), text, 60s, [&, text](Result<std::string> outcome) {
          ++(outcome && *outcome == "1: " + text ? right : wrong);
        });
        if (i % 500 == 0) std::this_thread::sleep_for(2ms);
      }
    });
  }
  for (auto& caller : callers) caller.join();
  EXPECT_TRUE(wait_for([&] { return right + wrong == threads * each; }, 60s));
  EXPECT_EQ(right, threads * each);
}

TEST(Links, FourMakeAFullMesh) {
  std::vector<std::unique_ptr<TestNode>> nodes;
  for (std::uint32_t n = 1; n <= 4; ++n) {
    nodes.push_back(std::make_unique<TestNode>(test_options(n)));
    nodes.back()->listen();
  }
  for (auto& from : nodes) {
    for (auto& to : nodes) {
      if (to->number < from->number) from->dial(*to);
    }
  }
  for (auto& from : nodes) {
    for (auto& to : nodes) {
      if (from == to) continue;
      EXPECT_EQ(from->ask(to->number.value, "x").value(), std::to_string(to->number.value) + ": x");
      EXPECT_EQ(from->count(from->ups, to->number.value), 1) << "one connection a pair";
    }
  }
}

TEST(Links, ComeBackWhenAPeerStartsAgain) {
  auto one = std::make_unique<TestNode>(test_options(1));
  const auto port = one->listen(testing::steady_port());
  TestNode two(test_options(2));
  two.dial(*one);
  for (int round = 1; round <= 5; ++round) {
    EXPECT_TRUE(two.ask(1, "x")) << round;
    one.reset();
    EXPECT_TRUE(wait_for([&] { return two.count(two.downs, 1) == round; }));
    one = std::make_unique<TestNode>(test_options(1));
    one->listen(port);
  }
  EXPECT_EQ(two.ask(1, "x").value(), "1: x");
  EXPECT_EQ(two.status(1).sessions, 6u);
}

TEST(Links, WaitForAPeerThatIsNotThereYet) {
  TestNode two(test_options(2));
  const auto port = testing::steady_port();
  two.dial(NodeNumber(1), port);
  TestNode one(test_options(1));
  std::promise<Result<std::string>> answered;
  two.links->request(NodeNumber(1), MessageKind(1), "early", 60s,
                     [&](Result<std::string> outcome) { answered.set_value(std::move(outcome)); });
  std::this_thread::sleep_for(300ms);
  one.listen(port);
  EXPECT_EQ(answered.get_future().get().value(), "1: early");
}

TEST(Links, SayUnavailableOfAPeerThatIsGone) {
  TestNode two(test_options(2));
  two.dial(NodeNumber(1), 1);  // nobody listens there
  const auto began = std::chrono::steady_clock::now();
  const auto answer = two.ask(1, "x", 120s);
  EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
  EXPECT_THAT(answer.error().what, HasSubstr("node 1 is not connected: Connection refused"));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 60s);
  EXPECT_EQ(two.ask(9, "x", 100ms).error().code, ErrorCode::unavailable) << "nobody has ever heard of it";
}

TEST(Links, AnswerTimeoutToWhatWasUnderWay) {
  std::vector<LinkReply> held;
  std::mutex mutex;
  auto one = std::make_unique<TestNode>(test_options(1), [&](LinkRequest request) {
    const std::lock_guard lock(mutex);
    held.push_back(std::move(request.reply));
  });
  one->listen();
  TestNode two(test_options(2));
  two.dial(*one);
  std::promise<Result<std::string>> answered;
  two.links->request(NodeNumber(1), MessageKind(1), "x", 60s,
                     [&](Result<std::string> outcome) { answered.set_value(std::move(outcome)); });
  EXPECT_TRUE(wait_for([&] {
    const std::lock_guard lock(mutex);
    return !held.empty();
  }));
  one.reset();
  const auto outcome = answered.get_future().get();
  EXPECT_EQ(outcome.error().code, ErrorCode::timeout);
  EXPECT_THAT(outcome.error().what, HasSubstr("node 1 stops"));
  held.clear();  // replies of a link that is gone
}

TEST(Links, AnswerTimeoutWhenAHandlerIsSilentOrDropsItsReply) {
  std::vector<LinkReply> held;
  TestNode one(test_options(1), [&](LinkRequest request) {
    if (request.bytes == "hold") held.push_back(std::move(request.reply));
  });
  one.listen();
  TestNode two(test_options(2));
  two.dial(one);
  EXPECT_EQ(two.ask(1, "drop").error(),
            Error(ErrorCode::timeout, "the outcome is unknown: what was asked gave no answer"));
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(two.ask(1, "hold", 300ms).error().code, ErrorCode::timeout);
  EXPECT_GE(std::chrono::steady_clock::now() - began, 300ms);
  EXPECT_EQ(two.status(1).in_flight, 1u) << "the peer still works on it";
}

TEST(Links, AnswerEverythingWhenTheyStop) {
  std::vector<LinkReply> held;
  TestNode one(test_options(1), [&](LinkRequest request) { held.push_back(std::move(request.reply)); });
  one.listen();
  TestNode two(test_options(2));
  two.dial(one);
  std::atomic<int> timeouts{0}, cancelled{0}, others{0};
  const auto count = [&](Result<std::string> outcome) {
    ++(outcome                                        ? others
       : outcome.error().code == ErrorCode::timeout   ? timeouts
       : outcome.error().code == ErrorCode::cancelled ? cancelled
                                                      : others);
  };
  for (int i = 0; i < 5'000; ++i) two.links->request(NodeNumber(1), MessageKind(1), "x", 60s, count);
  EXPECT_TRUE(wait_for([&] { return two.status(1).in_flight == 4'096; }));
  two.links->stop();
  EXPECT_EQ(timeouts, 4'096);
  EXPECT_EQ(cancelled, 5'000 - 4'096);
  two.links->request(NodeNumber(1), MessageKind(1), "x", 60s, count);
  EXPECT_EQ(cancelled, 5'001 - 4'096);
  EXPECT_EQ(two.links->send(NodeNumber(1), MessageKind(1), "x").error().code, ErrorCode::cancelled);
  EXPECT_EQ(others, 0);
}

TEST(Links, EndInAnotherThreadThanTheyBeganIn) {
  TestNode one(test_options(1)), two(test_options(2));
  one.listen();
  two.dial(one);
  ASSERT_TRUE(two.ask(1, "x"));
  std::promise<void> ended;
  std::thread([&] {
    two.links->stop();
    ended.set_value();
  }).detach();
  ASSERT_EQ(ended.get_future().wait_for(60s), std::future_status::ready);
}

TEST(Links, ForgetAPeer) {
  TestNode one(test_options(1)), two(test_options(2));
  one.listen();
  two.dial(one);
  ASSERT_TRUE(two.ask(1, "x"));
  two.links->forget(NodeNumber(1));
  EXPECT_TRUE(wait_for([&] { return one.count(one.downs, 2) == 1; }));
  std::this_thread::sleep_for(300ms);
  EXPECT_EQ(one.count(one.ups, 2), 1) << "it is not dialled again";
  two.dial(one);
  EXPECT_TRUE(two.ask(1, "x"));
}

TEST(Links, FollowAPeerToANewAddress) {
  auto one = std::make_unique<TestNode>(test_options(1));
  one->listen();
  TestNode two(test_options(2));
  two.dial(*one);
  ASSERT_TRUE(two.ask(1, "x"));
  one.reset();
  ASSERT_TRUE(wait_for([&] { return two.count(two.downs, 1) == 1; })) << "else it is asked on the connection of before";
  one = std::make_unique<TestNode>(test_options(1));
  one->listen();
  two.dial(*one);
  EXPECT_EQ(two.ask(1, "x").value(), "1: x");
}

TEST(Links, RefuseEveryMismatchAndTellBothSides) {
  struct Wrong {
    const char* what;
    void (*spoil)(LinkOptions&);
  };
  const Wrong wrongs[] = {
      {"the cluster id differs", [](LinkOptions& o) { o.who.cluster = "another"; }},
      {"the shard count differs", [](LinkOptions& o) { o.who.shards = 8; }},
      {"the hash of shards differs", [](LinkOptions& o) { o.who.hash = 2; }},
      {"does not know", [](LinkOptions& o) { o.secret = "another secret, long enough"; }},
  };
  TestNode one(test_options(1)), good(test_options(3));
  one.listen();
  good.dial(one);
  ASSERT_TRUE(good.ask(1, "x"));
  for (const auto& wrong : wrongs) {
    auto options = test_options(2);
    wrong.spoil(options);
    TestNode two(std::move(options));
    two.dial(one);
    EXPECT_TRUE(wait_for([&] { return two.was_refused(wrong.what) && one.was_refused(wrong.what); })) << wrong.what;
    EXPECT_THAT(two.ask(1, "x", 500ms).error().what, HasSubstr(wrong.what)) << "who asks hears why";
    EXPECT_EQ(one.count(one.ups, 2), 0);
  }
  EXPECT_EQ(good.count(good.downs, 1), 0) << "nobody else is harmed";
  EXPECT_TRUE(good.ask(1, "x"));
}

TEST(Links, RefuseASecondProcessWithTheSameNumber) {
  TestNode one(test_options(1)), two(test_options(2)), twin(test_options(2));
  one.listen();
  two.dial(one);
  ASSERT_TRUE(two.ask(1, "x"));
  twin.dial(one);
  EXPECT_TRUE(wait_for([&] { return twin.was_refused("another process is connected as node 2"); }));
  EXPECT_EQ(one.count(one.downs, 2), 0);
  EXPECT_TRUE(two.ask(1, "x"));
}

TEST(Links, RefuseToDialUpwardsThemselvesAndWhoIsNotThere) {
  TestNode two(test_options(2));
  EXPECT_THAT(two.links->dial({NodeNumber(3), "127.0.0.1", 5}).error().what, HasSubstr("the higher number dials"));
  EXPECT_THAT(two.links->dial({NodeNumber(2), "127.0.0.1", 5}).error().what, HasSubstr("the higher number dials"));
  EXPECT_EQ(two.links->dial({NodeNumber(1), "127.0.0.1", 0}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(two.ask(2, "x").error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(two.links->send(NodeNumber(2), MessageKind(1), "x").error().code, ErrorCode::invalid_argument);
  two.listen();
  EXPECT_EQ(two.links->listen("127.0.0.1", 0).error().code, ErrorCode::invalid_argument);
  TestNode three(test_options(3));
  EXPECT_EQ(three.links->listen("127.0.0.1", two.port).error().code, ErrorCode::unavailable);
  EXPECT_TRUE(three.links->listen("127.0.0.1", 0)) << "a port that was taken does not end it";
}

TEST(Links, ReachThePeerTheyMeant) {
  TestNode two(test_options(2)), three(test_options(3));
  two.listen();
  three.dial(NodeNumber(1), two.port);
  EXPECT_TRUE(wait_for([&] { return three.was_refused("node 3 dialled node 1 and reached node 2"); }));
  EXPECT_EQ(two.count(two.ups, 3), 0);
}

TEST(Links, HoldBackWhoSendsMessagesFasterThanTheyAreTaken) {
  auto options = test_options(1);
  options.limits.payload_bytes_max = 100'000;
  options.limits.message_bytes_max = 1'000'000;
  std::vector<LinkReceipt> held;
  std::atomic<std::size_t> bytes{0};
  LinkHandlers handlers;
  std::mutex mutex;
  handlers.on_message = [&](LinkMessage message) {
    const std::lock_guard lock(mutex);
    bytes += message.bytes.size();
    held.push_back(std::move(message.receipt));
  };
  auto one = Links::open(options, std::move(handlers)).value();
  const auto port = one->listen("127.0.0.1", 0).value();
  auto options_two = test_options(2);
  options_two.limits.queue_time_max = 60s;
  TestNode two(std::move(options_two));
  two.dial(NodeNumber(1), port);
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(two.links->send(NodeNumber(1), MessageKind(1), std::string(10'000, 'm')));
  EXPECT_TRUE(wait_for([&] { return bytes > 900'000; }));
  std::this_thread::sleep_for(200ms);
  EXPECT_LE(bytes, 1'000'000u);
  EXPECT_TRUE(wait_for([&] {
    const std::lock_guard lock(mutex);
    held.clear();
    return bytes == 4'000'000;
  }));
  one->stop();
}

}  // namespace
}  // namespace evershard::cluster
