// Three nodes that keep each shard, two coordinators and an etcd of three members, each on a network of its own. Any
// two are parted, coordinators are made to believe that they lead, and etcd is given back an old state, while clients
// go on. EVERSHARD_ROUNDS and EVERSHARD_SEED steer the rounds.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <optional>
#include <random>
#include <set>
#include <thread>

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

constexpr std::uint32_t first_coordinator = ClusterProcesses::coordinator;
constexpr std::uint32_t second_coordinator = ClusterProcesses::further_coordinators;

/// The networks: the first coordinator's, the nodes', the second coordinator's, those of etcd's members.
constexpr std::uint32_t networks = 8, etcd_members = 3;
std::uint32_t network_of(std::uint32_t number) { return number == second_coordinator ? 4 : number; }
std::uint32_t network_of_etcd(std::size_t member) { return 5 + static_cast<std::uint32_t>(member); }
bool is_node(std::uint32_t network) { return network >= 1 && network <= 3; }
std::string name_of(std::uint32_t network) {
  if (is_node(network)) return "node " + std::to_string(network);
  if (network >= 5) return "etcd " + std::to_string(network - 5);
  return network == 0 ? "coordinator 1" : "coordinator 2";
}

class ReplicaNetworks : public ::testing::Test {
 protected:
  void SetUp() override {
    networks_.emplace(networks);
    if (!networks_->missing().empty())
      GTEST_SKIP() << "CANNOT BE TESTED HERE: partitions between network namespaces: " << networks_->missing();
    etcd_.emplace(folder_.path(), etcd_members, std::nullopt, [this](std::size_t member) {
      const auto network = network_of_etcd(member);
      return EtcdMembers::Place{Networks::host(network), networks_->within(network)};
    });
    std::string log = "etcd://";
    for (const auto& member : etcd_->options().members) log += (log.ends_with('/') ? "" : ",") + member;
    auto options = replicated(3, 3);
    options.coordinators = 2;
    options.host = [](std::uint32_t number) { return Networks::host(network_of(number)); };
    options.within = [this](std::uint32_t number) { return networks_->within(network_of(number)); };
    add_flags(options, [log](std::uint32_t number) {
      return ClusterProcesses::is_coordinator(number) ? std::map<std::string, std::string>{{"--cut-log", log + "/shop"}}
                                                      : std::map<std::string, std::string>{};
    });
    cluster_.emplace(folder_.path(), options);
    load_.emplace(*cluster_, seed_);
    ASSERT_TRUE(load_->goes_on()) << "EVERSHARD_SEED=" << seed_;
  }
  void finish() {
    SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed_));
    testing::finish(*cluster_, *load_);
  }
  [[nodiscard]] std::uint32_t leading() const { return cluster_->leading(cluster_->coordinators()); }
  [[nodiscard]] static std::uint32_t other_than(std::uint32_t coordinator) {
    return coordinator == first_coordinator ? second_coordinator : first_coordinator;
  }
  void part_from_etcd(std::uint32_t number) {
    for (std::size_t m = 0; m != etcd_members; ++m) networks_->part(network_of(number), network_of_etcd(m));
  }
  void join_to_etcd(std::uint32_t number) {
    for (std::size_t m = 0; m != etcd_members; ++m) networks_->join(network_of(number), network_of_etcd(m));
  }
  [[nodiscard]] std::set<std::uint32_t> all_shards() const {
    std::set<std::uint32_t> all;
    for (std::uint32_t shard = 0; shard != cluster_->shards(); ++shard) all.insert(shard);
    return all;
  }

  std::optional<Networks> networks_;
  const TemporaryFolder folder_;
  const std::uint64_t seed_ = seed_of_run();
  std::optional<EtcdMembers> etcd_;
  std::optional<ClusterProcesses> cluster_;
  std::optional<ClusterLoad> load_;
};

/// What takes long, and is run by scripts/soak.
class ReplicaNetworksAtLength : public ReplicaNetworks {
 protected:
  void SetUp() override {
    if (!may_take_long()) GTEST_SKIP() << "it takes long: EVERSHARD_ROUNDS=1 runs it";
    ReplicaNetworks::SetUp();
  }
};

// Whatever is between one pair, in one direction or both, all goes on meanwhile: at the third node, where it is two
// nodes. Of more at once nothing is asked but that nothing is lost, and that it goes on afterwards.
TEST_F(ReplicaNetworks, AnyTwoThatArePartedLoseNothing) {
  std::mt19937_64 random(seed_);
  const auto rounds = rounds_or(1);
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    ASSERT_TRUE(load_->goes_on()) << "before round " << round << ", EVERSHARD_SEED=" << seed_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> dropped;
    const auto pairs = random() % 3 == 0 ? 2 + random() % 3 : 1;
    std::string what;
    std::uint32_t from = 0, to = 0;
    for (auto left = pairs; left != 0; --left) {
      from = static_cast<std::uint32_t>(random() % networks);
      to = (from + 1 + static_cast<std::uint32_t>(random() % (networks - 1))) % networks;
      const bool both = random() % 2 == 0;
      what += name_of(from) + (both ? " <-> " : " -> ") + name_of(to) + "; ";
      if (dropped.emplace(from, to).second) networks_->drop(from, to);
      if (both && dropped.emplace(to, from).second) networks_->drop(to, from);
    }
    SCOPED_TRACE("round " + std::to_string(round) + ": " + what + "EVERSHARD_SEED=" + std::to_string(seed_));
    const auto began = std::chrono::steady_clock::now();
    const auto lasts = std::chrono::milliseconds(200 + random() % 4'800);
    if (pairs == 1 && is_node(from) && is_node(to)) {
      load_->fill(6 - from - to, all_shards());
    } else if (pairs == 1) {
      EXPECT_TRUE(load_->goes_on()) << status_text(*cluster_, 1);
    }
    std::this_thread::sleep_until(began + lasts);
    for (const auto& [sender, receiver] : dropped) networks_->let_through(sender, receiver);
  }
  finish();
}

// Both hear all others: neither is gone for anybody but the other. What is written by one of them, which the other one
// waits for in vain, gets another writer.
TEST_F(ReplicaNetworks, TwoNodesThatArePartedAreNoHindranceToTheThird) {
  load_->ask(1, false), load_->ask(2, false);
  networks_->part(1, 2);
  load_->fill(3, all_shards());
  EXPECT_TRUE(load_->goes_on(100)) << status_text(*cluster_, 3);
  load_->ask(1, true), load_->ask(2, true);
  EXPECT_TRUE(load_->goes_on(40)) << "who is not answered at one of them goes on at another";
  networks_->join(1, 2);
  for (const std::uint32_t node : {1u, 2u}) expect_in_step(*cluster_, node, 3);
  finish();
}

// It believes that it leads until it does not reach etcd for long; the nodes are with it still.
TEST_F(ReplicaNetworksAtLength, ACoordinatorThatIsCutOffFromEtcdGivesWay) {
  const auto led = leading(), next = other_than(led);
  ASSERT_TRUE(cluster_->logs(next, "standing by"));
  part_from_etcd(led);
  EXPECT_EQ(cluster_->leading({next}), next);
  EXPECT_TRUE(load_->goes_on());
  // The next one gives away what a node wrote, which the first one does not hear of.
  cluster_->kill(2);
  EXPECT_TRUE(load_->goes_on());
  join_to_etcd(led);
  ASSERT_TRUE(cluster_->logs(led, "stepping down"));
  cluster_->start(2);
  expect_in_step(*cluster_, 2, 1);
  EXPECT_EQ(leading(), next);
  finish();
}

// Each has nodes with it and believes that it leads. The nodes of the one are no quorum, and it hears nothing of the
// other; both reach etcd.
TEST_F(ReplicaNetworks, TheSideThatHasAQuorumGoesOnWithACoordinatorOfItsOwn) {
  const auto led = leading(), next = other_than(led);
  ASSERT_TRUE(cluster_->logs(next, "standing by"));
  const std::set<std::uint32_t> minority{network_of(led), 1}, majority{network_of(next), 2, 3};
  load_->ask(1, false);
  for (const auto a : minority)
    for (const auto b : majority) networks_->part(a, b);
  ASSERT_TRUE(load_->goes_on(40)) << status_text(*cluster_, 2) << cluster_->log(next) << cluster_->log(led);
  load_->fill(2, all_shards());
  EXPECT_EQ(cluster_->leading({next}), next);
  for (const auto a : minority)
    for (const auto b : majority) networks_->join(a, b);
  load_->ask(1, true);
  expect_in_step(*cluster_, 1, 2);
  finish();
}

// While it is frozen another one leads and gives its writers' shards away; then it goes on where it was, and still
// reaches every node.
TEST_F(ReplicaNetworksAtLength, ACoordinatorThatIsThawedOpensNobodyAndOrdersNothing) {
  std::mt19937_64 random(seed_);
  const auto rounds = rounds_or(1);
  for (int round = 0; round < rounds && !HasFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round) + ", EVERSHARD_SEED=" + std::to_string(seed_));
    const auto led = leading(), next = other_than(led);
    ASSERT_TRUE(cluster_->logs(next, "standing by"));
    ASSERT_TRUE(load_->goes_on());
    const auto node = static_cast<std::uint32_t>(1 + random() % 3), other = node % 3 + 1;
    const bool before = random() % 2 == 0;
    if (before) cluster_->kill(node);  // it may be about to name others
    cluster_->signal(led, SIGSTOP);
    EXPECT_TRUE(load_->goes_on());
    EXPECT_EQ(cluster_->leading({next}), next);
    if (!before) cluster_->kill(node);
    EXPECT_TRUE(load_->goes_on());
    if (random() % 2 == 0) fs::remove_all(cluster_->data(node));
    cluster_->launch(node);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 500));
    cluster_->signal(led, SIGCONT);
    cluster_->start(node);
    expect_in_step(*cluster_, node, other);
    EXPECT_TRUE(load_->goes_on());
    EXPECT_EQ(leading(), next);
  }
  finish();
}

// All of etcd's members come back with what they had earlier: nobody leads such a log, and it is said.
TEST_F(ReplicaNetworksAtLength, AnEtcdThatWasGivenBackAnOldStateIsRefused) {
  const auto kept = folder_.path() / "kept", newest = folder_.path() / "newest";
  const auto stop_etcd = [&] {
    for (std::size_t m = 0; m != etcd_members; ++m) etcd_->kill(m);
  };
  const auto start_etcd = [&] {
    for (std::size_t m = 0; m != etcd_members; ++m) etcd_->start(m);
    for (std::size_t m = 0; m != etcd_members; ++m) EXPECT_TRUE(etcd_->answers(m));
  };
  const auto copy_etcd = [&](const fs::path& to) {
    for (std::size_t m = 0; m != etcd_members; ++m)
      fs::copy(etcd_->data(m), to / std::to_string(m), fs::copy_options::recursive);
  };
  const auto give_back = [&](const fs::path& from) {
    for (std::size_t m = 0; m != etcd_members; ++m) {
      fs::remove_all(etcd_->data(m));
      fs::copy(from / std::to_string(m), etcd_->data(m), fs::copy_options::recursive);
    }
  };
  fs::create_directories(kept);
  fs::create_directories(newest);
  stop_etcd();
  copy_etcd(kept);
  start_etcd();
  ASSERT_TRUE(load_->goes_on(100));
  stop_etcd();
  std::this_thread::sleep_for(3s);  // whoever was answered has noted it
  const auto acknowledged = load_->acknowledged();
  copy_etcd(newest);
  give_back(kept);
  start_etcd();
  const auto is_refused = [&](std::uint32_t coordinator) {
    return cluster_->log(coordinator).find("etcd has lost what it acknowledged") != std::string::npos ||
           cluster_->log(coordinator).find("the log has lost its end") != std::string::npos;
  };
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (!is_refused(first_coordinator) && !is_refused(second_coordinator) && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(50ms);
  EXPECT_TRUE(is_refused(first_coordinator) || is_refused(second_coordinator))
      << cluster_->log(first_coordinator) << cluster_->log(second_coordinator);
  // Coordinators that know nothing of before are told by the nodes.
  for (const auto number : cluster_->coordinators()) cluster_->kill(number), cluster_->launch(number);
  std::this_thread::sleep_for(4s);
  EXPECT_EQ(load_->acknowledged(), acknowledged) << "something was ordered behind an old state";
  for (const auto number : cluster_->coordinators())
    EXPECT_TRUE(is_refused(number)) << name_of(network_of(number)) << "\n" << cluster_->log(number);

  for (const auto number : cluster_->coordinators()) cluster_->kill(number);
  stop_etcd();
  give_back(newest);
  start_etcd();
  for (const auto number : cluster_->coordinators()) cluster_->start(number);
  ASSERT_TRUE(load_->goes_on());
  finish();
}

}  // namespace
}  // namespace evershard::testing
