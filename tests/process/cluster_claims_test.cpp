// More than one process claims what only one may have: shards, a node's number, the order. One of them goes on, the
// others are refused by name or fenced, and there is one history.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <filesystem>
#include <future>
#include <optional>
#include <random>
#include <thread>

#include "tests/contract/temporary_folder.hpp"
#include "tests/process/cluster_load.hpp"
#include "tests/process/reached.hpp"
#include "tests/process/stranger.hpp"

namespace evershard::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Clock = std::chrono::steady_clock;

constexpr auto the_coordinator = ClusterProcesses::coordinator;

/// The first event of the aggregate of this shard.
Append first_of(const ClusterProcesses& cluster, std::uint32_t shard, const std::string& payload) {
  const auto aggregate = cluster.aggregate_in(shard);
  Append append;
  append.request_id = EventId::random();
  return append.event(aggregate, "First", payload).expect(aggregate, Version::none());
}

std::vector<RecordedEvent> all_at(const ClusterProcesses& cluster, std::uint32_t node, GlobalPosition up_to) {
  auto store = cluster.connect(node);
  std::vector<RecordedEvent> events;
  auto stream = store.read(Query::all(), {.up_to = up_to, .at_least = up_to});
  for (const auto& event : stream) events.push_back(event);
  EXPECT_FALSE(stream.error()) << "node " << node << ": " << stream.error()->what;
  return events;
}

/// `assign`, by the command line, until it is done or was done before.
void assign_at_last(const std::vector<std::string>& assign, std::uint32_t to) {
  Finished done;
  const auto is_done = [&] {
    return done.status == 0 ||
           done.err.find("is of node " + std::to_string(to) + ", which is here and has it") != std::string::npos;
  };
  for (const auto until = Clock::now() + 60s; !is_done() && Clock::now() < until; std::this_thread::sleep_for(100ms))
    done = run(assign);
  EXPECT_TRUE(is_done()) << done.err;
}

// Whoever is killed while it is under way: the shards are somebody's afterwards, once, and who had them is fenced.
TEST(ClusterClaims, AnAssignmentWhileProcessesAreKilledIsMadeOnceOrNotAtAll) {
  const TemporaryFolder folder;
  ClusterProcesses cluster(folder.path());
  const int rounds = rounds_or(2);
  const auto seed = seed_of_run();
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  std::uint32_t from = 2, to = 3;
  const auto moving = shards_of(cluster, from);  // without an event until the last round: nothing is lost
  std::string named;
  for (const auto shard : moving) named += (named.empty() ? "" : ",") + std::to_string(shard);
  std::optional<ClusterLoad> load;
  for (int round = 0; round < rounds && !::testing::Test::HasFailure(); ++round, std::swap(from, to)) {
    cluster.kill(from);
    if (round + 1 == rounds) {
      load.emplace(cluster, seed);  // its clients wait for the shards
      load->ask(from, false);
    }
    const std::vector<std::string> assign{EVERSHARD_PROGRAM,  "cluster",  "assign",          named, "--to",
                                          std::to_string(to), "--server", cluster.address(1)};
    {
      Process assigning(assign);
      std::this_thread::sleep_for(std::chrono::milliseconds(random() % 60));
      const auto victim = std::array{the_coordinator, 1u, to}[random() % 3];
      cluster.kill(victim);
      cluster.launch(victim);
      cluster.start(victim);
      (void)assigning.wait(60s);
    }
    assign_at_last(assign, to);
    // The first one comes back, and does not take them again.
    cluster.start(from);
    EXPECT_TRUE(cluster.wait_until_whole());
    for (const auto shard : moving)
      EXPECT_TRUE(shards_of(cluster, to).contains(shard)) << "shard " << shard << " is not node " << to << "'s";
    cluster.kill(from);
    const auto reached = reach(cluster, 1, 60s, 20, moving);
    EXPECT_EQ(reached.answered, moving) << "who had them is needed no more";
    cluster.start(from);
    EXPECT_TRUE(cluster.wait_until_whole());
  }
  load->ask(2, true);
  load->ask(3, true);
  EXPECT_TRUE(load->goes_on());
  load->stop();
  load->check();
  cluster.stop_all();
}

// It cannot know that its shards are another's by now, and has a request in its hands.
TEST(ClusterClaims, AFrozenOwnerWhoseShardsWereGivenAwayWritesNothingMore) {
  const TemporaryFolder folder;
  ClusterProcesses cluster(folder.path());
  const auto moved = shards_of(cluster, 2);
  ASSERT_FALSE(moved.empty());
  auto at_owner = cluster.connect(2, 60s);
  ASSERT_FALSE(at_owner.append(probe(cluster, *moved.begin())));
  cluster.signal(2, SIGSTOP);
  std::vector<std::future<Result<Appended>>> held;
  for (const auto shard : moved)
    held.push_back(std::async(std::launch::async,
                              [&, append = first_of(cluster, shard, "held")] { return at_owner.append(append); }));

  give(cluster, moved, 3, 1);
  GlobalPosition last;
  for (const auto shard : moved) {
    const auto append = first_of(cluster, shard, "new owner");
    Result<Appended> done = refuse(ErrorCode::unavailable, "not tried");
    for (const auto until = Clock::now() + 60s; !done && Clock::now() < until; std::this_thread::sleep_for(20ms))
      done = cluster.connect(1).append(append);
    ASSERT_TRUE(done) << done.error().what;
    last = std::max(last, done->last_position);
  }

  cluster.signal(2, SIGCONT);
  for (auto& each : held) {
    const auto answer = each.get();
    ASSERT_FALSE(answer) << "two owners took the first event of one aggregate";
    EXPECT_THAT(answer.error().code, AnyOf(ErrorCode::version_conflict, ErrorCode::fenced, ErrorCode::unavailable,
                                           ErrorCode::wrong_shard, ErrorCode::timeout))
        << answer.error().what;
  }
  EXPECT_TRUE(cluster.wait_until_whole());
  EXPECT_THAT(shards_of(cluster, 2), IsEmpty());
  last = std::max(last, fill(cluster, 2));
  const auto log = all_at(cluster, 1, last);
  for (const auto& event : log) EXPECT_NE(event.payload, "held");
  EXPECT_EQ(log.size(), last.value);
  EXPECT_EQ(all_at(cluster, 2, last), log);
  EXPECT_EQ(all_at(cluster, 3, last), log);
  cluster.stop_all();
}

// A copy of a node's disk is as good as the disk, until one of the two has gone on.
TEST(ClusterClaims, TheSecondProcessOfANodeIsRefusedAndDoesNotTakeItsPlace) {
  const TemporaryFolder folder;
  ClusterProcesses cluster(folder.path());
  fill(cluster, 1);
  cluster.stop(2);
  const auto copy = folder.path() / "copy";
  fs::copy(cluster.data(2), copy, fs::copy_options::recursive);
  cluster.start(2);
  EXPECT_TRUE(cluster.wait_until_whole());
  const auto last = fill(cluster, 1);
  const auto own = shards_of(cluster, 2);
  const auto instead = [&](const std::string& number) {
    return std::map<std::string, std::string>{
        {"--node", number}, {"--listen", "127.0.0.1:0"}, {"--data", copy.string()}};
  };
  {
    Stranger other(cluster, 2, instead("7"));
    EXPECT_TRUE(other.says("is node 2's, not node 7's")) << other.said();
    EXPECT_NE(other.ended().status, 0);
  }
  {
    Stranger second(cluster, 2, instead("2"));
    EXPECT_TRUE(second.says("another process is connected as node 2")) << second.said();
    EXPECT_EQ(reach(cluster, 1, 60s).answered.size(), cluster.shards()) << "the first one goes on";
    // It is let in when the first one is gone, and has lost data.
    cluster.kill(2);
    EXPECT_TRUE(second.says("has lost data")) << second.said();
    const auto reached = reach_missing(cluster, 1, own);
    EXPECT_EQ(reached.missing, own);
    // Now the right one is the second.
    cluster.launch(2);
    EXPECT_TRUE(cluster.logs(2, "another process is connected as node 2")) << cluster.log(2);
  }
  cluster.start(2);
  EXPECT_TRUE(cluster.wait_until_whole());
  EXPECT_EQ(count_at(cluster, 3, last), last.value);
  EXPECT_GT(fill(cluster, 2), last);
  cluster.stop_all();
}

/// Two coordinators, each on a log of its own, of one cluster: node 3 is led from the one to the other.
class TwoCoordinators : public ::testing::Test {
 protected:
  TwoCoordinators() {
    ClusterProcesses::Options options;
    options.flags = [this](std::uint32_t number) {
      return number == 3 && !of_node_3_.empty() ? std::map<std::string, std::string>{{"--coordinator", of_node_3_}}
                                                : std::map<std::string, std::string>{};
    };
    cluster_.emplace(folder_.path(), options);
    fill(*cluster_, 1);
  }
  void copy_log() { fs::copy(cluster_->data(the_coordinator), copy(), fs::copy_options::recursive); }
  [[nodiscard]] std::string copy() const { return (folder_.path() / "copy").string(); }
  [[nodiscard]] Stranger second() {
    return {*cluster_, the_coordinator, {{"--listen", "127.0.0.1:0"}, {"--data", copy()}}};
  }
  void lead_node_3_to(const std::string& coordinator) { of_node_3_ = coordinator; }

  const TemporaryFolder folder_;
  std::string of_node_3_;
  std::optional<ClusterProcesses> cluster_;
};

TEST_F(TwoCoordinators, TheOneWithTheOlderLogEndsAndOrdersNothing) {
  cluster_->stop(the_coordinator);
  copy_log();
  cluster_->start(the_coordinator);
  EXPECT_TRUE(cluster_->wait_until_whole());
  const auto last = fill(*cluster_, 1);
  const auto own = shards_of(*cluster_, 3);
  const auto same = Stranger(*cluster_, the_coordinator, {{"--listen", "127.0.0.1:0"}}).ended();
  EXPECT_NE(same.status, 0) << "on the directory of the first";
  EXPECT_THAT(same.err, HasSubstr("is open already"));
  auto second = this->second();
  const auto address = second.address();
  ASSERT_FALSE(address.empty()) << second.said();
  cluster_->kill(3);
  lead_node_3_to(address);
  cluster_->launch(3);
  const auto ended = second.ended();
  EXPECT_NE(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("the log has lost its end"));
  EXPECT_EQ(reach_missing(*cluster_, 1, own).missing, own) << "the first one's others go on";
  cluster_->kill(3);
  lead_node_3_to("");
  cluster_->start(3);
  EXPECT_TRUE(cluster_->wait_until_whole());
  EXPECT_EQ(all_at(*cluster_, 3, last), all_at(*cluster_, 1, last));
  EXPECT_EQ(count_at(*cluster_, 2, last), last.value);
  EXPECT_GT(fill(*cluster_, 3), last);
  cluster_->stop_all();
}

// What nobody can prevent, where an operator starts two: the orders are never made one.
TEST_F(TwoCoordinators, WhoFollowedTheOtherOneDoesNotComeBack) {
  const auto own = shards_of(*cluster_, 3);
  cluster_->stop(3);
  cluster_->stop(the_coordinator);
  copy_log();
  cluster_->start(the_coordinator);
  std::set<std::uint32_t> others;
  for (std::uint32_t shard = 0; shard != cluster_->shards(); ++shard)
    if (!own.contains(shard)) others.insert(shard);
  EXPECT_EQ(reach(*cluster_, 1, 60s, 20, others).answered, others);
  GlobalPosition last;
  for (const auto shard : others) {
    const auto done =
        cluster_->connect(1).append(Append().event(cluster_->aggregate_in(shard), "Ordered", "by the first"));
    ASSERT_TRUE(done) << done.error().what;
    last = std::max(last, done->last_position);
  }

  auto second = this->second();
  lead_node_3_to(second.address());
  cluster_->start(3);
  EXPECT_EQ(reach(*cluster_, 3, 60s, 20, own).answered, own);
  for (const auto shard : own)
    EXPECT_TRUE(cluster_->connect(3).append(Append().event(cluster_->aggregate_in(shard), "Ordered", "by the second")));
  cluster_->stop(3);
  lead_node_3_to("");
  cluster_->start(3);
  EXPECT_TRUE(cluster_->logs(the_coordinator, "of different histories")) << cluster_->log(the_coordinator);
  EXPECT_TRUE(cluster_->logs(3, "of different histories")) << cluster_->log(3);

  for (const auto shard : others) {
    const auto done =
        cluster_->connect(2).append(Append().event(cluster_->aggregate_in(shard), "Ordered", "by the first"));
    ASSERT_TRUE(done) << done.error().what;
    last = std::max(last, done->last_position);
  }
  EXPECT_EQ(reach_missing(*cluster_, 2, own).missing, own);
  for (const std::uint32_t node : {1u, 2u}) {
    auto store = cluster_->connect(node);
    for (const auto shard : others) {
      auto stream = store.read(AggregateId::parse(cluster_->aggregate_in(shard)).value());
      for (const auto& event : stream) EXPECT_NE(event.payload, "by the second");
      EXPECT_FALSE(stream.error());
    }
  }
}

// Nodes of both answer whoever asks one of them alone. A client that knows nodes of both is answered by those of one:
// no two of its appends are given one position.
TEST_F(TwoCoordinators, AClientOfNodesOfBothIsAnsweredOutOfOneHistory) {
  const auto own = shards_of(*cluster_, 3);
  cluster_->stop(3);
  cluster_->stop(the_coordinator);
  copy_log();
  cluster_->start(the_coordinator);
  std::set<std::uint32_t> others;
  for (std::uint32_t shard = 0; shard != cluster_->shards(); ++shard)
    if (!own.contains(shard)) others.insert(shard);
  EXPECT_EQ(reach(*cluster_, 1, 60s, 20, others).answered, others);
  auto second = this->second();
  lead_node_3_to(second.address());
  cluster_->start(3);
  EXPECT_EQ(reach(*cluster_, 3, 60s, 20, own).answered, own);

  auto client =
      Remote::connect({.servers = {cluster_->door(1), cluster_->door(3)}, .timeout = 3s, .unavailable_timeout = 500ms})
          .value();
  std::map<GlobalPosition, std::string> given;
  std::size_t of_others = 0;
  for (int round = 0; round != 4; ++round) {
    for (std::uint32_t shard = 0; shard != cluster_->shards(); ++shard) {
      const auto name = cluster_->aggregate_in(shard) + ", round " + std::to_string(round);
      auto wanted = Append().event(cluster_->aggregate_in(shard), "Placed", name);
      wanted.request_id = EventId::random();
      auto done = client.append(wanted);
      for (const auto until = Clock::now() + 60s; !done && others.contains(shard) && Clock::now() < until;)
        done = client.append(wanted);
      if (!done) continue;
      of_others += others.contains(shard) ? 1 : 0;
      EXPECT_TRUE(given.emplace(done->first_position, name).second)
          << name << " and " << given[done->first_position] << " both at " << done->first_position.value;
    }
  }
  EXPECT_EQ(of_others, 4 * others.size()) << "it keeps to the history that answered it first";
  EXPECT_EQ(given.size(), of_others) << "and is given nothing of the other one";

  auto alone = cluster_->connect(3);
  EXPECT_TRUE(alone.append(Append().event(cluster_->aggregate_in(*own.begin()), "Placed", "alone")));
  cluster_->kill(3);  // a cut log that went its own way takes no node back
}

}  // namespace
}  // namespace evershard::testing
