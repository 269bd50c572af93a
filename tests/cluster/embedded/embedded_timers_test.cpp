// Timers on a cluster: each fires on the node that its aggregate lives on, once; also where that was away.

#include <map>

#include "evershard/protocol/timers.hpp"
#include "tests/actors/timers/order.hpp"
#include "tests/cluster/embedded/embedding_cluster.hpp"

namespace evershard {
namespace {

using timed::PlaceBriefly;

constexpr int orders = 60;

void start_with_orders(EmbeddingCluster& cluster, std::uint32_t node) {
  cluster.start(node);
  ASSERT_TRUE(cluster.node(node).host<timed::Order>());
}

/// As far as it can be read: a node may be away.
std::map<std::string, int> fired(Cluster& node) {
  std::map<std::string, int> times;
  auto events = node.read(Query{}.types({std::string(timers_changed_type)}));
  for (const auto& event : events)
    if (!decode_timers_changed(event.payload)->fired.empty()) ++times[event.aggregate->text()];
  return events.error() ? std::map<std::string, int>{} : times;
}

void expect_each_fires_once(Cluster& node, int of) {
  for (const auto until = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < until;
       std::this_thread::sleep_for(20ms))
    if (fired(node).size() == static_cast<std::size_t>(of)) break;
  std::this_thread::sleep_for(100ms);  // for what would fire it once more
  auto times = fired(node);
  for (const auto until = std::chrono::steady_clock::now() + 60s;
       times.empty() && std::chrono::steady_clock::now() < until; times = fired(node))
    std::this_thread::sleep_for(20ms);
  EXPECT_EQ(times.size(), static_cast<std::size_t>(of));
  for (const auto& [order, count] : times) EXPECT_EQ(count, 1) << order;
}

TEST(EmbeddedTimers, FireOnceOnWhicheverNodeTheirAggregateLives) {
  EmbeddingCluster cluster(3);
  for (std::uint32_t n = 1; n <= 3; ++n) start_with_orders(cluster, n);
  for (int i = 0; i != orders; ++i) {
    const auto placed = cluster.node(1 + static_cast<std::uint32_t>(i) % 3)
                            .get<timed::Order>(std::to_string(i))
                            .ask(PlaceBriefly{200}, {.command_id = "place", .timeout = 60s});
    ASSERT_TRUE(placed.replied()) << placed.error().what;
  }
  expect_each_fires_once(cluster.node(1), orders);
  for (int i = 0; i < orders; i += 7)
    EXPECT_EQ(
        patiently([&] { return cluster.node(2).get<timed::Order>(std::to_string(i)).state(); }).value().state.cancelled,
        1);
}

TEST(EmbeddedTimers, FireWhenTheirNodeIsBack) {
  EmbeddingCluster cluster(3);
  for (std::uint32_t n = 1; n <= 3; ++n) start_with_orders(cluster, n);
  for (int i = 0; i != orders; ++i)
    ASSERT_TRUE(cluster.node(1)
                    .get<timed::Order>(std::to_string(i))
                    .ask(PlaceBriefly{3'000}, {.command_id = "place", .timeout = 60s})
                    .replied());
  cluster.stop(2);
  std::this_thread::sleep_for(3'200ms);
  start_with_orders(cluster, 2);
  expect_each_fires_once(cluster.node(1), orders);
}

}  // namespace
}  // namespace evershard
