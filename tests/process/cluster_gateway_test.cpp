// A gateway of a cluster of processes, while the nodes behind it are killed: it says what is gone, and goes on by
// itself.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "tests/contract/temporary_folder.hpp"
#include "tests/process/reached.hpp"

namespace evershard::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr std::uint32_t gateway = 4;

TEST(ClusterGateway, SaysThatAllNodesAreGoneAndGoesOnWhenTheyAreBack) {
  const TemporaryFolder folder;
  ClusterProcesses::Options options;
  options.gateways = 1;
  ClusterProcesses cluster(folder.path(), options);
  const auto last = fill(cluster, gateway);
  EXPECT_EQ(count_at(cluster, gateway, last), last.value);
  auto store = cluster.connect(gateway, 5s);
  auto feed = store.follow(Query::all(), {.after = last});

  const auto of_1 = shards_of(cluster, 1, gateway);
  for (std::uint32_t n = 1; n <= cluster.nodes(); ++n) cluster.kill(n);
  expect_named_in_time(cluster, gateway, of_1);
  std::set<std::uint32_t> every;
  for (std::uint32_t shard = 0; shard != cluster.shards(); ++shard) every.insert(shard);
  EXPECT_EQ(reach_missing(cluster, gateway, every, 1s).missing, every);
  const auto all = error_of(store.read(Query::all()));
  ASSERT_TRUE(all);
  EXPECT_EQ(all->code, ErrorCode::unavailable) << all->what;
  EXPECT_THAT(all->what, HasSubstr(", which has shard"));
  const auto one = error_of(store.read(AggregateId::parse(cluster.aggregate_in(0)).value()));
  ASSERT_TRUE(one);
  EXPECT_EQ(one->code, ErrorCode::unavailable) << one->what;
  std::string told;  // what the coordinator has heard, once it is there for the gateway
  for (const auto until = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < until;
       std::this_thread::sleep_for(50ms)) {
    const auto status = cluster.connect(gateway).cluster_status();
    told = status ? status->trouble : status.error().what;
    if (!told.empty()) continue;
    for (const auto& node : status->nodes)
      if (node.is.up != (node.is.node == gateway)) told = "node " + std::to_string(node.is.node);
    if (told.empty()) break;
  }
  EXPECT_EQ(told, "");
  EXPECT_EQ(store.head().value_or(GlobalPosition{}), last) << "what it has heard it knows";

  cluster.kill(ClusterProcesses::coordinator);
  for (std::uint32_t shard = 0; shard != cluster.shards(); ++shard) {
    const auto asked = cluster.connect(gateway, 500ms).append(probe(cluster, shard));
    ASSERT_FALSE(asked);
    EXPECT_THAT(asked.error().code, AnyOf(ErrorCode::unavailable, ErrorCode::timeout)) << asked.error().what;
  }

  cluster.launch(ClusterProcesses::coordinator);
  for (std::uint32_t n = 1; n <= cluster.nodes(); ++n) cluster.launch(n);
  for (std::uint32_t n = 0; n <= cluster.nodes(); ++n) cluster.start(n);
  EXPECT_TRUE(cluster.wait_until_whole());
  const auto next = fill(cluster, gateway);
  EXPECT_EQ(next.value, last.value + cluster.shards());
  for (const auto at : {1u, gateway}) EXPECT_EQ(count_at(cluster, at, next), next.value);
  std::uint64_t followed = last.value;
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       followed != next.value && std::chrono::steady_clock::now() < until;) {
    auto item = feed.next(200ms);
    if (!item) {
      EXPECT_EQ(item.error().code, ErrorCode::unavailable) << item.error().what;
      feed = store.follow(Query::all(), {.after = GlobalPosition{followed}});
      continue;
    }
    for (const auto& event : item->events) EXPECT_EQ(event.position.value, ++followed);
  }
  EXPECT_EQ(followed, next.value);
  cluster.stop_all();
}

}  // namespace
}  // namespace evershard::testing
