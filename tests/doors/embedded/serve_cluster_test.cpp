// The doors of nodes that an application has joined in its own process.

#include <gmock/gmock.h>

#include <evershard/remote.hpp>
#include <evershard/serve.hpp>
#include <future>
#include <vector>

#include "evershard/api/cluster_status.hpp"
#include "tests/actors/process/transfers.hpp"
#include "tests/cluster/embedded/embedding_cluster.hpp"
#include "tests/doors/http/http_client.hpp"

namespace evershard {
namespace {

using ::testing::HasSubstr;

TEST(EmbeddedClusterDoors, EachReachesTheWholeCluster) {
  EmbeddingCluster cluster(3);
  std::vector<Doors> doors;
  for (std::uint32_t n = 1; n <= 3; ++n) {
    auto& node = cluster.start(n);
    ASSERT_TRUE(node.host<bank::Account>());
    ASSERT_TRUE(node.host<bank::Desk>());
    ASSERT_TRUE(node.run<bank::Transfers>());
    auto opened = serve(node, {.listen = {"127.0.0.1:0"}, .http_listen = "127.0.0.1:0"});
    ASSERT_TRUE(opened) << opened.error().what;
    doors.push_back(*std::move(opened));
  }
  const auto ask_one = [&](std::size_t door, const AggregateId& aggregate, const auto& command, const char* id) {
    auto remote = Remote::connect({.server = doors[door].addresses().front()}).value();
    using C = std::decay_t<decltype(command)>;
    return remote
        .ask(aggregate, std::string(Codec<C>::name), Codec<C>::encode(command), {.command_id = id, .timeout = 60s})
        .kind;
  };
  // Each is told which aggregates there are, wherever they live.
  EXPECT_EQ(ask_one(0, {"account", "ann"}, bank::Open{"-", "-", "-", 100}, "open"), AnswerKind::replied);
  EXPECT_EQ(ask_one(1, {"account", "bob"}, bank::Open{"-", "-", "-", 100}, "open"), AnswerKind::replied);
  EXPECT_EQ(ask_one(2, {"desk", "1"}, bank::Request{"t1", "ann", "bob", 30}, "t1"), AnswerKind::replied);
  const auto balance = [&] {
    const auto state = cluster.node(1).get<bank::Account>("bob").state();
    return state ? state->state.balance : -1;
  };
  for (int n = 0; n != 6'000 && balance() != 130; ++n) std::this_thread::sleep_for(10ms);
  EXPECT_EQ(balance(), 130);

  const auto stats = ask(doors[1].http_address(), "GET", "/api/v1/stats").json();
  EXPECT_EQ(stats["details"]["cluster.node"], 2) << stats;
  EXPECT_TRUE(stats["details"].contains("aggregates.live")) << stats;
  const auto status = ask(doors[0].http_address(), "GET", "/api/v1/cluster");
  EXPECT_EQ(status.status, 200) << status.body;
  // Clients are told where each listens, and no more once it does not.
  const auto told = [&](const std::string& address) {
    for (int n = 0; n != 6'000; ++n, std::this_thread::sleep_for(10ms))
      if (ask(doors[0].http_address(), "GET", "/api/v1/cluster").body.find(address) != std::string::npos) return true;
    return false;
  };
  const auto third = doors[2].addresses().front();
  EXPECT_TRUE(told(third));
  doors[2].stop();
  bool gone = false;
  for (int n = 0; n != 6'000 && !gone; ++n, std::this_thread::sleep_for(10ms))
    gone = ask(doors[0].http_address(), "GET", "/api/v1/cluster").body.find(third) == std::string::npos;
  EXPECT_TRUE(gone);
  EXPECT_TRUE(cluster.node(3).head()) << "the node goes on";
  auto processes = patiently([&] { return cluster.node(3).processes().processes(); });
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       (!processes || !processes->front().running) && std::chrono::steady_clock::now() < until;)
    processes = cluster.node(3).processes().processes();
  ASSERT_TRUE(processes) << processes.error().what;
  EXPECT_TRUE(processes->front().running);
  doors.clear();  // before the nodes
}

// Who is sent clients before would refuse a part of what they ask.
TEST(EmbeddedClusterDoors, SayThatTheyServeWhenEveryShardHasAWriter) {
  EmbeddingCluster cluster(2);
  std::vector<Doors> doors;
  const auto open = [&](std::uint32_t n) {
    auto opened = serve(cluster.start(n), {.listen = {"127.0.0.1:0"}, .http_listen = "127.0.0.1:0"});
    ASSERT_TRUE(opened) << opened.error().what;
    doors.push_back(*std::move(opened));
  };
  open(1);
  const auto waits = ask(doors[0].http_address(), "GET", "/health");
  EXPECT_EQ(waits.status, 503) << waits.body;
  EXPECT_EQ(waits.json()["status"], "starting");
  EXPECT_NE(waits.json()["waits_for"], "") << waits.body;

  open(2);
  const auto serves = [&](std::size_t n) {
    auto told = ask(doors[n].http_address(), "GET", "/health");
    for (int tries = 0; tries != 6'000 && told.status != 200; ++tries, std::this_thread::sleep_for(10ms))
      told = ask(doors[n].http_address(), "GET", "/health");
    EXPECT_EQ(told.json()["status"], "serving") << told.body;
  };
  for (std::size_t n = 0; n != 2; ++n) {
    serves(n);
    EXPECT_EQ(ask(doors[n].http_address(), "GET", "/api/v1/stats").json()["details"]["cluster.ready"], 1);
  }
  for (int i = 0; i != 64; ++i) {
    const auto one = Append{}.event("order-" + std::to_string(i), "Placed", "{}");
    if (cluster.node(1).append(one)) continue;
    // A link may have been silent for too long where a machine stands still; then that is said, too.
    for (std::size_t n = 0; n != 2; ++n) serves(n);
    EXPECT_TRUE(cluster.node(1).append(one)) << "no shard is left without a writer";
  }
  doors.clear();  // before the nodes
}

// Nothing that is appended up to there would ever be judged by it. A node that is a moment behind waits.
TEST(EmbeddedClusterDoors, RefuseAConditionBehindWhatTheStoreHas) {
  EmbeddingCluster cluster(2);
  std::vector<Doors> doors;
  std::vector<Remote> remotes;
  for (std::uint32_t n = 1; n <= 2; ++n) {
    auto opened = serve(cluster.start(n), {.listen = {"127.0.0.1:0"}, .http_listen = "127.0.0.1:0"});
    ASSERT_TRUE(opened) << opened.error().what;
    doors.push_back(*std::move(opened));
    remotes.push_back(Remote::connect({.server = doors.back().addresses().front()}).value());
  }
  GlobalPosition last;
  const auto append_behind = [&](std::size_t door, GlobalPosition after) {
    return remotes[door].append(Append{}.event("order-1", "Placed", "{}").fail_if(Query{}.types({"Cancelled"}), after));
  };
  const auto until = std::chrono::steady_clock::now() + 60s;
  for (std::size_t n = 0; n != 20; ++n) {
    auto done = append_behind(n % 2, last);
    for (; !done && std::chrono::steady_clock::now() < until; std::this_thread::sleep_for(20ms))
      done = append_behind(n % 2, last);  // a shard may have no writer yet
    ASSERT_TRUE(done) << done.error().what;
    last = done->last_position;
  }
  auto over_http = std::async(std::launch::async, [&] {
    return ask(doors[1].http_address(), "POST", "/api/v1/append",
               R"({"events":[{"aggregate":"order-1","type":"Placed","payload":{}}],)"
               R"("fail_if":[{"query":{"items":[{"types":["Cancelled"]}]},"after":1000}]})");
  });
  const auto head = "beyond the head of the store, " + std::to_string(last.value) + ", fork ";
  const auto beyond = append_behind(0, GlobalPosition{1'000});
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(beyond.error().what, HasSubstr("position 1000 lies " + head));
  const auto answer = over_http.get();
  EXPECT_EQ(answer.status, 400) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr("lies " + head));
  ASSERT_TRUE(cluster.node(1).wait_for(last, 60s));
  EXPECT_EQ(cluster.node(1).head().value(), last);
  doors.clear();  // before the nodes
}

}  // namespace
}  // namespace evershard
