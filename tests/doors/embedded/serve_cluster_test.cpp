// The doors of nodes that an application has joined in its own process.

#include <gmock/gmock.h>

#include <evershard/remote.hpp>
#include <evershard/serve.hpp>

#include "evershard/store/api/cluster_status.hpp"
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
    for (int n = 0; n != 1'000; ++n, std::this_thread::sleep_for(10ms))
      if (ask(doors[0].http_address(), "GET", "/api/v1/cluster").body.find(address) != std::string::npos) return true;
    return false;
  };
  const auto third = doors[2].addresses().front();
  EXPECT_TRUE(told(third));
  doors[2].stop();
  bool gone = false;
  for (int n = 0; n != 1'000 && !gone; ++n, std::this_thread::sleep_for(10ms))
    gone = ask(doors[0].http_address(), "GET", "/api/v1/cluster").body.find(third) == std::string::npos;
  EXPECT_TRUE(gone);
  EXPECT_TRUE(cluster.node(3).head()) << "the node goes on";
  auto processes = cluster.node(3).processes().processes();
  ASSERT_TRUE(processes) << processes.error().what;
  EXPECT_TRUE(processes->front().running);
  doors.clear();  // before the nodes
}

}  // namespace
}  // namespace evershard
