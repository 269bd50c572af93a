// A cluster whose processes are on networks of their own: real partitions, of exactly one pair, of one direction; slow
// and lossy wires. EVERSHARD_ROUNDS and EVERSHARD_SEED steer the longer one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <thread>

#include "tests/contract/temporary_folder.hpp"
#include "tests/process/cluster_load.hpp"
#include "tests/process/networks.hpp"
#include "tests/process/reached.hpp"

namespace evershard::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::uint32_t coordinator = ClusterProcesses::coordinator;

/// Three nodes and a coordinator, each on a network of its own, with clients at all nodes.
class ClusterNetworks : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!networks_.missing().empty())
      GTEST_SKIP() << "CANNOT BE TESTED HERE: partitions between network namespaces: " << networks_.missing();
    ClusterProcesses::Options options;
    options.host = [](std::uint32_t number) { return Networks::host(number); };
    options.within = [this](std::uint32_t number) { return networks_.within(number); };
    cluster_.emplace(folder_.path(), options);
    load_.emplace(*cluster_, seed_);
    ASSERT_TRUE(load_->goes_on()) << "EVERSHARD_SEED=" << seed_;
  }
  /// All goes on, and nothing was lost, doubled or given another place meanwhile.
  void finish() {
    SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed_));
    testing::finish(*cluster_, *load_);
  }
  [[nodiscard]] bool says_the_coordinator_is_gone(std::uint32_t node) const { return comes_to_say(node, true); }
  [[nodiscard]] bool hears_the_coordinator(std::uint32_t node) const { return comes_to_say(node, false); }
  [[nodiscard]] bool comes_to_say(std::uint32_t node, bool is_gone) const {
    for (const auto until = std::chrono::steady_clock::now() + 60s;; std::this_thread::sleep_for(20ms)) {
      const auto status = cluster_->connect(node).cluster_status();
      EXPECT_TRUE(status) << status.error().what;
      if (status && status->trouble.empty() != is_gone) return true;
      if (std::chrono::steady_clock::now() >= until) return false;
    }
  }
  /// The coordinator is there for this node, and hears every node.
  void expect_all_heard(std::uint32_t node) const {
    std::string last;
    for (const auto until = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < until;
         std::this_thread::sleep_for(50ms)) {
      const auto status = cluster_->connect(node).cluster_status();
      last = status ? status->trouble : status.error().what;
      if (!last.empty()) continue;
      for (const auto& one : status->nodes)
        if (!one.is.up) last = "the coordinator does not hear node " + std::to_string(one.is.node);
      if (last.empty()) return;
    }
    ADD_FAILURE() << "node " << node << ": " << last;
  }
  /// A position that every node has heard of.
  [[nodiscard]] GlobalPosition known_to_all() const {
    const auto head = cluster_->connect(1).head();
    EXPECT_TRUE(head) << head.error().what;
    for (std::uint32_t n = 1; head && n <= 3; ++n) expect_reads(n, *head);
    return head.value_or(GlobalPosition{});
  }
  void expect_reads(std::uint32_t node, GlobalPosition up_to) const {
    const auto error = unread(node, up_to);
    EXPECT_FALSE(error) << "node " << node << " does not read: " << error->what;
  }
  /// Why `node` does not read all, up to there. Empty: it does.
  [[nodiscard]] std::optional<Error> unread(std::uint32_t node, GlobalPosition up_to,
                                            std::chrono::milliseconds timeout = 60s) const {
    auto store = cluster_->connect(node, timeout);
    auto stream = store.read(Query::all(), {.up_to = up_to, .at_least = up_to});
    std::uint64_t count = 0;
    for (const auto& event : stream) count += event.position == GlobalPosition{count + 1} ? 1u : 0u;
    if (!stream.error()) {
      EXPECT_EQ(count, up_to.value) << "node " << node;
    }
    return stream.error();
  }

  Networks networks_{4};
  const TemporaryFolder folder_;
  const std::uint64_t seed_ = seed_of_run();
  std::optional<ClusterProcesses> cluster_;
  std::optional<ClusterLoad> load_;
};

std::set<std::uint32_t> both(std::set<std::uint32_t> some, const std::set<std::uint32_t>& others) {
  some.insert(others.begin(), others.end());
  return some;
}

// Both hear the third one and the coordinator: nobody else notices.
TEST_F(ClusterNetworks, ExactlyOnePairIsCutOff) {
  const auto of_1 = shards_of(*cluster_, 1), of_2 = shards_of(*cluster_, 2), of_3 = shards_of(*cluster_, 3);
  networks_.part(1, 2);
  expect_named_in_time(*cluster_, 1, of_2);
  const auto at_1 = reach_missing(*cluster_, 1, of_2, 1s), at_2 = reach_missing(*cluster_, 2, of_1, 1s),
             at_3 = reach_missing(*cluster_, 3, {}, 1s);
  EXPECT_EQ(at_1.missing, of_2);
  EXPECT_EQ(at_1.answered, both(of_1, of_3));
  EXPECT_EQ(at_2.missing, of_1);
  EXPECT_EQ(at_2.answered, both(of_2, of_3));
  EXPECT_EQ(at_3.answered, both(both(of_1, of_2), of_3));
  const auto head = cluster_->connect(3).head();
  ASSERT_TRUE(head) << head.error().what;
  EXPECT_FALSE(unread(3, *head));
  const auto without_2 = unread(1, *head, 5s);
  ASSERT_TRUE(without_2);
  EXPECT_EQ(without_2->code, ErrorCode::unavailable);
  EXPECT_THAT(without_2->what, HasSubstr("node 2, which has shard"));
  for (std::uint32_t n = 1; n <= 3; ++n) expect_all_heard(n);
  load_->fill(3, both(both(of_1, of_2), of_3));
  load_->fill(1, both(of_1, of_3));
  load_->fill(2, both(of_2, of_3));
  networks_.join(1, 2);
  finish();
}

TEST_F(ClusterNetworks, TheCoordinatorIsCutOffFromEveryone) {
  const auto known = known_to_all();
  for (std::uint32_t n = 1; n <= 3; ++n) networks_.part(coordinator, n);
  for (std::uint32_t n = 1; n <= 3; ++n) EXPECT_TRUE(says_the_coordinator_is_gone(n)) << "node " << n;
  for (std::uint32_t n = 1; n <= 3; ++n) {
    EXPECT_THAT(reach(*cluster_, n, 300ms, 1).answered, IsEmpty())
        << "node " << n << ": without the coordinator nothing is decided";
    expect_reads(n, known);
  }
  for (std::uint32_t n = 1; n <= 3; ++n) networks_.join(coordinator, n);
  finish();
}

TEST_F(ClusterNetworks, OneNodeIsCutOffFromTheCoordinatorOnly) {
  const auto of_2 = shards_of(*cluster_, 2), of_others = both(shards_of(*cluster_, 1), shards_of(*cluster_, 3));
  const auto known = known_to_all();
  networks_.part(2, coordinator);
  EXPECT_TRUE(says_the_coordinator_is_gone(2));
  for (const std::uint32_t n : {1u, 3u}) {
    EXPECT_EQ(reach(*cluster_, n, 60s, 20, of_others).answered, of_others) << "others' appends go on, at node " << n;
    EXPECT_THAT(reach(*cluster_, n, 300ms, 1, of_2).answered, IsEmpty());
    EXPECT_TRUE(hears_the_coordinator(n)) << "node " << n;
  }
  EXPECT_THAT(reach(*cluster_, 2, 300ms, 1, of_2).answered, IsEmpty()) << "it hears of no cut";
  EXPECT_EQ(reach(*cluster_, 2, 60s, 20, of_others).answered, of_others) << "whose owners it reaches";
  for (std::uint32_t n = 1; n <= 3; ++n) expect_reads(n, known);
  networks_.join(2, coordinator);
  finish();
}

/// Who is not heard hears all the same: a connection that is half there is no connection.
TEST_F(ClusterNetworks, WhatOneSideSaysGetsLost) {
  const auto of_1 = shards_of(*cluster_, 1), of_2 = shards_of(*cluster_, 2), of_3 = shards_of(*cluster_, 3);
  networks_.drop(3, coordinator);
  EXPECT_TRUE(says_the_coordinator_is_gone(3));
  EXPECT_THAT(reach(*cluster_, 1, 300ms, 1, of_3).answered, IsEmpty());
  EXPECT_EQ(reach(*cluster_, 1, 60s, 20, both(of_1, of_2)).answered, both(of_1, of_2)) << "others' appends go on";
  networks_.let_through(3, coordinator);
  EXPECT_TRUE(cluster_->wait_until_whole());
  networks_.drop(coordinator, 3);
  networks_.drop(1, 2);
  expect_named_in_time(*cluster_, 1, of_2);
  networks_.let_through(coordinator, 3);
  const auto at_1 = reach_missing(*cluster_, 1, of_2, 1s), at_2 = reach_missing(*cluster_, 2, of_1, 1s);
  EXPECT_EQ(at_1.missing, of_2);
  EXPECT_EQ(at_2.missing, of_1) << "it hears node 1, and cannot answer it";
  networks_.let_through(1, 2);
  finish();
}

TEST_F(ClusterNetworks, SlowAndLossyWiresLoseNothing) {
  for (std::uint32_t a = 0; a != 4; ++a)
    for (std::uint32_t b = 0; b != 4; ++b)
      if (a != b) networks_.slow(a, b, 600);
  EXPECT_TRUE(load_->goes_on(40));
  for (std::uint32_t a = 0; a != 4; ++a)
    for (std::uint32_t b = 0; b != 4; ++b)
      if (a != b) networks_.fast(a, b);
  finish();
}

/// Any direction of any wire, and now and then a process that is killed meanwhile.
TEST_F(ClusterNetworks, AnyPartitionLosesNothing) {
  const int rounds = rounds_or(2);
  std::mt19937_64 random(seed_);
  for (int round = 0; round < rounds && !HasFatalFailure(); ++round) {
    ASSERT_TRUE(load_->goes_on()) << "before round " << round << ", EVERSHARD_SEED=" << seed_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> dropped;
    for (auto left = 1 + random() % 3; left != 0; --left) {
      const auto from = static_cast<std::uint32_t>(random() % 4);
      const auto to = (from + 1 + static_cast<std::uint32_t>(random() % 3)) % 4;
      if (!dropped.emplace(from, to).second) continue;
      networks_.drop(from, to);
      if (random() % 2 == 0 && dropped.emplace(to, from).second) networks_.drop(to, from);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 4'000));
    std::optional<std::uint32_t> killed;
    if (random() % 2 == 0) killed = static_cast<std::uint32_t>(random() % 4);
    if (killed) cluster_->kill(*killed), cluster_->launch(*killed);
    for (const auto& [from, to] : dropped) networks_.let_through(from, to);
    if (killed) cluster_->start(*killed);
  }
  finish();
}

}  // namespace
}  // namespace evershard::testing
