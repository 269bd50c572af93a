// Faults of a cluster whose shards are kept by several nodes: old copies of disks, nodes that come back late, the loss
// of all but a quorum, full disks, clocks years apart. Clients go on meanwhile, and the whole history is checked.
// EVERSHARD_ROUNDS and EVERSHARD_SEED steer it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <random>
#include <set>
#include <thread>

#include "tests/contract/temporary_folder.hpp"
#include "tests/process/cluster_load.hpp"
#include "tests/process/reached.hpp"
#include "tests/process/replicas.hpp"
#include "tests/process/small_disk.hpp"

namespace evershard::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;

void put_back(const fs::path& copy, const fs::path& disk) {
  fs::remove_all(disk);
  fs::copy(copy, disk, fs::copy_options::recursive);
}

void take_copy(const fs::path& disk, const fs::path& copy) {
  fs::remove_all(copy);
  fs::copy(disk, copy, fs::copy_options::recursive);
}

/// How many shards this node writes, as `asked` hears it from the coordinator.
std::size_t written_by(const ClusterProcesses& cluster, std::uint32_t node, std::uint32_t asked) {
  return shards_of(cluster, node, asked).size();
}

template <class Condition>
bool comes_true(Condition condition, std::chrono::seconds within = 120s) {
  for (const auto until = std::chrono::steady_clock::now() + within; !condition(); std::this_thread::sleep_for(50ms))
    if (std::chrono::steady_clock::now() > until) return false;
  return true;
}

// The copy is of whatever the node was when it was killed, writer or follower, and is older each time it comes back.
TEST(ReplicaFaults, ANodeThatIsStartedOnAnOldCopyOfItsDiskIsGivenWhatItLacks) {
  const auto seed = seed_of_run();
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  const TemporaryFolder folder;
  ClusterProcesses cluster(folder.path(), replicated(3, 3));
  ClusterLoad load(cluster, seed);
  std::mt19937_64 random(seed);
  const auto rounds = rounds_or(2);
  const auto first = static_cast<std::uint32_t>(1 + random() % cluster.nodes());
  std::set<std::uint32_t> copied;
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    ASSERT_TRUE(load.goes_on(40)) << "before round " << round;
    const auto node = round < 2 ? first : static_cast<std::uint32_t>(1 + random() % cluster.nodes());
    const auto copy = folder.path() / ("copy-" + std::to_string(node));
    const bool comes_back_old = copied.contains(node) && (round < 2 || random() % 4 != 0);
    cluster.kill(node);
    if (comes_back_old)
      put_back(copy, cluster.data(node));
    else
      take_copy(cluster.data(node), copy), copied.insert(node);
    EXPECT_TRUE(load.goes_on()) << "node " << node << " is gone, round " << round;
    cluster.start(node);
    expect_in_step(cluster, node, node % cluster.nodes() + 1);
    EXPECT_TRUE(load.goes_on()) << "node " << node << " is back" << (comes_back_old ? " on an old copy" : "");
  }
  // It counts: any other may go with its disk.
  const auto other = first % cluster.nodes() + 1;
  cluster.kill(other);
  fs::remove_all(cluster.data(other));
  EXPECT_TRUE(load.goes_on()) << "node " << other << " is gone with its disk";
  cluster.start(other);
  expect_in_step(cluster, other, first);
  finish(cluster, load);
}

// Nobody has written its shards meanwhile: it is still the one whom the order names.
TEST(ReplicaFaults, AWriterThatComesBackFirstOnAnOldCopyOfItsDiskIsNotOpened) {
  const TemporaryFolder folder;
  ClusterProcesses cluster(folder.path(), replicated(3, 3));
  ClusterLoad load(cluster, seed_of_run());
  ASSERT_TRUE(load.goes_on());
  ASSERT_TRUE(comes_true([&] { return written_by(cluster, 1, 2) != 0; }));
  cluster.kill(1);
  const auto copy = folder.path() / "copy";
  take_copy(cluster.data(1), copy);
  cluster.start(1);
  expect_in_step(cluster, 1, 2);
  ASSERT_TRUE(comes_true([&] { return written_by(cluster, 1, 2) != 0; })) << status_text(cluster, 2);
  const auto own = shards_of(cluster, 1, 2);
  load.fill(2, own);
  ASSERT_TRUE(load.goes_on(100));
  // All at once: the coordinator names no other writer.
  cluster.signal(ClusterProcesses::coordinator, SIGSTOP);
  for (std::uint32_t n = 1; n <= 3; ++n) cluster.kill(n);
  cluster.kill(ClusterProcesses::coordinator);
  std::this_thread::sleep_for(3s);  // whoever was answered has noted it
  const auto acknowledged = load.acknowledged();
  put_back(copy, cluster.data(1));
  cluster.start(ClusterProcesses::coordinator);
  cluster.launch(1);
  EXPECT_TRUE(cluster.logs(ClusterProcesses::coordinator, "of node 1 has lost data"))
      << cluster.log(ClusterProcesses::coordinator);
  std::this_thread::sleep_for(2s);  // longer than nobody is replaced
  EXPECT_EQ(load.acknowledged(), acknowledged) << "one of three, on an old disk, has ordered something";
  for (const std::uint32_t n : {2u, 3u}) cluster.launch(n);
  for (const std::uint32_t n : {1u, 2u, 3u}) cluster.start(n);
  ASSERT_TRUE(load.goes_on());
  expect_in_step(cluster, 1, 2);
  finish(cluster, load);
}

// Others keep what it kept when it comes back: nobody asks it, and it does not take its shards back.
TEST(ReplicaFaults, ANodeThatComesBackAfterItsShardsMovedAwayKeepsNothing) {
  if (!may_take_long()) GTEST_SKIP() << "it takes long: EVERSHARD_ROUNDS=1 runs it";
  const TemporaryFolder folder;
  ClusterProcesses cluster(folder.path(), replicated(4, 3, 8));
  ClusterLoad load(cluster, seed_of_run());
  ASSERT_TRUE(load.goes_on(40));
  cluster.kill(4);
  load.ask(4, false);
  ASSERT_TRUE(load.goes_on());
  ASSERT_TRUE(comes_true([&] {
    start_again_who_learned(cluster);
    const auto done = cluster.connect(1).cluster_assign({.node = 4, .sets = ShardAssignment::Sets::remove});
    return done && done->left == 0;
  })) << status_text(cluster, 1);
  EXPECT_TRUE(load.goes_on(40)) << "node 4's shards are with others";
  cluster.start(4);
  load.ask(4, true);
  expect_in_step(cluster, 4, 1);
  const auto status = cluster.connect(1).cluster_status();
  ASSERT_TRUE(status) << status.error().what;
  for (const auto& shard : status->shards) {
    EXPECT_NE(shard.node, 4u);
    EXPECT_THAT(shard.replicas, ::testing::ElementsAre(1, 2, 3));
  }
  EXPECT_TRUE(load.goes_on()) << "it serves the store as a node that keeps nothing";
  // And it is gone again, with all it had: nobody notices.
  load.ask(4, false);
  cluster.kill(4);
  fs::remove_all(cluster.data(4));
  EXPECT_TRUE(load.goes_on());
  cluster.start(4);
  load.ask(4, true);
  finish(cluster, load);
}

TEST(ReplicaFaults, FiveReplicasLoseAnyTwoWithTheirDisks) {
  const auto seed = seed_of_run();
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  const TemporaryFolder folder;
  ClusterProcesses cluster(folder.path(), replicated(5, 5, 5));
  ClusterLoad load(cluster, seed);
  std::mt19937_64 random(seed);
  const auto rounds = rounds_or(1);
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    ASSERT_TRUE(load.goes_on()) << "before round " << round;
    const auto one = static_cast<std::uint32_t>(1 + random() % 5);
    const auto two = static_cast<std::uint32_t>(1 + (one + random() % 4) % 5);
    cluster.kill(one);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 300));
    cluster.kill(two);
    for (const auto node : {one, two}) fs::remove_all(cluster.data(node));
    EXPECT_TRUE(load.goes_on(40)) << "nodes " << one << " and " << two << " are gone, round " << round;
    if (random() % 2 == 0) {
      cluster.kill(ClusterProcesses::coordinator);
      cluster.start(ClusterProcesses::coordinator);
      EXPECT_TRUE(load.goes_on()) << "and the coordinator was, round " << round;
    }
    for (const auto node : {one, two}) cluster.launch(node);
    for (const auto node : {one, two}) cluster.start(node);
    std::uint32_t asked = 1;
    while (asked == one || asked == two) ++asked;
    for (const auto node : {one, two}) expect_in_step(cluster, node, asked);
  }
  finish(cluster, load);
}

/// Three replicas, of which node 2's lies on a small disk.
class ReplicaOnASmallDisk : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!disk_.is_there()) GTEST_SKIP() << "CANNOT BE TESTED HERE: this system lets nobody make a disk";
  }
  void begin(const std::string& reserve) {
    auto options = replicated(3, 3);
    options.within = [this](std::uint32_t number) { return number == 2 ? disk_.within() : std::vector<std::string>{}; };
    add_flags(options, [reserve](std::uint32_t number) {
      return number == 2 ? std::map<std::string, std::string>{{"--disk-reserve", reserve}, {"--memtable", "4MiB"}}
                         : std::map<std::string, std::string>{};
    });
    cluster_.emplace(folder_.path(), options);
    load_.emplace(*cluster_, seed_);
    ASSERT_TRUE(load_->goes_on()) << "EVERSHARD_SEED=" << seed_;
  }
  [[nodiscard]] bool is_full(bool yes) const {
    return comes_true([&] {
      const auto status = cluster_->connect(1).cluster_status();
      return status && status->trouble.empty() &&
             std::ranges::any_of(status->nodes, [&](const auto& at) { return at.is.node == 2 && at.full == yes; });
    });
  }

  const TemporaryFolder folder_;
  const SmallDisk disk_{folder_.path() / "node-2", 128};
  const std::uint64_t seed_ = seed_of_run();
  std::optional<ClusterProcesses> cluster_;
  std::optional<ClusterLoad> load_;
};

// Writer and follower, whichever it is for which shard: it is said, and others write.
TEST_F(ReplicaOnASmallDisk, ThatIsFullHoldsNobodyUpAndIsFilledWhenThereIsRoom) {
  begin("16MiB");
  std::mt19937_64 random(seed_);
  const auto rounds = rounds_or(1);
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    ASSERT_TRUE(load_->goes_on());
    disk_.fill_up(8u << 20);
    EXPECT_TRUE(is_full(true)) << status_text(*cluster_, 1);
    EXPECT_TRUE(comes_true([&] { return written_by(*cluster_, 2, 1) == 0; })) << status_text(*cluster_, 1);
    EXPECT_TRUE(load_->goes_on(40)) << "the others are a quorum";
    if (random() % 3 == 0) {  // it is started again as full as it was
      cluster_->kill(2);
      cluster_->start(2);
      EXPECT_TRUE(load_->goes_on());
    }
    disk_.make_room();
    EXPECT_TRUE(is_full(false)) << status_text(*cluster_, 1);
    expect_in_step(*cluster_, 2, 1);
  }
  finish(*cluster_, *load_);
}

TEST_F(ReplicaOnASmallDisk, ThatIsFullWithoutAReserveHoldsUpNobodyElse) {
  begin("0");
  load_->leave_out("bulk");
  disk_.fill_up(0);
  // It ends once a file that it writes to needs more, unless it has seen before that there is no room.
  const auto node = [&]() -> std::optional<ClusterStatus::Node> {
    const auto status = cluster_->connect(1).cluster_status();
    if (status)
      for (const auto& at : status->nodes)
        if (at.is.node == 2) return at;
    return std::nullopt;
  };
  auto at = node();
  const auto until = std::chrono::steady_clock::now() + 120s;
  for (int i = 0; (!at || (at->is.up && !at->full)) && std::chrono::steady_clock::now() < until; ++i) {
    static_cast<void>(
        cluster_->connect(1).append(Append().event("bulk-" + std::to_string(i), "Written", std::string(200'000, 'x'))));
    at = node();
  }
  EXPECT_TRUE(load_->goes_on(40)) << "the others are a quorum";
  at = node();
  const bool stays = at && at->is.up;
  if (!stays) {
    const auto ended = cluster_->wait(2);
    EXPECT_NE(ended.status, 0);
    EXPECT_THAT(ended.err, ::testing::AnyOf(HasSubstr("the store has failed"), HasSubstr("Assertion")))
        << "a RocksDB with its assertions may abort";
  }
  disk_.make_room();
  if (!stays) cluster_->start(2);
  expect_in_step(*cluster_, 2, 1);
  finish(*cluster_, *load_);
}

// No promise rests on what a clock says: a lease that is over for one and not for the other is not believed by either.
TEST(ReplicaFaults, ClocksThatAreYearsApartLoseNothing) {
  const auto seed = seed_of_run();
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  const TemporaryFolder folder;
  auto options = replicated(3, 3);
  options.within = [](std::uint32_t number) {
    constexpr std::int64_t year = 365 * 86'400;
    const std::map<std::uint32_t, std::int64_t> later{
        {ClusterProcesses::coordinator, 7 * year}, {1, -9 * year}, {2, 0}, {3, 12 * year}};
    return std::vector<std::string>{"/usr/bin/env", "LD_PRELOAD=" EVERSHARD_OTHER_CLOCK,
                                    "OTHER_CLOCK_SECONDS=" + std::to_string(later.at(number))};
  };
  ClusterProcesses cluster(folder.path(), options);
  const auto status = cluster.connect(1).cluster_status();
  ASSERT_TRUE(status) << status.error().what;
  for (const auto& node : status->nodes)
    EXPECT_GT(node.is.since.micros, Timestamp::now().micros + 6 * 365 * 86'400'000'000) << "the coordinator's clock";
  ClusterLoad load(cluster, seed);
  std::mt19937_64 random(seed);
  const auto rounds = rounds_or(1);
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    ASSERT_TRUE(load.goes_on()) << "before round " << round;
    const auto node = static_cast<std::uint32_t>(1 + random() % cluster.nodes());
    if (random() % 2 == 0) {
      cluster.signal(node, SIGSTOP);
      EXPECT_TRUE(load.goes_on()) << "node " << node << " is frozen, round " << round;
      cluster.signal(node, SIGCONT);
    } else {
      cluster.kill(node);
      EXPECT_TRUE(load.goes_on()) << "node " << node << " is gone, round " << round;
      cluster.start(node);
    }
    expect_in_step(cluster, node, node % cluster.nodes() + 1);
  }
  finish(cluster, load);
}

}  // namespace
}  // namespace evershard::testing
