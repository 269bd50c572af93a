// Scheduled appends on a cluster: each is made by the node that owns its schedule's shard, once; also where that was
// away. Any node schedules, cancels and shows them.

#include <map>

#include "tests/cluster/embedded/sealed_orders.hpp"

namespace evershard {
namespace {

constexpr int many = 60;

Append done(int n) {
  return Append{}
      .event("thing-" + std::to_string(n), "Done", std::to_string(n))
      .event("account-" + std::to_string(n % 7), "Also", std::to_string(n));
}

Cluster& any(EmbeddingCluster& cluster, int n) { return cluster.node(1 + static_cast<std::uint32_t>(n) % 3); }

void expect_each_is_made_once(Cluster& node, const std::map<int, bool>& cancelled) {
  std::map<int, int> made;
  for (const auto until = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < until;
       std::this_thread::sleep_for(50ms)) {
    const auto waiting = node.scheduled().list({});
    if (waiting && waiting->scheduled.empty()) break;
  }
  const auto read = patiently([&]() -> Result<void> {
    made.clear();
    auto events = node.read(Query{}.types({"Done"}));
    for (const auto& event : events) ++made[std::stoi(event.payload)];
    return events.error() ? Result<void>(refuse(*events.error())) : Result<void>();
  });
  ASSERT_TRUE(read) << read.error().what;
  for (const auto& [n, over] : cancelled) {
    EXPECT_EQ(made[n], over ? 0 : 1) << n;
    const auto one = patiently([&] { return node.scheduled().get(std::to_string(n)); });
    ASSERT_TRUE(one) << one.error().what;
    EXPECT_EQ(one->state, over ? ScheduledState::cancelled : ScheduledState::appended) << n;
  }
}

std::map<int, bool> schedule_many(EmbeddingCluster& cluster, std::chrono::milliseconds after) {
  std::map<int, bool> cancelled;
  for (int n = 0; n != many; ++n) {
    const auto one = patiently([&] {
      return any(cluster, n).scheduled().schedule({.id = std::to_string(n), .after = after, .append = done(n)});
    });
    EXPECT_TRUE(one) << one.error().what;
    cancelled[n] = n % 5 == 0;
    if (!cancelled[n]) continue;
    const auto gone = patiently([&] { return any(cluster, n + 1).scheduled().cancel(std::to_string(n)); });
    EXPECT_TRUE(gone) << gone.error().what;
  }
  return cancelled;
}

TEST(EmbeddedScheduled, EachIsMadeOnceAndShownByEveryNode) {
  EmbeddingCluster cluster(3);
  for (std::uint32_t n = 1; n <= 3; ++n) cluster.start(n);
  const auto cancelled = schedule_many(cluster, 1h);
  GlobalPosition last;  // whoever owns the shard of the last one has it
  for (std::uint32_t n = 1; n <= 3; ++n)
    last = std::max(last, patiently([&] { return cluster.node(n).head(); }).value());
  for (std::uint32_t n = 1; n <= 3; ++n) {
    const auto all = patiently([&] { return cluster.node(n).scheduled().list({.at_least = last}); });
    ASSERT_TRUE(all) << all.error().what;
    EXPECT_EQ(all->scheduled.size(), 48u) << "node " << n;
  }
  for (const auto& [n, over] : cancelled) {
    if (over) continue;
    const auto now = patiently([&] {
      return any(cluster, n + 2)
          .scheduled()
          .schedule({.id = std::to_string(n), .after = 0ms, .append = done(n), .replace = true});
    });
    ASSERT_TRUE(now) << now.error().what;
  }
  expect_each_is_made_once(cluster.node(1), cancelled);
}

TEST(EmbeddedScheduled, WhatItsNodeMissedIsMadeWhenThatIsBack) {
  EmbeddingCluster cluster(3);
  for (std::uint32_t n = 1; n <= 3; ++n) cluster.start(n);
  const auto cancelled = schedule_many(cluster, 8s);  // longer than what is to be cancelled may be held up
  cluster.stop(2);
  std::this_thread::sleep_for(8'200ms);
  cluster.start(2);
  expect_each_is_made_once(cluster.node(1), cancelled);
}

}  // namespace
}  // namespace evershard
