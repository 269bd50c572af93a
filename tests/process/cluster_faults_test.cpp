// Faults of a cluster of processes, one after the other: what goes on, what is refused and with which words, and that
// everything joins again.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <thread>

#include "tests/contract/temporary_folder.hpp"
#include "tests/process/cluster_load.hpp"
#include "tests/process/reached.hpp"
#include "tests/process/small_disk.hpp"
#include "tests/process/stranger.hpp"

namespace evershard::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Clock = std::chrono::steady_clock;

TEST(ClusterFaults, AFrozenNodeKeepsNobodyElse) {
  const TemporaryFolder folder;
  ClusterProcesses cluster(folder.path());
  ClusterLoad load(cluster, 1);
  ASSERT_TRUE(load.goes_on());

  const auto of_2 = shards_of(cluster, 2);
  load.ask(2, false);
  cluster.signal(2, SIGSTOP);
  expect_named_in_time(cluster, 1, of_2);
  const auto reached = reach_missing(cluster, 1, of_2, 1s);
  const auto elsewhere = reach_missing(cluster, 3, of_2, 1s);
  EXPECT_EQ(reached.missing, of_2);
  EXPECT_TRUE(reached.silent.empty()) << "its silence is noticed";
  EXPECT_FALSE(reached.answered.empty()) << "others' appends go on";
  EXPECT_EQ(elsewhere.missing, reached.missing);
  auto store = cluster.connect(1, 5s);
  const auto all = error_of(store.read(Query::all()));
  ASSERT_TRUE(all);
  EXPECT_EQ(all->code, ErrorCode::unavailable) << all->what;
  EXPECT_THAT(all->what, HasSubstr("node 2, which has shard"));
  auto patient = cluster.connect(1);
  for (const auto shard : reached.answered) {
    const auto one = error_of(patient.read(AggregateId::parse(cluster.aggregate_in(shard)).value()));
    EXPECT_FALSE(one) << one->what;
  }

  cluster.signal(2, SIGCONT);
  load.ask(2, true);
  EXPECT_TRUE(cluster.wait_until_whole());
  EXPECT_TRUE(load.goes_on());
  load.stop();
  load.check();
  cluster.stop_all();
}

TEST(ClusterFaults, AFrozenCoordinatorKeepsNobodyFromReading) {
  const TemporaryFolder folder;
  ClusterProcesses cluster(folder.path());
  const auto last = fill(cluster, 1);
  ClusterLoad load(cluster, 2);
  ASSERT_TRUE(load.goes_on());

  cluster.signal(ClusterProcesses::coordinator, SIGSTOP);
  std::this_thread::sleep_for(3s);  // longer than a session without a word
  for (std::uint32_t n = 1; n <= cluster.nodes(); ++n) EXPECT_GE(count_at(cluster, n, last), last.value);
  const auto done = cluster.connect(1, 2s).append(Append()
                                                      .event(cluster.aggregate_in(0), "Probe", "frozen")
                                                      .expect(cluster.aggregate_in(0), Version::exactly(no_version)));
  EXPECT_FALSE(done);
  cluster.signal(ClusterProcesses::coordinator, SIGCONT);

  EXPECT_TRUE(cluster.wait_until_whole());
  EXPECT_TRUE(load.goes_on());
  load.stop();
  cluster.stop_all();
}

// What cannot be done without a process names it, and soon.
TEST(ClusterFaults, ErrorsNameTheProcessThatIsDown) {
  const TemporaryFolder folder;
  ClusterProcesses cluster(folder.path(), {.nodes = 2});
  auto store = Remote::connect({.server = cluster.door(1)}).value();
  const auto node_2 = shards_of(cluster, 2);
  ASSERT_FALSE(node_2.empty());
  const auto node_1 = shards_of(cluster, 1);

  cluster.stop(ClusterProcesses::coordinator);
  const auto unordered = store.append(Append().event(cluster.aggregate_in(*node_1.begin()), "Placed", "x"));
  ASSERT_FALSE(unordered);
  EXPECT_THAT(unordered.error().what, HasSubstr("no coordinator answers node 1"));
  cluster.start(ClusterProcesses::coordinator);
  EXPECT_TRUE(cluster.wait_until_whole());

  cluster.kill(2);
  std::optional<Error> refused;
  auto began = Clock::now();
  for (int n = 0; n != 64 && !refused; ++n) {
    began = Clock::now();  // those whose home is node 1 take what they take
    const auto created = store.projections().create_index(Query().types({"Type" + std::to_string(n)}));
    if (!created) refused = created.error();
  }
  ASSERT_TRUE(refused) << "none of them has its home on node 2";
  EXPECT_THAT(refused->what, HasSubstr("node 2"));
  EXPECT_LT(Clock::now() - began, 60s) << refused->what;
  cluster.start(2);
  EXPECT_TRUE(cluster.wait_until_whole());
  cluster.stop_all();
}

TEST(ClusterFaults, PartitionsAndSlowLinksLoseNothing) {
  const TemporaryFolder folder;
  ClusterProcesses::Options options;
  options.relays = true;
  ClusterProcesses cluster(folder.path(), options);
  ClusterLoad load(cluster, 3);
  ASSERT_TRUE(load.goes_on());

  // One node from the coordinator: long enough to be noticed, and for a moment.
  cluster.relay_to_coordinator(2).block();
  std::this_thread::sleep_for(3s);
  auto reached = reach(cluster, 1, 2s, 1);
  for (const auto until = Clock::now() + 60s; reached.answered.empty() && Clock::now() < until;)
    reached = reach(cluster, 1, 2s, 1);
  EXPECT_FALSE(reached.answered.empty()) << "others' appends go on";
  EXPECT_FALSE(reached.silent.empty()) << "without the coordinator nothing gets its place";
  cluster.relay_to_coordinator(2).let_through();
  EXPECT_TRUE(load.goes_on());
  cluster.relay_to_coordinator(3).block();
  std::this_thread::sleep_for(200ms);
  cluster.relay_to_coordinator(3).let_through();
  // The first node from the others, which the coordinator reaches all.
  cluster.relay_to_node(1).block();
  std::this_thread::sleep_for(3s);
  cluster.relay_to_node(1).let_through();
  EXPECT_TRUE(load.goes_on());
  // Connections that break, again and again; then slow ones.
  for (std::uint32_t i = 0; i < 6; ++i) {
    cluster.relay_to_coordinator(1 + i % 3).cut();
    cluster.relay_to_node(1 + i % 2).cut();
    EXPECT_TRUE(load.goes_on(5));
  }
  for (std::uint32_t n = 1; n <= cluster.nodes(); ++n) {
    cluster.relay_to_coordinator(n).delay(20ms);
    cluster.relay_to_node(n).delay(30ms);
  }
  EXPECT_TRUE(load.goes_on());
  for (std::uint32_t n = 1; n <= cluster.nodes(); ++n) {
    cluster.relay_to_coordinator(n).delay(0ms);
    cluster.relay_to_node(n).delay(0ms);
  }

  EXPECT_TRUE(cluster.wait_until_whole());
  load.stop();
  load.check();
  cluster.stop_all();
}

TEST(ClusterFaults, AFullDiskOfANodeRefusesAndGoesOn) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.path() / "node-2", 96);
  if (!disk.is_there()) GTEST_SKIP() << "this system lets nobody make a disk";
  ClusterProcesses::Options options;
  options.within = [&](std::uint32_t number) { return number == 2 ? disk.within() : std::vector<std::string>{}; };
  options.flags = [&](std::uint32_t number) {
    return number == 2 ? std::map<std::string, std::string>{{"--disk-reserve", "16MiB"}, {"--memtable", "4MiB"}}
                       : std::map<std::string, std::string>{};
  };
  ClusterProcesses cluster(folder.path(), options);
  ClusterLoad load(cluster, 4);
  ASSERT_TRUE(load.goes_on());

  disk.fill_up(8u << 20);
  auto store = cluster.connect(1, 5s);
  std::size_t refused = 0, decided = 0;
  for (const auto until = Clock::now() + 60s; refused == 0 && Clock::now() < until; std::this_thread::sleep_for(50ms)) {
    for (std::uint32_t shard = 0; shard != cluster.shards(); ++shard) {
      const auto done = store.append(probe(cluster, shard));
      ASSERT_FALSE(done);
      if (done.error().code == ErrorCode::version_conflict) ++decided;
      if (done.error().code == ErrorCode::unavailable &&
          done.error().what.find("node 2: the disk has") != std::string::npos)
        ++refused;
    }
  }
  EXPECT_GT(refused, 0u) << "the disk was never full";
  EXPECT_GT(decided, 0u) << "others' appends go on";
  const auto all = error_of(store.read(Query::all()));
  EXPECT_FALSE(all) << "reading goes on: " << all->what;

  disk.make_room();
  EXPECT_TRUE(cluster.wait_until_whole());
  EXPECT_TRUE(load.goes_on());
  load.stop();
  load.check();
  cluster.stop_all();
}

TEST(ClusterFaults, AFullDiskOfTheCoordinatorEndsItAndItGoesOnWhenThereIsRoom) {
  const TemporaryFolder folder;
  const SmallDisk disk(folder.path() / "coordinator", 64);
  if (!disk.is_there()) GTEST_SKIP() << "this system lets nobody make a disk";
  ClusterProcesses::Options options;
  options.within = [&](std::uint32_t number) {
    return number == ClusterProcesses::coordinator ? disk.within() : std::vector<std::string>{};
  };
  ClusterProcesses cluster(folder.path(), options);
  ClusterLoad load(cluster, 5);
  ASSERT_TRUE(load.goes_on());

  disk.fill_up(0);
  // It ends by itself once the file it writes to needs more: that takes a while.
  const bool whole = std::getenv("EVERSHARD_ROUNDS") != nullptr;
  if (!whole) cluster.kill(ClusterProcesses::coordinator), cluster.launch(ClusterProcesses::coordinator);
  const auto ended = cluster.wait(ClusterProcesses::coordinator, 300s);
  EXPECT_NE(ended.status, 0) << "a RocksDB with its assertions may abort, after it was said";
  EXPECT_THAT(ended.err, HasSubstr(whole ? "was not taken, this coordinator steps down"
                                         : "bytes left: to open the cut log takes"));
  disk.make_room();
  cluster.start(ClusterProcesses::coordinator);
  EXPECT_TRUE(cluster.wait_until_whole());
  EXPECT_TRUE(load.goes_on());
  load.stop();
  load.check();
  cluster.stop_all();
}

TEST(ClusterFaults, StrangersAndDoublesAreRefusedByName) {
  const TemporaryFolder folder;
  ClusterProcesses cluster(folder.path());
  const auto last = fill(cluster, 1);
  const auto fresh = [&](const std::string& name) { return (folder.path() / name).string(); };

  {  // on a disk that is in use
    Stranger node(cluster, 2, {{"--node", "8"}, {"--listen", "127.0.0.1:0"}});
    EXPECT_TRUE(node.says("is open already")) << node.said();
    EXPECT_NE(node.ended().status, 0);
    const auto leader = Stranger(cluster, ClusterProcesses::coordinator, {{"--listen", "127.0.0.1:0"}}).ended();
    EXPECT_NE(leader.status, 0);
    EXPECT_THAT(leader.err, HasSubstr("is open already"));
  }
  {  // with the number of a node that is there
    Stranger twice(cluster, 2, {{"--listen", "127.0.0.1:0"}, {"--data", fresh("twice")}});
    EXPECT_TRUE(twice.says("another process is connected as node 2")) << twice.said();
  }
  {  // with another secret, of another cluster, with other shards
    std::ofstream(fresh("other-secret")) << "another secret of more than sixteen bytes\n";
    fs::permissions(fresh("other-secret"), fs::perms::owner_read | fs::perms::owner_write);
    Stranger secret(cluster, 3,
                    {{"--node", "4"},
                     {"--listen", "127.0.0.1:0"},
                     {"--data", fresh("a")},
                     {"--secret-file", fresh("other-secret")}});
    EXPECT_TRUE(secret.says("link refused")) << secret.said();
    EXPECT_TRUE(secret.says("secret")) << secret.said();
    Stranger name(cluster, 3,
                  {{"--node", "5"}, {"--listen", "127.0.0.1:0"}, {"--data", fresh("b")}, {"--cluster", "another"}});
    EXPECT_TRUE(name.says("another")) << name.said();
    Stranger shards(cluster, 3,
                    {{"--node", "6"}, {"--listen", "127.0.0.1:0"}, {"--data", fresh("c")}, {"--shards", "9"}});
    EXPECT_TRUE(shards.says("shards")) << shards.said();
  }
  {  // on a port that is taken: before it is given anything
    const auto taken =
        Stranger(cluster, 3, {{"--node", "7"}, {"--listen", cluster.address(1)}, {"--data", fresh("d")}}).ended();
    EXPECT_NE(taken.status, 0);
    EXPECT_THAT(taken.err, HasSubstr("cannot listen"));
    EXPECT_THAT(cluster.log(ClusterProcesses::coordinator), ::testing::Not(HasSubstr("node 7")));
  }
  EXPECT_TRUE(reach_missing(cluster, 1, {}).missing.empty());
  EXPECT_EQ(count_at(cluster, 3, last), last.value);
  cluster.stop_all();
}

TEST(ClusterFaults, AnotherDiskIsRefusedAndTheRightOneGoesOn) {
  const TemporaryFolder folder;
  ClusterProcesses cluster(folder.path());
  const auto node = cluster.data(3), old = folder.path() / "old", right = folder.path() / "right";
  fill(cluster, 1);
  cluster.stop(3);
  fs::copy(node, old, fs::copy_options::recursive);
  cluster.start(3);
  auto last = fill(cluster, 1);
  cluster.stop(3);
  fs::rename(node, right);

  const auto is_refused = [&](const std::string& what) {
    SCOPED_TRACE(what);
    cluster.start(3);
    EXPECT_TRUE(cluster.logs(ClusterProcesses::coordinator, "of node 3 has lost data"))
        << cluster.log(ClusterProcesses::coordinator);
    EXPECT_TRUE(cluster.logs(3, "has lost data")) << cluster.log(3);
    for (int i = 0; i < 2; ++i) {
      const auto reached = reach(cluster, 1);
      EXPECT_FALSE(reached.answered.empty()) << "others go on";
      EXPECT_FALSE(reached.missing.empty());
      // It says so again, whatever it has heard in between.
      if (i == 0) cluster.kill(3), cluster.start(3);
    }
    cluster.stop(3);
    fs::remove_all(node);
  };
  fs::copy(old, node, fs::copy_options::recursive);
  is_refused("an old copy");
  is_refused("an empty disk");
  cluster.stop(2);
  fs::copy(cluster.data(2), node, fs::copy_options::recursive);
  cluster.start(2);
  cluster.launch(3);
  const auto another = cluster.wait(3);
  EXPECT_NE(another.status, 0);
  EXPECT_THAT(another.err, HasSubstr("is node 2's, not node 3's"));
  fs::remove_all(node);

  fs::rename(right, node);
  cluster.start(3);
  EXPECT_TRUE(cluster.wait_until_whole());
  EXPECT_EQ(count_at(cluster, 2, last), last.value);
  EXPECT_GT(fill(cluster, 3), last);
  cluster.stop_all();
}

TEST(ClusterFaults, AnOldLogOfTheCoordinatorIsRefusedAndTheRightOneGoesOn) {
  const TemporaryFolder folder;
  ClusterProcesses cluster(folder.path());
  const auto log = cluster.data(ClusterProcesses::coordinator), old = folder.path() / "old",
             right = folder.path() / "right";
  fill(cluster, 1);
  cluster.stop(ClusterProcesses::coordinator);
  fs::copy(log, old, fs::copy_options::recursive);
  cluster.start(ClusterProcesses::coordinator);
  const auto last = fill(cluster, 1);
  cluster.stop(ClusterProcesses::coordinator);
  fs::rename(log, right);
  fs::rename(old, log);

  cluster.start(ClusterProcesses::coordinator);
  const auto ended = cluster.wait(ClusterProcesses::coordinator, 120s);
  EXPECT_NE(ended.status, 0);
  EXPECT_THAT(ended.err, HasSubstr("the log has lost its end"));

  fs::remove_all(log);
  fs::rename(right, log);
  cluster.start(ClusterProcesses::coordinator);
  EXPECT_TRUE(cluster.wait_until_whole());
  EXPECT_EQ(count_at(cluster, 2, last), last.value);
  EXPECT_GT(fill(cluster, 3), last);
  cluster.stop_all();
}

}  // namespace
}  // namespace evershard::testing
