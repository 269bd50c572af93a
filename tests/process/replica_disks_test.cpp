// What is acknowledged lies on two disks of a cluster with replicas, whatever a node's number stands for meanwhile: a
// process that hung while another one took its number, one that goes with its directory while appends wait, a directory
// that is deleted under its process. Each is judged by losing the writer's disk too, and reading what is left.
// EVERSHARD_SEED steers the clients.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/cluster/etcd/etcd_members.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/process/cluster_load.hpp"
#include "tests/process/networks.hpp"
#include "tests/process/reached.hpp"
#include "tests/process/replicas.hpp"

namespace evershard::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

/// Appends that are sent at once, and wait for their answers beside the test.
class WaitingAppends {
 public:
  WaitingAppends(ClusterLoad& load, std::uint32_t node, const std::set<std::uint32_t>& shards, int each,
                 std::chrono::milliseconds timeout) {
    for (const auto shard : shards)
      for (int i = 0; i != each; ++i)
        asking_.emplace_back([this, &load, node, shard, timeout] {
          if (load.put(node, shard, timeout)) ++acknowledged_;
        });
  }
  ~WaitingAppends() { end(); }

  [[nodiscard]] std::size_t asked() const { return asking_.size(); }
  [[nodiscard]] std::size_t acknowledged() const { return acknowledged_; }
  /// Waits for all answers.
  void end() {
    for (auto& one : asking_)
      if (one.joinable()) one.join();
  }

 private:
  std::atomic<std::size_t> acknowledged_{0};
  std::vector<std::thread> asking_;
};

/// Three nodes, each of which keeps every shard. Clients go on all the time, and ask only nodes that are there.
class ReplicaDisks : public ::testing::Test {
 protected:
  static constexpr auto coordinator = ClusterProcesses::coordinator;

  void begin(const ClusterProcesses::Options& options) {
    cluster_.emplace(folder_.path(), options);
    load_.emplace(*cluster_, seed_);
    ASSERT_TRUE(load_->goes_on(100)) << "EVERSHARD_SEED=" << seed_;
  }
  /// It is killed; nothing is asked of it.
  void lose(std::uint32_t node) {
    load_->ask(node, false);
    cluster_->kill(node);
  }
  void lose_with_its_disk(std::uint32_t node) {
    lose(node);
    fs::remove_all(cluster_->data(node));
  }
  void come_back(std::uint32_t node, std::uint32_t asked) {
    cluster_->start(node);
    expect_in_step(*cluster_, node, asked);
    load_->ask(node, true);
  }
  /// Of the two that are left: shards are spread over them.
  [[nodiscard]] std::set<std::uint32_t> some_of(std::uint32_t node) const {
    auto shards = shards_of(*cluster_, node);
    for (const auto until = std::chrono::steady_clock::now() + 60s;
         shards.empty() && std::chrono::steady_clock::now() < until; shards = shards_of(*cluster_, node))
      std::this_thread::sleep_for(50ms);
    return shards;
  }
  [[nodiscard]] std::string said() const { return status_text(*cluster_, 2) + cluster_->log(coordinator); }

  const std::uint64_t seed_ = seed_of_run();
  const TemporaryFolder folder_;
  std::optional<ClusterProcesses> cluster_;
  std::optional<ClusterLoad> load_;
};

// Node 2 hangs, and another node 2 is started with an empty directory, as docs/cluster-faults.md says, and filled. Node
// 1 cannot reach that one just then, and node 3 is gone: what the first node 2 says, which goes on, is of a disk that
// no set means.
TEST_F(ReplicaDisks, AProcessThatHungWhileAnotherTookItsNumberIsNoReplica) {
  constexpr std::uint32_t of_the_second = 4;  // the network; the others have their numbers
  Networks networks(of_the_second + 1);
  if (!networks.missing().empty())
    GTEST_SKIP() << "CANNOT BE TESTED HERE: partitions between network namespaces: " << networks.missing();
  bool second = false;
  const auto network_of = [&](std::uint32_t number) { return number == 2 && second ? of_the_second : number; };
  auto options = replicated(3, 3);
  options.host = [&](std::uint32_t number) { return Networks::host(network_of(number)); };
  options.within = [&](std::uint32_t number) { return networks.within(network_of(number)); };
  add_flags(options, [&](std::uint32_t number) {
    return number == 2 && second
               ? std::map<std::string, std::string>{{"--data", (folder_.path() / "node-2-again").string()}}
               : std::map<std::string, std::string>{};
  });
  begin(options);
  const auto written_at_first = shards_of(*cluster_, 1);

  load_->ask(2, false);
  cluster_->signal(2, SIGSTOP);
  ASSERT_TRUE(load_->goes_on()) << said();
  second = true;
  Process again(with_flags(cluster_->words(2), {{"--unix-socket", (folder_.path() / "door-2-again").string()}}));
  ASSERT_FALSE(again.ready().empty()) << again.errors();
  expect_in_step(*cluster_, 2, 1);
  std::set<std::uint32_t> shards;  // under the epoch that the first node 2 knows
  std::ranges::set_intersection(written_at_first, shards_of(*cluster_, 1), std::inserter(shards, shards.end()));
  ASSERT_FALSE(shards.empty()) << said();

  networks.part(1, of_the_second);
  lose(3);
  cluster_->signal(2, SIGCONT);
  const auto until = std::chrono::steady_clock::now() + 8s;
  std::size_t asked = 0, acknowledged = 0;
  while (std::chrono::steady_clock::now() < until) {
    WaitingAppends waiting(*load_, 1, shards, 4, 1s);
    waiting.end();
    asked += waiting.asked(), acknowledged += waiting.acknowledged();
  }
  EXPECT_EQ(acknowledged, 0u) << "of " << asked << ": node 1 reaches no other disk of the cluster";
  EXPECT_TRUE(cluster_->logs(coordinator, "another process is connected as node 2")) << cluster_->log(coordinator);

  // What was acknowledged, then or before, is on a disk that is left.
  load_->ask(3, true);
  lose_with_its_disk(1);
  cluster_->start(3);
  ASSERT_TRUE(load_->goes_on()) << status_text(*cluster_, 3) << cluster_->log(coordinator);
  networks.join(1, of_the_second);
  come_back(1, 3);
  again.signal(SIGKILL);
  again.wait();
  cluster_->kill(2);
  come_back(2, 3);
  finish(*cluster_, *load_);
}

// The coordinator hangs, and appends of node 1's wait, which node 2 has by then. That one goes with its directory: they
// are answered once another disk has them.
TEST_F(ReplicaDisks, WhatWaitsForTheCoordinatorWhileAFollowerGoesWithItsDiskIsAnsweredByTwoDisks) {
  begin(replicated(3, 3));
  lose(3);
  ASSERT_TRUE(load_->goes_on(40)) << said();
  std::this_thread::sleep_for(1s);
  const auto shards = some_of(1);
  ASSERT_FALSE(shards.empty()) << said();

  cluster_->signal(coordinator, SIGSTOP);
  std::this_thread::sleep_for(200ms);  // what it was told before is answered
  WaitingAppends waiting(*load_, 1, shards, 6, 300s);
  std::this_thread::sleep_for(1s);  // they are shipped
  ASSERT_EQ(waiting.acknowledged(), 0u);
  load_->ask(2, false);
  cluster_->kill(2);
  fs::remove_all(cluster_->data(2));
  cluster_->signal(coordinator, SIGCONT);
  std::this_thread::sleep_for(4s);
  EXPECT_EQ(waiting.acknowledged(), 0u) << "node 1's disk is the only one that has them";

  come_back(2, 1);
  waiting.end();
  EXPECT_EQ(waiting.acknowledged(), waiting.asked()) << said();
  load_->ask(3, true);
  lose_with_its_disk(1);
  cluster_->start(3);
  ASSERT_TRUE(load_->goes_on()) << said();
  come_back(1, 2);
  finish(*cluster_, *load_);
}

// The same while etcd hangs: the coordinator has taken the reports, and names the process that took node 2's number
// before the cut is stored that it makes of them.
TEST_F(ReplicaDisks, WhatWaitsForEtcdWhileAFollowerGoesWithItsDiskIsAnsweredByTwoDisks) {
  EtcdMembers etcd(folder_.path(), 1);
  if (HasFailure()) return;
  auto options = replicated(3, 3);
  add_flags(options, [&](std::uint32_t number) {
    return ClusterProcesses::is_coordinator(number)
               ? std::map<std::string, std::string>{{"--cut-log",
                                                     "etcd://" + etcd.options().members.front() + "/disks"}}
               : std::map<std::string, std::string>{};
  });
  begin(options);
  lose(3);
  ASSERT_TRUE(load_->goes_on(40)) << said();
  std::this_thread::sleep_for(1s);
  const auto shards = some_of(1);
  ASSERT_FALSE(shards.empty()) << said();

  etcd.signal(0, SIGSTOP);
  WaitingAppends waiting(*load_, 1, shards, 6, 300s);
  std::this_thread::sleep_for(500ms);  // they are shipped and reported
  const auto before = waiting.acknowledged();
  load_->ask(2, false);
  cluster_->kill(2);
  fs::remove_all(cluster_->data(2));
  cluster_->launch(2);
  std::this_thread::sleep_for(1s);  // it is named
  cluster_->signal(2, SIGSTOP);
  etcd.signal(0, SIGCONT);
  std::this_thread::sleep_for(4s);
  EXPECT_EQ(waiting.acknowledged(), before) << "node 1's disk is the only one that has them";

  cluster_->signal(2, SIGCONT);
  come_back(2, 1);
  waiting.end();
  EXPECT_EQ(waiting.acknowledged(), waiting.asked()) << said();
  load_->ask(3, true);
  lose_with_its_disk(1);
  cluster_->start(3);
  ASSERT_TRUE(load_->goes_on()) << said();
  come_back(1, 2);
  finish(*cluster_, *load_);
}

// What it writes then is on no disk: it ends, and is filled again like any other that lost its disk.
TEST_F(ReplicaDisks, ANodeWhoseDirectoryIsDeletedOrMovedAwayUnderItEndsAndCountsNoMore) {
  begin(replicated(3, 3));
  const auto away = folder_.path() / "away";
  for (const bool deleted : {true, false}) {
    SCOPED_TRACE(deleted ? "deleted" : "moved away");
    if (deleted)
      fs::remove_all(cluster_->data(2));
    else
      fs::rename(cluster_->data(2), away);
    const auto ended = cluster_->wait(2, 60s);
    EXPECT_EQ(ended.status, 9) << ended.err;
    EXPECT_THAT(ended.err, HasSubstr("was removed or exchanged while it was open"));
    load_->ask(2, false);
    lose(3);
    // One disk is left, of a quorum of two.
    WaitingAppends waiting(*load_, 1, {0, 1, 2, 3}, 2, 3s);
    waiting.end();
    EXPECT_EQ(waiting.acknowledged(), 0u) << said();
    EXPECT_FALSE(fs::exists(cluster_->data(2))) << "it made something there";
    come_back(2, 1);
    EXPECT_TRUE(load_->goes_on()) << said();
    load_->ask(3, true);
    lose_with_its_disk(1);
    cluster_->start(3);
    ASSERT_TRUE(load_->goes_on()) << said();
    come_back(1, 2);
    expect_in_step(*cluster_, 3, 2);
  }
  finish(*cluster_, *load_);
}

}  // namespace
}  // namespace evershard::testing
