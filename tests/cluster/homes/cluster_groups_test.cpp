// Groups on a cluster: every node reaches a group's home, workers at any node share it, and neither a home that dies
// nor a shard that goes loses or skips an event.

#include <gmock/gmock.h>

#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>

#include "evershard/cluster/groups/cluster_groups.hpp"
#include "tests/cluster/homes/homes_in_process.hpp"
#include "tests/cluster/node/small_cluster.hpp"
#include "tests/contract/temporary_folder.hpp"

namespace evershard::cluster {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr auto groups_patience = 60s;

class ClusterGroupsTest : public ::testing::Test {
 protected:
  explicit ClusterGroupsTest(bool on_disk = false)
      : cluster_(
            {.nodes = 3, .gateways = 1, .shards = 6, .data_dir = on_disk ? folder_.path() : std::filesystem::path()}) {
    for (std::uint32_t n = 1; n <= all_; ++n) join(n);
    EXPECT_TRUE(cluster_.wait_until_open());
  }
  ~ClusterGroupsTest() override {
    for (std::uint32_t n = 1; n <= all_; ++n) leave(n);
  }
  void join(std::uint32_t n) {
    homes_[n] = std::make_shared<HomeCalls>(cluster_.node(n), network_, HomeCallsOptions{.node = n, .threads = 4});
    groups_[n] = std::make_unique<ClusterGroups>(cluster_.node(n), *homes_[n],
                                                 ClusterGroupsOptions{.remote = {.call_time = 10s, .open_time = 30s}});
    network_.put(n, homes_[n]);
  }
  void leave(std::uint32_t n) {
    network_.put(n, nullptr);
    if (homes_.contains(n)) homes_[n]->stop();
    groups_.erase(n);
    homes_.erase(n);
  }
  /// Nothing it still wants to write is written; its disk stays.
  void crash(std::uint32_t n) {
    network_.put(n, nullptr);
    cluster_.node(n).committer().stop();
    leave(n);
    cluster_.stop(n);
  }
  void restart(std::uint32_t n) {
    cluster_.start(n);
    join(n);
    EXPECT_TRUE(cluster_.wait_until_open());
  }
  [[nodiscard]] std::uint32_t home_of(const std::string& name) {
    return cluster_.node(2).committer().owner(cluster_.node(2).shard_of({"$group", name}));
  }
  /// A group's name whose home is this node.
  [[nodiscard]] std::string at_home_on(std::uint32_t n, int nth = 0) {
    for (int i = 0;; ++i) {
      if (const auto name = "g" + std::to_string(i); home_of(name) == n && nth-- == 0) return name;
    }
  }
  [[nodiscard]] Groups& on(std::uint32_t n) { return *groups_.at(n); }
  void append(std::uint32_t n, const std::string& aggregate, int events, const std::string& type = "Placed") {
    for (int i = 0; i < events; ++i) {
      auto one = Append{}.event(aggregate, type, "{}");
      one.request_id = EventId::random();
      Result<Appended> done = refuse(ErrorCode::unavailable, "not tried");
      eventually([&] { return done || (done = cluster_.node(n).append(one)).has_value(); });
      ASSERT_TRUE(done) << done.error().what;
    }
  }
  static GroupDefinition defined(const std::string& name,
                                 GroupSettings settings = {
                                     .attempts_max = 3, .retry_first = 1ms, .retry_jitter_percent = 0}) {
    return {.name = name, .query = Query{}.types({"Placed"}), .settings = settings};
  }
  static GroupDelivery next_of(GroupWorker& worker) {
    auto next = worker.next(groups_patience);
    EXPECT_TRUE(next) << (next ? "" : next.error().what);
    EXPECT_TRUE(next && *next) << "nothing came";
    return next && *next ? **std::move(next) : GroupDelivery{};
  }
  template <class Holds>
  static void eventually(Holds holds) {
    const auto deadline = std::chrono::steady_clock::now() + groups_patience;
    while (!holds() && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(2ms);
    EXPECT_TRUE(holds());
  }

  TemporaryFolder folder_;
  SmallCluster cluster_;
  const std::uint32_t all_ = 4;  ///< the last one is the gateway
  HomesInProcess network_;
  std::map<std::uint32_t, std::shared_ptr<HomeCalls>> homes_;
  std::map<std::uint32_t, std::unique_ptr<ClusterGroups>> groups_;
};

/// A node that stops comes back with what it had.
class DurableClusterGroups : public ClusterGroupsTest {
 protected:
  DurableClusterGroups() : ClusterGroupsTest(true) {}
};

TEST_F(ClusterGroupsTest, EveryNodeReachesEveryGroup) {
  append(1, "order-1", 2);
  std::set<std::string> names;
  for (std::uint32_t home = 1; home <= 3; ++home) {
    for (std::uint32_t asked = 1; asked <= all_; ++asked) {
      const auto name = at_home_on(home, static_cast<int>(asked));
      const auto created = on(asked).create_group(defined(name));
      ASSERT_TRUE(created) << created.error().what;
      names.insert(name);
      const auto changed = on(asked % all_ + 1).change_group(name, {.attempts_max = 7});
      ASSERT_TRUE(changed) << changed.error().what;
      EXPECT_EQ(changed->definition.settings.attempts_max, 7u);
      EXPECT_EQ(on(asked).group(name)->definition, changed->definition);
    }
  }
  GlobalPosition there;  // the last is defined by another node, perhaps
  for (std::uint32_t n = 1; n <= all_; ++n) there = std::max(there, cluster_.node(n).head().value());
  for (std::uint32_t n = 1; n <= all_; ++n) {
    ASSERT_TRUE(cluster_.node(n).wait_for(there, groups_patience));
    const auto list = on(n).list_groups();
    ASSERT_TRUE(list) << list.error().what;
    std::set<std::string> listed;
    for (const auto& info : *list) {
      listed.insert(info.definition.name);
      EXPECT_THAT(info.trouble, IsEmpty());
    }
    EXPECT_EQ(listed, names) << "at node " << n;
  }
  const auto name = at_home_on(1, 1);
  for (std::uint32_t n = 1; n <= all_; ++n) {
    EXPECT_THAT(on(n).create_group(defined(name)).error().what, HasSubstr("already"));
    EXPECT_EQ(on(n).group("nobody").error().code, ErrorCode::not_found);
    EXPECT_EQ(on(n).create_group(defined("no name")).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(on(n).change_group(name, {.window = 0}).error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(on(n).join_group("nobody").error().code, ErrorCode::not_found);
    EXPECT_EQ(on(n).join_group(name, {.credit = 0}).error().code, ErrorCode::invalid_argument);
  }
  EXPECT_EQ(on(2).reset_group(name, there)->position, there);
  ASSERT_TRUE(on(3).drop_group(name));
  EXPECT_EQ(on(2).group(name).error().code, ErrorCode::not_found);
}

TEST_F(ClusterGroupsTest, ChangesThroughDifferentNodesAtTheSameTimeAllHold) {
  const auto name = at_home_on(2);
  ASSERT_TRUE(on(1).create_group(defined(name, {})));
  constexpr std::uint32_t rounds = 8;
  std::vector<std::thread> threads;
  for (std::uint32_t n = 1; n <= all_; ++n) {
    threads.emplace_back([&, n] {
      for (std::uint32_t round = 1; round <= rounds; ++round) {
        GroupSettingsChange change;
        if (n == 1) change.attempts_max = round;
        if (n == 2) change.lease = round * 1s;
        if (n == 3) change.window = round;
        if (n == 4) change.parked_max = round;
        const auto changed = on(n).change_group(name, change);
        EXPECT_TRUE(changed) << changed.error().what;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(on(1).group(name)->definition.settings,
            (GroupSettings{.attempts_max = rounds, .lease = rounds * 1s, .window = rounds, .parked_max = rounds}));
}

TEST_F(ClusterGroupsTest, AWorkerElsewhereIsGivenAllInOrderAndSettlesIt) {
  append(1, "order-1", 3);
  for (const std::uint32_t n : {2u, 4u}) {
    SCOPED_TRACE("at node " + std::to_string(n));
    const auto name = at_home_on(1, static_cast<int>(n));
    ASSERT_TRUE(on(1).create_group(defined(name)));
    auto worker = on(n).join_group(name, {.name = "far"}).value();
    const auto first = next_of(worker);
    EXPECT_EQ(first.event.seq_nr, SeqNr{1});
    EXPECT_EQ(first.event.payload, "{}");
    EXPECT_EQ(on(3).group(name)->workers.at(0).name, "far");
    EXPECT_TRUE(worker.renew());
    ASSERT_TRUE(worker.reject(first, "not yet"));
    const auto again = next_of(worker);
    EXPECT_EQ(again.event, first.event);
    EXPECT_EQ(again.attempt, 2u);
    ASSERT_TRUE(worker.acknowledge(again));
    EXPECT_TRUE(worker.acknowledge(again)) << "the same again is answered as the first time";
    const auto second = next_of(worker);
    EXPECT_EQ(second.event.seq_nr, SeqNr{2});
    ASSERT_TRUE(worker.park(second, "broken"));
    EXPECT_EQ(worker.acknowledge(second).error().code, ErrorCode::fenced);
    const auto parked = on(3).parked_events(name, GlobalPosition{0}, 10);
    ASSERT_TRUE(parked);
    ASSERT_THAT(*parked, SizeIs(1));
    EXPECT_EQ(parked->at(0).reason, "broken");
    EXPECT_EQ(parked->at(0).type, "Placed");
    const auto third = next_of(worker);
    EXPECT_EQ(third.event.seq_nr, SeqNr{3});
    ASSERT_TRUE(worker.acknowledge(third));
    EXPECT_EQ(*on(3).replay_parked(name, second.event.position), 1u);
    EXPECT_EQ(next_of(worker).event, second.event);
    EXPECT_EQ(on(3).discard_parked(name, second.event.position).error().code, ErrorCode::not_found);
    EXPECT_EQ(*on(3).discard_parked(name, {}), 0u);
  }
}

TEST_F(ClusterGroupsTest, WorkersAtAllNodesShareAGroupAndKeepItsOrder) {
  const auto name = at_home_on(2);
  constexpr int aggregates = 6, each = 15;
  ASSERT_TRUE(on(3).create_group(defined(
      name, {.attempts_max = 1'000, .retry_first = 1ms, .retry_most = 10ms, .retry_jitter_percent = 0, .window = 30})));
  std::mutex mutex;
  std::map<std::string, std::vector<std::uint64_t>> done;  ///< acknowledged, in that order
  std::set<std::uint32_t> worked;
  std::atomic<int> left{aggregates * each};
  std::vector<std::thread> workers;
  for (std::uint32_t n = 1; n <= all_; ++n) {
    workers.emplace_back([&, n] {
      std::mt19937 random(n);
      auto worker = on(n).join_group(name, {.credit = 3}).value();
      while (left > 0) {
        const auto next = worker.next(20ms);
        ASSERT_TRUE(next) << next.error().what;
        if (!*next) continue;
        if (random() % 7 == 0) {
          ASSERT_TRUE(worker.reject(**next, "now and then"));
          continue;
        }
        {
          // Before it is acknowledged: from then on the next one of its aggregate may be another worker's.
          const std::lock_guard lock(mutex);
          done[(*next)->event.aggregate->text()].push_back((*next)->event.seq_nr.value);
          worked.insert(n);
        }
        ASSERT_TRUE(worker.acknowledge(**next));
        --left;
      }
    });
  }
  for (int i = 0; i < each; ++i) {
    for (int a = 0; a < aggregates; ++a) append(1 + static_cast<std::uint32_t>(a % 3), "order-" + std::to_string(a), 1);
  }
  for (auto& worker : workers) worker.join();
  EXPECT_THAT(done, SizeIs(aggregates));
  for (const auto& [aggregate, order] : done) {
    ASSERT_THAT(order, SizeIs(each)) << aggregate;
    for (int i = 0; i < each; ++i)
      EXPECT_EQ(order[static_cast<std::size_t>(i)], static_cast<std::uint64_t>(i + 1)) << aggregate;
  }
  EXPECT_GT(worked.size(), 1u);
  const auto info = on(1).group(name);
  ASSERT_TRUE(info);
  EXPECT_EQ(info->acknowledged, static_cast<std::uint64_t>(aggregates * each));
  EXPECT_EQ(info->expired, 0u);
}

// Who says nothing loses its share, though its node goes on asking for it; who leaves costs nobody an attempt.
TEST_F(ClusterGroupsTest, ASilentWorkerElsewhereIsLostAndOneThatLeavesIsNot) {
  const auto name = at_home_on(1);
  append(1, "order-1", 1);
  ASSERT_TRUE(on(1).create_group(
      defined(name, {.attempts_max = 5, .retry_first = 1ms, .retry_jitter_percent = 0, .lease = 10s})));
  auto silent = on(2).join_group(name).value();
  EXPECT_EQ(next_of(silent).attempt, 1u);
  auto other = on(3).join_group(name).value();
  auto taken = next_of(other);
  const auto attempt = taken.attempt;
  EXPECT_GE(attempt, 2u) << "its lease ran out";
  EXPECT_EQ(on(1).group(name)->expired, attempt - 1);
  other.leave();
  auto third = on(4).join_group(name).value();
  taken = next_of(third);
  EXPECT_EQ(taken.attempt, attempt) << "it left, and said so";
  ASSERT_TRUE(third.acknowledge(taken));
}

TEST_F(DurableClusterGroups, AHomeThatDiesIsAnotherSessionAndNothingIsLost) {
  const auto name = at_home_on(1);
  constexpr int aggregates = 5, each = 12;
  ASSERT_TRUE(on(2).create_group(defined(
      name, {.attempts_max = 1'000, .retry_first = 1ms, .retry_most = 10ms, .retry_jitter_percent = 0, .window = 20})));
  for (int a = 0; a < aggregates; ++a) append(2, "order-" + std::to_string(a), each);
  std::mutex mutex;
  std::set<std::uint64_t> acknowledged;  ///< and answered so
  std::map<std::string, std::uint64_t> highest;
  std::atomic<bool> over{false};
  std::vector<std::thread> workers;
  for (const std::uint32_t n : {2u, 3u}) {
    workers.emplace_back([&, n] {
      auto worker = on(n).join_group(name, {.credit = 2}).value();
      while (!over) {
        const auto next = worker.next(20ms);
        ASSERT_TRUE(next) << next.error().what;
        if (!*next) continue;
        const auto& event = (*next)->event;
        {
          const std::lock_guard lock(mutex);
          EXPECT_FALSE(acknowledged.contains(event.position.value))
              << event.position.value << " was acknowledged, and is given out again";
          auto& before = highest[event.aggregate->text()];
          EXPECT_LE(event.seq_nr.value, before + 1) << "one of " << event.aggregate->text() << " was passed over";
          before = std::max(before, event.seq_nr.value);
        }
        std::this_thread::sleep_for(1ms);
        if (!worker.acknowledge(**next)) continue;
        const std::lock_guard lock(mutex);
        acknowledged.insert(event.position.value);
      }
    });
  }
  const auto how_many = [&] {
    const std::lock_guard lock(mutex);
    return acknowledged.size();
  };
  eventually([&] { return how_many() >= 8; });
  crash(1);
  std::this_thread::sleep_for(50ms);
  restart(1);
  eventually([&] { return how_many() >= 30; });
  const auto so_far = on(2).group(name);
  ASSERT_TRUE(so_far) << so_far.error().what;
  EXPECT_EQ(so_far->trouble, "");
  crash(1);
  restart(1);
  // A settlement whose answer was lost with its home is in the group's state, and in nobody's hand.
  eventually([&] {
    const auto info = on(2).group(name);
    return info && info->acknowledged >= aggregates * each && info->unsettled == 0;
  });
  over = true;
  for (auto& worker : workers) worker.join();
  EXPECT_EQ(on(3).group(name)->acknowledged, static_cast<std::uint64_t>(aggregates * each))
      << "each once, in the state";
}

// A shard that goes to another node: its group is made, found and worked there.
TEST_F(ClusterGroupsTest, AGroupIsHostedWhereItsShardWentTo) {
  const auto name = at_home_on(1);
  append(2, "order-1", 4);
  const auto shard = cluster_.node(1).shard_of({"$group", name});
  cluster_.move(shard, 3);
  eventually([&] {
    return cluster_.wait_until_open() && home_of(name) == 3 && homes_.at(3)->is_home({"$group", name}) &&
           !homes_.at(1)->is_home({"$group", name});
  });
  ASSERT_TRUE(on(1).create_group(defined(name)));
  for (const std::uint32_t n : {1u, 2u, 3u, 4u}) {
    auto worker = on(n).join_group(name).value();
    ASSERT_TRUE(worker.acknowledge(next_of(worker)));
  }
  EXPECT_EQ(on(2).group(name)->acknowledged, 4u);
  EXPECT_THAT(groups_.at(3)->figures(), SizeIs(1));
  EXPECT_THAT(groups_.at(1)->figures(), IsEmpty());
}

TEST_F(ClusterGroupsTest, NamesThatNobodyWorksOnAreNotRemembered) {
  const auto name = at_home_on(1), dropped = at_home_on(1, 1);
  ASSERT_TRUE(on(1).create_group(defined(name)));
  ASSERT_TRUE(on(1).create_group(defined(dropped)));
  auto worker = on(2).join_group(name).value();
  {
    auto gone = on(2).join_group(dropped).value();
    ASSERT_TRUE(on(1).drop_group(dropped));
    EXPECT_EQ(gone.next(groups_patience).error().code, ErrorCode::not_found);
  }
  for (int i = 2; i < 20; ++i) EXPECT_EQ(on(2).join_group(at_home_on(1, i)).error().code, ErrorCode::not_found);
  EXPECT_LE(groups_.at(2)->known_elsewhere(), 2u) << "the one that is worked on, and the last";
  append(2, "order-1", 1);
  EXPECT_TRUE(worker.acknowledge(next_of(worker)));
}

TEST_F(ClusterGroupsTest, OneWorkersWordsAreNobodyElsesBurden) {
  const auto name = at_home_on(1);
  append(2, "order-1", 2);
  ASSERT_TRUE(on(1).create_group(defined(name)));
  auto worker = on(2).join_group(name).value();
  ASSERT_TRUE(worker.park(next_of(worker), std::string(9u << 20, 'x')));
  EXPECT_LT(network_.largest_asked(), 1u << 20);
  const auto no_text = worker.park(next_of(worker), "caf\xe9");
  EXPECT_TRUE(no_text) << no_text.error().what;
  const auto parked = on(2).parked_events(name, GlobalPosition{0}, 2).value();
  ASSERT_THAT(parked, SizeIs(2));
  EXPECT_EQ(parked[0].reason, std::string(500, 'x'));
  EXPECT_EQ(parked[1].reason, "(a reason that is no UTF-8)");
}

// That a call was too much at once is said of what was settled with it, and ends nobody's stay.
TEST_F(ClusterGroupsTest, ACallThatIsRefusedEndsNoSession) {
  for (const auto code : {ErrorCode::too_large, ErrorCode::overloaded}) {
    const auto name = at_home_on(1, static_cast<int>(code));
    append(2, "order-1", 1);
    ASSERT_TRUE(on(1).create_group(defined(name)));
    auto worker = on(2).join_group(name, {.name = "far"}).value();
    const auto delivery = next_of(worker);
    const auto stay = on(1).group(name)->workers.at(0).worker;
    const auto before = network_.refused();
    network_.refuse_calls_to(1, Error(code, "too much at once"));
    eventually([&] { return network_.refused() > before; });
    const auto refused = worker.acknowledge(delivery);
    network_.refuse_calls_to(1, {});
    EXPECT_EQ(refused.error().code, code == ErrorCode::too_large ? ErrorCode::timeout : code);
    EXPECT_TRUE(worker.acknowledge(delivery)) << "it is still its own";
    const auto info = on(1).group(name).value();
    ASSERT_THAT(info.workers, SizeIs(1));
    EXPECT_EQ(info.workers[0].worker, stay);
    EXPECT_EQ(info.acknowledged, 1u);
  }
}

// Another worker has settled it meanwhile, and what comes behind it.
TEST_F(ClusterGroupsTest, WhatArrivedElsewhereIsNotBegunWhenItsLeaseMayBeOver) {
  const auto name = at_home_on(1);
  constexpr auto lease = 3s;
  append(2, "order-1", 1);
  ASSERT_TRUE(on(1).create_group(
      defined(name, {.attempts_max = 100, .retry_first = 1ms, .retry_jitter_percent = 0, .lease = lease})));
  std::atomic<int> woken{0};
  auto session = on(2).open_session(name, {.name = "far", .credit = 1}, [&] { ++woken; }).value();
  eventually([&] { return woken > 0; });
  const auto before = network_.refused();
  network_.swallow_calls_to(1);
  ASSERT_TRUE(session->alive());
  eventually([&] { return network_.refused() > before; });
  std::this_thread::sleep_for(lease);  // nothing is heard of the home, for longer than what arrived is its own
  const auto taken = session->take(1);
  EXPECT_TRUE(!taken || taken->empty());
}

// Whoever was its home writes nothing more under the epoch it knew.
TEST_F(ClusterGroupsTest, AGroupsStateIsWrittenOnlyUnderItsEpoch) {
  const auto name = at_home_on(1);
  ASSERT_TRUE(on(1).create_group(defined(name)));
  const AggregateId aggregate{"$group", name};
  const auto epoch = homes_.at(1)->epoch(aggregate);
  ASSERT_TRUE(epoch);
  const Snapshot state{.aggregate = aggregate, .version = SeqNr{1}, .payload = "state", .keep = {}, .ttl = {}};
  EXPECT_EQ(cluster_.node(1).put_snapshot_here(state, *epoch + 1).error().code, ErrorCode::wrong_shard);
  EXPECT_FALSE(cluster_.node(2).put_snapshot_here(state, *epoch));
  EXPECT_TRUE(cluster_.node(1).put_snapshot_here(state, *epoch));
}

TEST_F(DurableClusterGroups, WhereItsHomeIsAwayThatIsSaidAndComesBack) {
  const auto name = at_home_on(1), other = at_home_on(2);
  ASSERT_TRUE(on(1).create_group(defined(name)));
  ASSERT_TRUE(on(1).create_group(defined(other)));
  auto worker = on(3).join_group(name).value();
  ASSERT_TRUE(cluster_.node(3).wait_for(cluster_.node(1).head().value(), groups_patience));
  crash(1);
  const auto at = std::chrono::steady_clock::now();
  const auto list = on(3).list_groups();  // definitions on the node that is away cannot be read
  EXPECT_TRUE(!list || list->size() == 2u);
  EXPECT_LT(std::chrono::steady_clock::now() - at, groups_patience);
  EXPECT_TRUE(on(3).group(other)) << "what has its home elsewhere goes on";
  restart(1);
  append(2, "order-1", 1);
  const auto one = next_of(worker);
  EXPECT_TRUE(worker.acknowledge(one));
}

}  // namespace
}  // namespace evershard::cluster
