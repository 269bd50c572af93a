// A cluster is copied while clients go on and a node is killed; what comes of it is compared, event by event, with what
// the cluster says itself, and is made a store of one process and clusters of other numbers of nodes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "tests/contract/temporary_folder.hpp"
#include "tests/process/cluster_load.hpp"

namespace evershard::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::chrono::seconds copy_deadline{180};

std::map<std::string, std::string> kept_by_three(std::uint32_t number) {
  if (number == ClusterProcesses::coordinator) return {{"--replicas", "3"}, {"--balance-after", "1s"}};
  return {};
}

class BackedUpCluster : public ::testing::Test {
 protected:
  [[nodiscard]] std::string in(const std::string& name) const { return (folder_.path() / name).string(); }
  static Finished command(std::vector<std::string> words) {
    words.insert(words.begin(), EVERSHARD_PROGRAM);
    return run(words);
  }
  static std::string doors(const ClusterProcesses& cluster) {
    std::string all;
    for (std::uint32_t n = 1; n <= cluster.nodes(); ++n) all += (all.empty() ? "" : ",") + cluster.door(n);
    return all;
  }
  static std::uint64_t up_to(const Finished& done) {
    const std::string key = "\"up_to\":";
    const auto at = done.out.find(key);
    return at == std::string::npos ? 0 : std::stoull(done.out.substr(at + key.size()));
  }
  /// All events that a store has up to there, as a program prints them.
  static std::string events(const std::vector<std::string>& store, std::uint64_t position) {
    std::vector<std::string> words{"read", "--up-to", std::to_string(position)};
    words.insert(words.end(), store.begin(), store.end());
    const auto shown = command(words);
    EXPECT_EQ(shown.status, 0) << shown.err;
    // The copy numbers what its shards have anew: what cuts refused is not there.
    return std::regex_replace(shown.out, std::regex("\"offset\":[0-9]+,"), "");
  }
  static void expect_same(const std::string& a, const std::string& b) {
    if (a == b) return;
    std::size_t at = 0;
    while (at < std::min(a.size(), b.size()) && a[at] == b[at]) ++at;
    const auto line = a.rfind('\n', at) == std::string::npos ? 0 : a.rfind('\n', at) + 1;
    ADD_FAILURE() << "they differ:\n" << a.substr(line, 600) << "\n" << b.substr(std::min(line, b.size()), 600);
  }
  /// Snapshots, a truncated and a removed history, a request whose answer is known, a group that has worked.
  void fill(Remote& client, const std::string& door) {
    asked_ = Append().event("order-first", "Placed", "once", {"t:1"}).event("order-second", "Placed", "once");
    asked_.request_id = EventId::random();
    const auto answered = client.append(asked_);
    ASSERT_TRUE(answered) << answered.error().what;
    answered_ = *answered;
    for (const char* aggregate : {"gone-1", "cut-1", "kept-1"})
      for (int i = 0; i != 20; ++i)
        ASSERT_TRUE(client.append(Append().event(aggregate, "Written", std::string(100, 'x'))));
    Snapshot snapshot;
    snapshot.aggregate = {"kept", "1"};
    snapshot.version = SeqNr{12};
    snapshot.payload = "as of twelve";
    ASSERT_TRUE(client.put_snapshot(snapshot));
    TruncateOptions options;
    options.uncovered = true;
    const auto truncated = client.retention().truncate_aggregate({"cut", "1"}, SeqNr{15}, options);
    ASSERT_TRUE(truncated) << truncated.error().what;
    const auto removed = client.retention().remove_aggregate({"gone", "1"}, {});
    ASSERT_TRUE(removed) << removed.error().what;
    const auto made = command({"group", "create", "mail", "--type", "Written", "--server", door});
    ASSERT_EQ(made.status, 0) << made.err;
    const auto worked = command({"group", "work", "mail", "--limit", "3", "--exec", "true", "--server", door});
    ASSERT_EQ(worked.status, 0) << worked.err;
  }
  /// What was there when it was copied.
  void check(Remote& client, const std::vector<std::string>& store) {
    const auto again = client.append(asked_);
    ASSERT_TRUE(again) << again.error().what;
    EXPECT_EQ(again->first_position, answered_.first_position);
    EXPECT_EQ(again->last_position, answered_.last_position);
    const auto snapshot = client.snapshot({"kept", "1"});
    ASSERT_TRUE(snapshot && *snapshot);
    EXPECT_EQ((*snapshot)->payload, "as of twelve");
    const auto gone = client.aggregate({"gone", "1"});
    EXPECT_TRUE(!gone || gone->version == SeqNr{0} || gone->version >= SeqNr{20});
    std::string states;
    for (const auto& event : client.read(AggregateId{"cut", "1"}))
      states += event.state == EventState::removed ? 'r' : 'l';
    EXPECT_EQ(states, std::string(14, 'r') + std::string(6, 'l'));
    std::vector<std::string> words{"group", "describe", "mail"};
    words.insert(words.end(), store.begin(), store.end());
    EXPECT_THAT(command(words).out, HasSubstr("\"acknowledged\":3"));
  }

  TemporaryFolder folder_;
  Append asked_;
  Appended answered_;
};

TEST_F(BackedUpCluster, IsOneStoreAndAnyClusterAsOfOnePosition) {
  std::uint64_t end = 0, earlier = 0;
  std::string store_of_then;
  {
    ClusterProcesses::Options options;
    options.nodes = 4;  // none of them keeps everything
    options.flags = kept_by_three;
    ClusterProcesses cluster(folder_.path() / "cluster", options);
    auto client = cluster.connect(1);
    fill(client, cluster.door(2));
    if (HasFatalFailure()) return;
    ClusterLoad load(cluster, seed_of_run(), 3);
    ASSERT_TRUE(load.goes_on(50));
    const auto acknowledged = client.head();
    ASSERT_TRUE(acknowledged);

    std::optional<Finished> copied;
    std::thread copying([&] { copied = command({"cluster", "backup", in("monday"), "--server", doors(cluster)}); });
    load.ask(2, false);
    cluster.kill(2);
    EXPECT_TRUE(load.goes_on(30));
    cluster.start(2);
    load.ask(2, true);
    copying.join();
    EXPECT_TRUE(load.goes_on(20));
    load.stop();
    ASSERT_EQ(copied->status, 0) << copied->err;
    end = up_to(*copied);
    EXPECT_GE(end, acknowledged->value);
    EXPECT_FALSE(std::filesystem::exists(in("monday.part")));

    store_of_then = events({"--server", cluster.door(1)}, end);
    expect_same(events({"--data", in("monday")}, end), store_of_then);
    EXPECT_EQ(command({"verify", "--data", in("monday")}).status, 0);

    // Earlier: behind the one append that was answered first.
    earlier = answered_.last_position.value;
    const auto cut_back = command({"cluster", "backup", in("earlier"), "--server", doors(cluster), "--truth-only",
                                   "--up-to", std::to_string(earlier)});
    ASSERT_EQ(cut_back.status, 0) << cut_back.err;
    EXPECT_EQ(up_to(cut_back), earlier);
    const auto in_part = command({"cluster", "backup", in("part"), "--server", doors(cluster), "--up-to",
                                  std::to_string(answered_.first_position.value)});
    EXPECT_EQ(in_part.status, 5) << in_part.err;
    EXPECT_THAT(in_part.err, HasSubstr("lies inside of the append"));
    const auto beyond = command({"cluster", "backup", in("part"), "--server", doors(cluster), "--up-to", "1000000000"});
    EXPECT_NE(beyond.status, 0);
    EXPECT_THAT(beyond.err, HasSubstr("ends with position"));
    EXPECT_FALSE(std::filesystem::exists(in("part")));
    EXPECT_FALSE(std::filesystem::exists(in("part.part")));
    // The order is lost, and of a node everything: what the others have is the whole store.
    for (const std::uint32_t n : {2u, 3u}) cluster.kill(n);
    for (const std::uint32_t n : {4u, 1u, ClusterProcesses::coordinator}) cluster.stop(n);
    std::filesystem::remove_all(cluster.data(3));
    std::vector<std::string> words{"cluster", "backup", in("stopped")};
    for (const std::uint32_t n : {4u, 1u, 2u}) words.insert(words.end(), {"--from", cluster.data(n).string()});
    const auto of_stopped = command(words);
    ASSERT_EQ(of_stopped.status, 0) << of_stopped.err;
    EXPECT_GE(up_to(of_stopped), end);
    expect_same(events({"--data", in("stopped")}, end), store_of_then);
    EXPECT_EQ(command({"verify", "--data", in("stopped")}).status, 0);
    const auto of_one = command({"cluster", "backup", in("part"), "--from", cluster.data(1).string()});
    EXPECT_EQ(of_one.status, 8) << of_one.err;
    EXPECT_THAT(of_one.err, HasSubstr("in none of them"));
    const auto both = command({"cluster", "backup", in("part"), "--from", cluster.data(1).string(), "--server", "h1"});
    EXPECT_NE(both.status, 0);
    EXPECT_THAT(both.err, HasSubstr("--server is for a cluster that runs"));
    const auto absent = command({"cluster", "backup", in("part"), "--from", cluster.data(3).string()});
    EXPECT_NE(absent.status, 0);
    EXPECT_THAT(absent.err, HasSubstr(cluster.data(3).string()));
    EXPECT_FALSE(std::filesystem::exists(in("part.part")));
  }

  const auto restored = command({"restore", in("earlier"), in("then")});
  ASSERT_EQ(restored.status, 0) << restored.err;
  expect_same(events({"--data", in("then")}, earlier),
              store_of_then.substr(0, events({"--data", in("then")}, earlier).size()));

  const std::string copy = in("monday");
  for (const auto& [nodes, replicas] : std::map<std::uint32_t, std::string>{{2, "1"}, {3, "3"}}) {
    const auto name = "again-" + std::to_string(nodes);
    const auto spread =
        command({"cluster", "restore", copy, in(name), "--nodes", std::to_string(nodes), "--replicas", replicas});
    ASSERT_EQ(spread.status, 0) << spread.err;
    EXPECT_EQ(up_to(spread), end);
    ClusterProcesses::Options options;
    options.nodes = nodes;
    options.flags = [replicas = replicas](std::uint32_t number) {
      return number == ClusterProcesses::coordinator ? std::map<std::string, std::string>{{"--replicas", replicas}}
                                                     : std::map<std::string, std::string>{};
    };
    ClusterProcesses again(folder_.path() / name, options);
    for (std::uint32_t n = 1; n <= nodes; ++n) expect_same(events({"--server", again.door(n)}, end), store_of_then);
    auto client = again.connect(nodes);
    check(client, {"--server", again.door(1)});
    const auto behind = client.append(Append().event("order-first", "Placed", "behind"));
    ASSERT_TRUE(behind) << behind.error().what;
    EXPECT_GT(behind->first_position.value, end);
    if (replicas != "1") {
      // A replica whose disk is lost is given all of it by the others, removals too.
      again.kill(1);
      std::filesystem::remove_all(again.data(1));
      again.start(1);
      ASSERT_TRUE(again.wait_until_whole());
      const auto whole = again.connect(1).wait_for(behind->last_position, copy_deadline);
      ASSERT_TRUE(whole) << whole.error().what;
      const auto other = events({"--server", again.door(2)}, behind->last_position.value);
      expect_same(events({"--server", again.door(1)}, behind->last_position.value), other);
    }
    again.stop_all();
    for (std::uint32_t n = 1; n <= nodes; ++n)
      EXPECT_EQ(command({"verify", "--data", again.data(n).string()}).status, 0);
  }
  Process server({EVERSHARD_PROGRAM, "serve", "--data", copy, "--listen", "127.0.0.1:0", "--http-listen", "none"});
  const auto door = server.ready();
  ASSERT_FALSE(door.empty()) << server.errors();
  auto client = Remote::connect({.server = door}).value();
  check(client, {"--server", door});
}

TEST_F(BackedUpCluster, LeavesNothingWhereItIsInterruptedOrRefused) {
  ClusterProcesses::Options options;
  options.nodes = 2;
  ClusterProcesses cluster(folder_.path() / "cluster", options);
  auto client = cluster.connect(1);
  for (int i = 0; i != 50; ++i)
    ASSERT_TRUE(client.append(Append().event("order-" + std::to_string(i), "Placed", std::string(1'000, 'x'))));

  // Without replicas nobody else has what node 2 keeps: it is waited for, and the wait is interrupted.
  cluster.signal(2, SIGSTOP);
  Process copying({EVERSHARD_PROGRAM, "cluster", "backup", in("monday"), "--server", cluster.door(1)});
  for (const auto until = std::chrono::steady_clock::now() + copy_deadline;
       !std::filesystem::exists(in("monday.part")) && std::chrono::steady_clock::now() < until;)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_TRUE(std::filesystem::exists(in("monday.part"))) << copying.errors();
  copying.signal(SIGINT);
  const auto stopped = copying.wait();
  EXPECT_NE(stopped.status, 0);
  EXPECT_FALSE(std::filesystem::exists(in("monday")));
  EXPECT_FALSE(std::filesystem::exists(in("monday.part")));
  cluster.signal(2, SIGCONT);

  const auto whole = command({"cluster", "backup", in("monday"), "--server", cluster.door(1)});
  ASSERT_EQ(whole.status, 0) << whole.err;
  EXPECT_THAT(whole.out, HasSubstr("\"node\":2"));
  const auto filled = command({"cluster", "backup", in("monday"), "--server", cluster.door(1)});
  EXPECT_NE(filled.status, 0);
  EXPECT_THAT(filled.err, HasSubstr("is not empty"));
  cluster.kill(2);
  const auto given_up = command({"cluster", "backup", in("tuesday"), "--server", cluster.door(1), "--patience", "1s"});
  EXPECT_NE(given_up.status, 0);
  EXPECT_THAT(given_up.err, HasSubstr("shards were given by no node"));
  EXPECT_FALSE(std::filesystem::exists(in("tuesday.part")));
  const auto no_nodes = command({"cluster", "restore", in("monday"), in("again")});
  EXPECT_THAT(no_nodes.err, HasSubstr("--nodes is needed"));
  cluster.start(2);
  cluster.stop_all();
}

}  // namespace
}  // namespace evershard::testing
