// Who keeps which shard changes while the cluster goes on: nodes come, go, are gone for good.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <thread>

#include "evershard/storage/repair/verify.hpp"
#include "tests/cluster/node/small_cluster.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Sets = ShardAssignment::Sets;

constexpr auto patience = seconds(60);

class ChangingSets : public ::testing::Test {
 protected:
  ~ChangingSets() override { stop_load(); }

  void begin(SmallCluster::Options options, std::uint32_t replicas = 3) {
    options.replicas = replicas;
    options.timeout = seconds(5);  // what is not answered is asked for again
    options.data_dir = folder_.path();
    nodes_ = options.nodes + options.spares;
    options_ = options;
    cluster_ = std::make_unique<SmallCluster>(options);
    ASSERT_TRUE(cluster_->wait_until_open());
  }

  static Append one(const std::string& aggregate, const std::string& payload) {
    Append append;
    append.event("order-" + aggregate, "Placed", payload, {"x"});
    return append;
  }
  void append(std::uint32_t node, int from, int until) {
    for (int n = from; n != until; ++n) {
      auto wanted = one(std::to_string(n % 50), std::to_string(n));
      wanted.request_id = EventId::random();
      std::string why;
      ASSERT_TRUE(in_time([&] {
        const auto done = cluster_->node(node).append(wanted);
        why = done ? "" : done.error().what;
        return done.has_value();
      })) << why;
      acknowledged_.insert(std::to_string(n));
    }
  }
  /// One client, which is told of everything; the node that it asks may be started again.
  void begin_load(std::uint32_t node) {
    load_ = std::thread([this, node] {
      for (int n = 1'000'000; !stop_; ++n) {
        auto wanted = one(std::to_string(n % 50), std::to_string(n));
        wanted.request_id = EventId::random();
        for (;;) {
          const auto there = cluster_->hold(node);
          const Result<Appended> done =
              there == nullptr ? refuse(ErrorCode::unavailable, "it is not there") : there->append(wanted);
          if (done) {
            acknowledged_.insert(std::to_string(n));
            break;
          }
          if (stop_) return;
        }
        std::this_thread::sleep_for(milliseconds(1));
      }
    });
  }
  void stop_load() {
    stop_ = true;
    if (load_.joinable()) load_.join();
    stop_ = false;
  }

  /// As whoever watches the processes: one that ended is started again.
  void start_again_who_ended() {
    for (std::uint32_t n = 1; n <= nodes_; ++n) {
      if (!is_up(n) || !cluster_->node(n).committer().failed()) continue;
      ended_.push_back(cluster_->node(n).committer().failed()->what);
      cluster_->stop(n);
      cluster_->start(n);
    }
  }
  bool is_up(std::uint32_t n) const { return !down_.contains(n); }
  void stop(std::uint32_t n) {
    down_.insert(n);
    cluster_->stop(n);
  }
  void start(std::uint32_t n) {
    cluster_->start(n);
    down_.erase(n);
  }
  template <class Is>
  [[nodiscard]] bool in_time(Is is) {
    const auto until = std::chrono::steady_clock::now() + patience;
    while (std::chrono::steady_clock::now() < until) {
      start_again_who_ended();
      if (is()) return true;
      std::this_thread::sleep_for(milliseconds(20));
    }
    return false;
  }
  /// Asked for again until nothing is left, as the command line does it.
  void change(const ShardAssignment& wanted) {
    std::string last;
    EXPECT_TRUE(in_time([&] {
      const auto done = cluster_->assign(wanted);
      last = done ? std::to_string(done->left) + " left" : done.error().what;
      return done && done->left == 0;
    })) << last
        << status_text();
  }
  std::string status_text() {
    std::string text;
    const auto status = cluster_->status();
    for (std::size_t s = 0; s != status.shards.size(); ++s) {
      text += "\nshard " + std::to_string(s) + " of node " + std::to_string(status.shards[s].node) + ":";
      for (const auto node : status.shards[s].replicas) text += " " + std::to_string(node);
      for (const auto node : status.shards[s].learners) text += " (" + std::to_string(node) + ")";
      text += " " + status.shards[s].trouble;
    }
    for (const auto& node : status.nodes)
      text += "\nnode " + std::to_string(node.is.node) + (node.is.up ? " up" : " down") + ", applied " +
              std::to_string(node.applied.value) + ", behind " + std::to_string(node.behind) + ", learned " +
              std::to_string(node.learned_events);
    for (const auto& why : ended_) text += "\nended: " + why;
    return text;
  }
  std::map<std::uint32_t, std::size_t> replicas() {
    std::map<std::uint32_t, std::size_t> count;
    for (const auto& shard : cluster_->status().shards)
      for (const auto node : shard.replicas) ++count[node];
    return count;
  }

  /// Everything that was acknowledged is there, once, as each node reads it; every disk is sound; replicas have the
  /// same.
  void expect_whole() {
    for (std::uint32_t n = 1; n <= nodes_; ++n) {
      if (!is_up(n)) continue;
      std::string why;
      EXPECT_TRUE(in_time([&] {
        std::multiset<std::string> found;
        auto events = cluster_->node(n).read(Query::all());
        for (const auto& event : events) found.insert(event.payload);
        why = events.error() ? events.error()->what
                             : std::to_string(found.size()) + " of " + std::to_string(acknowledged_.size());
        if (events.error()) return false;
        for (const auto& payload : acknowledged_)
          if (found.count(payload) != 1) {
            why += ": " + payload + " " + std::to_string(found.count(payload)) + " times";
            return false;
          }
        return true;
      })) << "node "
          << n << ": " << why << status_text();
      std::vector<std::string> findings;  // a node that has just come may not be compared yet
      EXPECT_TRUE(in_time([&] {
        const auto compared = cluster_->node(n).compare_replicas({});
        findings = compared ? compared->findings : std::vector{compared.error().what};
        return findings.empty();
      })) << "node "
          << n << ": " << ::testing::PrintToString(findings);
      const auto checked = storage::verify(cluster_->store(n));
      EXPECT_TRUE(checked) << checked.error().what;
      if (checked) {
        EXPECT_THAT(checked->findings, ::testing::IsEmpty()) << "node " << n;
      }
    }
  }

  const TemporaryFolder folder_;
  SmallCluster::Options options_{};
  std::unique_ptr<SmallCluster> cluster_;
  std::uint32_t nodes_ = 0;
  std::set<std::uint32_t> down_;
  std::set<std::string> acknowledged_;
  std::vector<std::string> ended_;
  std::atomic<bool> stop_{false};
  std::thread load_;
};

TEST_F(ChangingSets, ANodeThatComesGetsItsShare) {
  down_ = {4};
  begin({.nodes = 3, .spares = 1, .shards = 8});
  append(1, 0, 300);
  start(4);
  append(4, 300, 400);
  begin_load(1);
  change({.node = 4, .sets = Sets::add});
  stop_load();
  const auto count = replicas();
  for (const auto& [node, has] : count) EXPECT_EQ(has, 6u) << "node " << node << status_text();
  EXPECT_EQ(count.size(), 4u);
  using Cause = ClusterChange::Cause;
  std::map<Cause, std::set<ShardId>> happened;
  for (const auto& change : cluster_->status().changes)
    if (change.to == 4 || change.cause == Cause::left)
      happened[change.cause].insert(change.shards.begin(), change.shards.end());
  EXPECT_EQ(happened[Cause::learns].size(), 6u);
  EXPECT_EQ(happened[Cause::learned], happened[Cause::learns]);
  EXPECT_EQ(happened[Cause::left], happened[Cause::learns]) << "one of the others left each set";
  append(4, 400, 500);
  expect_whole();
}

TEST_F(ChangingSets, ANodeThatIsToKeepNothingGivesEverythingAway) {
  begin({.nodes = 4, .shards = 8});
  append(1, 0, 300);
  begin_load(1);
  change({.node = 3, .sets = Sets::remove});
  stop_load();
  EXPECT_FALSE(replicas().contains(3)) << status_text();
  for (const auto& [node, has] : replicas()) EXPECT_EQ(has, 8u) << "node " << node;
  for (const auto& shard : cluster_->status().shards) EXPECT_NE(shard.node, 3u);
  append(3, 300, 350);  // it still serves clients
  expect_whole();
  stop(3);
  append(1, 350, 400);
  expect_whole();
}

TEST_F(ChangingSets, WithoutRoomForItsReplicasANodeIsNotRemoved) {
  begin({.nodes = 3, .shards = 4});
  const auto refused = cluster_->assign({.node = 3, .sets = Sets::remove});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().what, ::testing::HasSubstr("add a node first"));
  const auto unknown = cluster_->assign({.node = 9, .sets = Sets::add});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::not_found);
}

// Each of them took the other one for somebody who has everything, and asked it again and again.
TEST_F(ChangingSets, TwoNodesThatWereEmptiedDoNotWaitForEachOther) {
  begin({.nodes = 5, .shards = 4}, 5);
  append(3, 0, 200);
  for (const std::uint32_t n : {1u, 2u}) stop(n);
  append(3, 200, 400);  // what the two had is folded
  for (const std::uint32_t n : {1u, 2u}) std::filesystem::remove_all(folder_.path() / std::to_string(n));
  cluster_->start_together({1, 2});
  down_.clear();
  expect_whole();
}

TEST_F(ChangingSets, NothingIsMovedToANodeThatIsToKeepNothing) {
  begin({.nodes = 4, .shards = 4});
  append(1, 0, 50);
  const auto itself = cluster_->assign({.node = 3, .shards = {ShardId{2}}, .sets = Sets::move, .from = 3});
  ASSERT_FALSE(itself);
  EXPECT_EQ(itself.error().code, ErrorCode::invalid_argument);
  change({.node = 3, .sets = Sets::remove});
  const auto refused = cluster_->assign({.node = 3, .shards = {ShardId{2}}, .sets = Sets::move});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(refused.error().what, ::testing::HasSubstr("add it again first"));
  change({.node = 3, .sets = Sets::add});
  EXPECT_TRUE(cluster_->assign({.node = 3, .shards = {ShardId{2}}, .sets = Sets::move}));
}

TEST_F(ChangingSets, OneReplicaMoves) {
  begin({.nodes = 4, .shards = 4});
  append(1, 0, 200);
  const auto before = cluster_->status();
  const ShardId shard{2};
  const auto& kept = before.shards[2].replicas;
  std::uint32_t to = 1;
  while (std::ranges::find(kept, to) != kept.end()) ++to;
  const auto from = before.shards[2].node;  // who writes it, too
  begin_load(to == 1 ? 2 : 1);
  change({.node = to, .shards = {shard}, .sets = Sets::move, .from = from});
  stop_load();
  const auto after = cluster_->status();
  EXPECT_THAT(after.shards[2].replicas, ::testing::Contains(to)) << status_text();
  EXPECT_THAT(after.shards[2].replicas, ::testing::Not(::testing::Contains(from)));
  EXPECT_THAT(after.shards[2].replicas, ::testing::SizeIs(3));
  for (const auto s : {0u, 1u, 3u}) EXPECT_EQ(after.shards[s].replicas, before.shards[s].replicas);
  expect_whole();
  // And back: what it has of it is of another time.
  append(1, 200, 300);
  change({.node = from, .shards = {shard}, .sets = Sets::move, .from = to});
  append(1, 300, 400);
  EXPECT_EQ(cluster_->status().shards[2].replicas, kept);
  expect_whole();
}

TEST_F(ChangingSets, WhatANodeKeptThatIsGoneForGoodIsMadeAnewElsewhere) {
  begin({.nodes = 4, .shards = 8, .gone_after = seconds(8)});  // longer than a start takes, however slow it is
  append(1, 0, 300);
  begin_load(1);
  stop(2);
  std::filesystem::remove_all(folder_.path() / "2");
  EXPECT_TRUE(in_time([&] {
    const auto count = replicas();
    return !count.contains(2) && count.size() == 3 && count.at(1) == 8 && count.at(3) == 8 && count.at(4) == 8;
  })) << status_text();
  stop_load();
  append(1, 300, 350);
  expect_whole();
  // It comes back with nothing, and gets its share when it is wanted.
  start(2);
  change({.node = 2, .sets = Sets::add});
  for (const auto& [node, has] : replicas()) EXPECT_EQ(has, 6u) << "node " << node << status_text();
  append(2, 350, 400);
  expect_whole();
}

TEST_F(ChangingSets, ANodeThatWasAwayWhileItsShardsWereGivenAwayComesBack) {
  begin({.nodes = 4, .shards = 8, .gone_after = seconds(8)});  // longer than a start takes, however slow it is
  append(1, 0, 300);
  stop(2);
  EXPECT_TRUE(in_time([&] { return !replicas().contains(2); })) << status_text();
  append(1, 300, 600);
  start(2);  // its disk is as it was
  append(2, 600, 650);
  change({.node = 2, .sets = Sets::add});
  append(2, 650, 700);
  expect_whole();
  for (std::uint32_t n = 1; n <= 4; ++n) {  // each of them can be missed
    stop(n);
    append(n == 1 ? 2 : 1, 700 + static_cast<int>(n) * 10, 710 + static_cast<int>(n) * 10);
    start(n);
    EXPECT_TRUE(cluster_->wait_until_open());
  }
  expect_whole();
}

TEST_F(ChangingSets, ANewCoordinatorGoesOnWithWhatWasBegun) {
  down_ = {4, 5};
  begin({.nodes = 3, .spares = 2, .shards = 12});
  append(1, 0, 300);
  start(4);
  start(5);
  begin_load(1);
  for (int round = 0; round != 4; ++round) {
    static_cast<void>(cluster_->assign({.node = 4, .sets = Sets::add}));
    std::this_thread::sleep_for(milliseconds(150 * round));
    start_again_who_ended();
    cluster_->replace_coordinator();
  }
  change({.node = 4, .sets = Sets::add});
  change({.node = 5, .sets = Sets::add});
  stop_load();
  for (const auto& [node, has] : replicas()) {
    EXPECT_GE(has, 7u) << "node " << node << status_text();
    EXPECT_LE(has, 8u) << "node " << node << status_text();
  }
  append(5, 300, 350);
  expect_whole();
}

TEST_F(ChangingSets, ZonesAreKeptApart) {
  down_ = {4, 5, 6};
  begin({.nodes = 3, .spares = 3, .shards = 6});
  append(1, 0, 100);
  for (const std::uint32_t n : {1u, 2u, 3u}) {
    stop(n);
    cluster_->put_into_zone(n, n == 3 ? "b" : "a");
    start(n);
    EXPECT_TRUE(cluster_->wait_until_open());
    append(n, 100 + static_cast<int>(n) * 10, 110 + static_cast<int>(n) * 10);
  }
  cluster_->put_into_zone(4, "c");
  cluster_->put_into_zone(5, "c");
  start(4);
  start(5);
  append(4, 200, 210);
  change({.node = 1, .sets = Sets::remove});
  const auto status = cluster_->status();
  for (const auto& shard : status.shards) {
    std::set<std::string> zones;
    for (const auto node : shard.replicas) zones.insert(node == 2 ? "a" : node == 3 ? "b" : "c");
    EXPECT_EQ(zones.size(), 3u) << status_text();
  }
  expect_whole();
}

TEST_F(ChangingSets, AFullDiskWritesNothingAndHoldsNobodyUp) {
  begin({.nodes = 3, .shards = 6});
  append(1, 0, 100);
  stop(2);
  cluster_->fill_disk(2, true);
  start(2);
  EXPECT_TRUE(in_time([&] {
    const auto status = cluster_->status();
    return std::ranges::any_of(status.nodes, [](const auto& node) { return node.is.node == 2 && node.full; }) &&
           std::ranges::none_of(status.shards, [](const auto& shard) { return shard.node == 2; });
  })) << status_text();
  append(2, 100, 200);  // through its own door
  append(3, 200, 300);
  stop(2);
  cluster_->fill_disk(2, false);
  start(2);
  append(2, 300, 310);
  EXPECT_TRUE(in_time([&] {
    static_cast<void>(cluster_->assign({.balance = true}));  // who lags is given nothing, and then not for a while
    const auto status = cluster_->status();
    return std::ranges::count_if(status.shards, [](const auto& shard) { return shard.node == 2; }) == 2;
  })) << status_text();
  expect_whole();
}

// Whoever is killed at any moment of it, and comes back.
TEST_F(ChangingSets, KillsAtAnyMomentLoseNothing) {
  down_ = {4};
  begin({.nodes = 3, .spares = 1, .shards = 8});
  append(1, 0, 500);
  start(4);
  begin_load(1);
  const char* const given = std::getenv("EVERSHARD_SEED");
  std::mt19937_64 random(given == nullptr ? 4711 : std::strtoull(given, nullptr, 10));
  for (int round = 0; round != 12; ++round) {
    static_cast<void>(cluster_->assign({.node = 4, .sets = round % 4 == 3 ? Sets::remove : Sets::add}));
    const auto until = std::chrono::steady_clock::now() + milliseconds(random() % 700);
    while (std::chrono::steady_clock::now() < until) {
      start_again_who_ended();
      std::this_thread::sleep_for(milliseconds(20));
    }
    const auto n = static_cast<std::uint32_t>(2 + random() % 3);
    stop(n);
    if (n == 4 && random() % 3 == 0) std::filesystem::remove_all(folder_.path() / "4");
    std::this_thread::sleep_for(milliseconds(random() % 100));
    start(n);
  }
  change({.node = 4, .sets = Sets::add});
  stop_load();
  for (const auto& [node, has] : replicas()) EXPECT_EQ(has, 6u) << "node " << node << status_text();
  append(4, 500, 550);
  expect_whole();
}

}  // namespace
}  // namespace evershard::cluster
