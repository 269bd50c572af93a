// Who keeps which shard changes while the cluster goes on: nodes come, go, are gone for good.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
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

  void begin(SmallCluster::Options options) {
    options.replicas = 3;
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
          const auto done = cluster_->node(node).append(wanted);
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
      const auto compared = cluster_->node(n).compare_replicas({});
      EXPECT_TRUE(compared) << compared.error().what;
      if (compared) {
        EXPECT_THAT(compared->findings, ::testing::IsEmpty()) << "node " << n;
      }
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
  append(4, 400, 500);
  expect_whole();
}

}  // namespace
}  // namespace evershard::cluster
