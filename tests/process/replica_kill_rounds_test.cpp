// A cluster in which three nodes keep each shard: any one of them is killed, stopped or frozen, and its directory
// deleted, while clients go on: the whole history is checked. EVERSHARD_ROUNDS and EVERSHARD_SEED steer it.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <random>
#include <sstream>
#include <thread>

#include "tests/contract/temporary_folder.hpp"
#include "tests/process/cluster_load.hpp"
#include "tests/process/replicas.hpp"

namespace evershard::testing {
namespace {

constexpr std::chrono::seconds caught_up_deadline{150};

/// Waits until the nodes write so many shards: as `enough` has it.
template <class Enough>
bool is_spread(const ClusterProcesses& cluster, std::uint32_t asked, Enough enough) {
  const auto until = std::chrono::steady_clock::now() + caught_up_deadline;
  while (std::chrono::steady_clock::now() < until) {
    const auto status = cluster.connect(asked).cluster_status();
    if (status && status->trouble.empty()) {
      std::map<std::uint32_t, std::size_t> writes;
      for (const auto& at : status->nodes) writes[at.is.node] = 0;
      for (const auto& shard : status->shards) ++writes[shard.node];
      if (enough(writes)) return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

bool is_even(const std::map<std::uint32_t, std::size_t>& writes) {
  const auto [least, most] = std::ranges::minmax_element(writes, {}, [](const auto& of) { return of.second; });
  return most->second - least->second <= 1;
}

/// Asked for until whoever leads has taken it.
bool is_assigned(const ClusterProcesses& cluster, std::uint32_t asked, const ShardAssignment& wanted) {
  const auto until = std::chrono::steady_clock::now() + caught_up_deadline;
  while (!cluster.connect(asked).cluster_assign(wanted)) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return true;
}

/// Removes history while nodes come and go: what it was answered is so at every node, for good.
class Remover {
 public:
  explicit Remover(const ClusterProcesses& cluster) : cluster_(cluster) {}

  /// Fills an aggregate, and begins to remove or to truncate it.
  void begin(std::uint64_t number, bool whole) {
    const AggregateId aggregate{"gone", std::to_string(number)};
    aggregates_.emplace_back(aggregate, whole);
    Append append;
    for (std::uint64_t i = 0; i != events; ++i) append.event(aggregate.text(), "Written", std::string(2'000, 'x'));
    append.request_id = EventId::random();
    const auto until = std::chrono::steady_clock::now() + caught_up_deadline;
    while (!with_any([&](Remote& client) { return client.append(append).has_value(); }))
      ASSERT_LT(std::chrono::steady_clock::now(), until) << "nothing is taken";
    done_ = false;
    worker_ = std::thread([this, aggregate, whole, until] {
      while (std::chrono::steady_clock::now() < until && !done_) done_ = remove(aggregate, whole);
    });
  }
  void end() {
    worker_.join();
    EXPECT_TRUE(done_) << aggregates_.back().first.text();
  }
  /// As every node has it, once those that were away have caught up.
  void check() {
    for (std::uint32_t n = 1; n <= cluster_.nodes(); ++n)
      for (const auto& [aggregate, whole] : aggregates_) {
        const auto until = std::chrono::steady_clock::now() + caught_up_deadline;
        std::string states;
        const auto wanted = whole ? std::string(events, 'r') + 'l' : std::string(events - 1, 'r') + 'l';
        while (states != wanted && std::chrono::steady_clock::now() < until) {
          auto client = cluster_.connect(n);
          states.clear();
          auto stream = client.read(aggregate);
          for (const auto& event : stream) states += event.state == EventState::removed ? 'r' : 'l';
          if (stream.error()) states = stream.error()->what;
          if (whole && states.find("was removed at position") != std::string::npos) states = wanted;
        }
        EXPECT_EQ(states, wanted) << aggregate.text() << " at node " << n;
      }
  }

 private:
  static constexpr std::uint64_t events = 200;

  template <class Do>
  bool with_any(Do what) {
    auto client = cluster_.connect(static_cast<std::uint32_t>(1 + next_++ % cluster_.nodes()));
    return what(client);
  }
  bool remove(const AggregateId& aggregate, bool whole) {
    return with_any([&](Remote& client) {
      if (whole) return client.retention().remove_aggregate(aggregate, {}).has_value();
      TruncateOptions options;
      options.uncovered = true;
      return client.retention().truncate_aggregate(aggregate, SeqNr{events}, options).has_value();
    });
  }

  const ClusterProcesses& cluster_;
  std::vector<std::pair<AggregateId, bool>> aggregates_;
  std::thread worker_;
  std::atomic<bool> done_{false};
  std::atomic<std::uint64_t> next_{0};
};

/// Three nodes keep each shard, of so many.
void any_node_may_go(std::uint32_t nodes, int rounds) {
  const auto seed = seed_of_run();
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  const TemporaryFolder folder;
  ClusterProcesses cluster(folder.path(), replicated(nodes, 3));
  ClusterLoad load(cluster, seed);
  load.leave_out("gone");
  load.leave_out("$retention");
  Remover remover(cluster);

  std::mt19937_64 random(seed);
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    ASSERT_TRUE(load.goes_on()) << "before round " << round;
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 200));
    const auto node = static_cast<std::uint32_t>(1 + random() % cluster.nodes());
    const auto other = node % cluster.nodes() + 1;
    const auto what = random() % 6;
    remover.begin(static_cast<std::uint64_t>(round), random() % 2 == 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 20));
    if (what == 3) {
      cluster.signal(node, SIGSTOP);
      EXPECT_TRUE(load.goes_on()) << "node " << node << " is frozen, round " << round;
      cluster.signal(node, SIGCONT);
    } else if (what >= 4) {
      if (what == 5) {
        ASSERT_TRUE(is_assigned(cluster, other, {.node = node, .drain = true}));
        EXPECT_TRUE(is_spread(cluster, other, [&](const auto& writes) { return writes.at(node) == 0; }))
            << "node " << node << " is drained, round " << round;
      }
      cluster.stop(node);  // what is under way is answered, and it ends well
      EXPECT_TRUE(load.goes_on()) << "node " << node << " is stopped, round " << round;
      cluster.start(node);
    } else {
      cluster.kill(node);
      if (what == 2) std::filesystem::remove_all(cluster.data(node));
      if (random() % 4 == 0) {
        cluster.kill(ClusterProcesses::coordinator);
        cluster.launch(ClusterProcesses::coordinator);
        cluster.start(ClusterProcesses::coordinator);
      }
      EXPECT_TRUE(load.goes_on()) << "node " << node << " is gone" << (what == 2 ? " with its disk" : "") << ", round "
                                  << round;
      cluster.launch(node);
      cluster.start(node);
    }
    // The next one may go once this one is a replica again: two of three have to be.
    ASSERT_TRUE(is_caught_up(cluster, node, other)) << "node " << node << ", round " << round << "\n"
                                                    << cluster.log(node);
    remover.end();
    if (random() % 2 == 0) {  // else by itself
      ASSERT_TRUE(is_assigned(cluster, other, {.balance = true}));
    }
    EXPECT_TRUE(is_spread(cluster, other, is_even)) << "round " << round;
  }
  EXPECT_TRUE(cluster.wait_until_whole());
  EXPECT_TRUE(load.goes_on());
  load.stop();
  remover.check();
  load.check();
  cluster.stop_all();
}

/// Asked for again until nothing is left, by whoever leads then.
bool sets_are_changed(ClusterProcesses& cluster, std::uint32_t asked, const ShardAssignment& wanted,
                      const std::function<void()>& between) {
  const auto until = std::chrono::steady_clock::now() + 2 * caught_up_deadline;
  while (std::chrono::steady_clock::now() < until) {
    start_again_who_learned(cluster);
    const auto done = cluster.connect(asked).cluster_assign(wanted);
    if (done && done->left == 0) return true;
    between();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return false;
}

// Under a few clients, so that cuts have nothing but openings: a request that is sent again comes to a writer that was
// just opened, and that has seen nothing new since it was not.
TEST(ReplicaKillRounds, ANodeAndTheCoordinatorMayGoAtOnce) {
  const auto seed = seed_of_run();
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  const TemporaryFolder folder;
  ClusterProcesses cluster(folder.path(), replicated(4, 3, 8));
  ClusterLoad load(cluster, seed);
  std::mt19937_64 random(seed);
  const auto rounds = rounds_or(6);
  for (int round = 0; round < rounds; ++round) {
    ASSERT_TRUE(load.goes_on()) << "before round " << round;
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 300));
    const auto victim = static_cast<std::uint32_t>(1 + random() % cluster.nodes());
    cluster.kill(victim);
    cluster.launch(victim);
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 200));
    if (random() % 2 == 0) {
      cluster.kill(ClusterProcesses::coordinator);
      cluster.launch(ClusterProcesses::coordinator);
      cluster.start(ClusterProcesses::coordinator);
    }
    cluster.start(victim);
    ASSERT_TRUE(is_caught_up(cluster, victim, victim % cluster.nodes() + 1))
        << "node " << victim << ", round " << round << "\n"
        << cluster.log(victim);
  }
  load.stop();
  load.check();
  cluster.stop_all();
}

/// What the cluster says of itself, for who looks at a failure.
std::string told_by(const ClusterProcesses& cluster, std::uint32_t asked) {
  const auto status = cluster.connect(asked).cluster_status();
  if (!status) return "node " + std::to_string(asked) + ": " + status.error().what;
  std::ostringstream told;
  told << "as node " << asked << " is told:\n";
  for (const auto& node : status->nodes)
    told << "node " << node.is.node << ": applied " << node.applied.value << ", " << node.behind << " cuts and "
         << node.behind_events << " events behind since " << node.behind_ms << " ms, keeps " << node.replicas
         << ", learns " << node.learns << " (" << node.learned_events << " of " << node.learn_events << ")\n";
  for (std::size_t s = 0; s != status->shards.size(); ++s) {
    const auto& shard = status->shards[s];
    told << "shard " << s << ": node " << shard.node << ", epoch " << shard.epoch.value
         << (shard.open ? ", open" : ", not open") << ", durable " << shard.durable.value << ", ordered "
         << shard.ordered.value << ", quorum " << shard.quorum << (shard.without_quorum ? " that is not there" : "")
         << ", replicas";
    for (const auto node : shard.replicas) told << ' ' << node;
    for (const auto node : shard.learners) told << ", learns " << node;
    told << ' ' << shard.trouble << '\n';
  }
  return told.str();
}

// Nodes are told to keep nothing, and to keep their share again, while others are killed at any moment of it.
TEST(ReplicaKillRounds, NodesComeAndGoWhileOthersAreKilled) {
  const auto seed = seed_of_run();
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  const TemporaryFolder folder;
  ClusterProcesses cluster(folder.path(), replicated(4, 3, 8));
  ClusterLoad load(cluster, seed);
  std::mt19937_64 random(seed);
  const auto rounds = rounds_or(2);
  const auto watch = [&] { start_again_who_learned(cluster); };
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round) {
    const auto goes = static_cast<std::uint32_t>(1 + random() % cluster.nodes());
    const auto asked = goes % cluster.nodes() + 1;
    for (const auto sets : {ShardAssignment::Sets::remove, ShardAssignment::Sets::add}) {
      ASSERT_TRUE(load.goes_on()) << "before round " << round;
      // Whoever is killed is a replica again before the next one may go.
      int kills = 2;
      const auto kill_somebody = [&] {
        if (kills == 0 || random() % 8 != 0) return;
        --kills;
        if (random() % 4 == 0) {
          cluster.kill(ClusterProcesses::coordinator);
          cluster.launch(ClusterProcesses::coordinator);
          return cluster.start(ClusterProcesses::coordinator);
        }
        auto victim = static_cast<std::uint32_t>(1 + random() % cluster.nodes());
        if (victim == asked) victim = goes;
        cluster.kill(victim);
        cluster.launch(victim);
        cluster.start(victim);
        EXPECT_TRUE(is_caught_up(cluster, victim, asked, watch)) << "node " << victim << ", round " << round;
      };
      EXPECT_TRUE(sets_are_changed(cluster, asked, {.node = goes, .sets = sets}, kill_somebody))
          << "node " << goes << ", round " << round;
      if (sets == ShardAssignment::Sets::remove) {  // nobody misses what it has
        cluster.kill(goes);
        if (random() % 2 == 0) std::filesystem::remove_all(cluster.data(goes));
        EXPECT_TRUE(load.goes_on()) << "node " << goes << " is removed and gone, round " << round;
        cluster.launch(goes);
        cluster.start(goes);
      }
    }
    // What a node has learned counts: any other may go with its disk.
    const auto victim = static_cast<std::uint32_t>(1 + random() % cluster.nodes());
    cluster.kill(victim);
    std::filesystem::remove_all(cluster.data(victim));
    EXPECT_TRUE(load.goes_on()) << "node " << victim << " is gone with its disk, round " << round << '\n'
                                << told_by(cluster, victim % cluster.nodes() + 1);
    cluster.launch(victim);
    cluster.start(victim);
    const auto other = victim % cluster.nodes() + 1;
    ASSERT_TRUE(is_caught_up(cluster, victim, other, watch)) << "node " << victim << ", round " << round;
    EXPECT_TRUE(sets_are_changed(cluster, other, {.sets = ShardAssignment::Sets::rebalance}, [] {}));
  }
  finish(cluster, load);
}

TEST(ReplicaKillRounds, AnyNodeMayGoWithItsDisk) { any_node_may_go(3, rounds_or(5)); }

// Nobody else keeps all that a node keeps: several give it what it was away for.
TEST(ReplicaKillRounds, AnyNodeOfMoreThanThereAreReplicasMayGoWithItsDisk) { any_node_may_go(5, rounds_or(3)); }

}  // namespace
}  // namespace evershard::testing
