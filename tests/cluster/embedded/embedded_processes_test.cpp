// Processes on a cluster: each runs on one node; where that goes and comes back, it goes on, and nothing is done twice.

#include "tests/actors/process/transfers.hpp"
#include "tests/cluster/embedded/embedding_cluster.hpp"

namespace evershard {
namespace {

void start_with_transfers(EmbeddingCluster& cluster, std::uint32_t node) {
  cluster.start(node);
  ASSERT_TRUE(cluster.node(node).host<bank::Account>());
  ASSERT_TRUE(cluster.node(node).host<bank::Desk>());
  ASSERT_TRUE(cluster.node(node).run<bank::Transfers>());
}
std::string stage(Cluster& node, int transfer) {
  const auto state = node.get<ProcessAggregate<bank::Transfers>>("t" + std::to_string(transfer)).state();
  return state ? state->state.state.stage : state.error().what;
}
void request(Cluster& node, int n, int transfers) {
  const auto id = "t" + std::to_string(transfers);
  const auto asked =
      node.get<bank::Desk>(std::to_string(n))
          .ask(bank::Request{id, "a" + std::to_string(transfers % 5), "a" + std::to_string((transfers + 2) % 6), 7},
               {.command_id = id, .timeout = 60s});
  ASSERT_TRUE(asked.replied()) << asked.error().what;
}

TEST(EmbeddedProcesses, GoOnWhereTheirHomeIsAgain) {
  EmbeddingCluster cluster(3);
  for (std::uint32_t n = 1; n <= 3; ++n) start_with_transfers(cluster, n);
  for (int n = 0; n != 5; ++n)
    ASSERT_TRUE(cluster.node(1)
                    .get<bank::Account>("a" + std::to_string(n))
                    .ask(bank::Open{"-", "-", "-", 10'000}, {.command_id = "open", .timeout = 60s}));
  const auto home = cluster.node(1).node_of({"$process", "transfer"});
  const auto other = home % 3 + 1;
  int transfers = 0;
  for (int round = 0; round != 3; ++round) {
    for (int n = 0; n != 20; ++n) request(cluster.node(other), n, transfers++);
    cluster.stop(home);
    std::this_thread::sleep_for(100ms);
    start_with_transfers(cluster, home);
  }
  const auto ends_of = [](int n) { return (n + 2) % 6 == 5 ? "taken_back" : "finished"; };
  const auto until = std::chrono::steady_clock::now() + 180s;
  for (int n = 0; n != transfers; ++n) {
    auto is = stage(cluster.node(other), n);
    for (; is != ends_of(n) && std::chrono::steady_clock::now() < until; is = stage(cluster.node(other), n))
      std::this_thread::sleep_for(20ms);
    EXPECT_EQ(is, ends_of(n)) << n;
  }
  std::int64_t sum = 0;
  for (int n = 0; n != 5; ++n) {
    const auto account = cluster.node(other).get<bank::Account>("a" + std::to_string(n));
    sum += patiently([&] { return account.state(); }).value().state.balance;
  }
  EXPECT_EQ(sum, 50'000);
  const auto running = [&] {
    int homes = 0;
    for (std::uint32_t n = 1; n <= 3; ++n) homes += cluster.node(n).process_status().at(0).runs_here ? 1 : 0;
    return homes;
  };
  while (running() != 1 && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(20ms);
  EXPECT_EQ(running(), 1);
}

}  // namespace
}  // namespace evershard
