// A cluster whose cut log lies on etcd: its coordinator is killed with its directory, members of etcd die, and nothing
// that was acknowledged is lost; keys of subjects lie there too.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "tests/cluster/etcd/etcd_members.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/process/cluster_load.hpp"
#include "tests/process/cluster_processes.hpp"

namespace evershard {
namespace {

using testing::ClusterLoad;
using testing::ClusterProcesses;
using testing::EtcdMembers;
using ::testing::HasSubstr;
using ::testing::Not;

std::string address_of(const EtcdMembers& etcd) {
  std::string address = "etcd://";
  for (const auto& member : etcd.options().members) address += (address.ends_with('/') ? "" : ",") + member;
  return address + "/shop";
}

TEST(ClusterOnEtcd, NeedsNoDiskOfItsCoordinatorAndNoSingleMember) {
  const TemporaryFolder folder;
  EtcdMembers etcd(folder.path(), 3);
  ClusterProcesses::Options options;
  options.flags = [&](std::uint32_t number) {
    return number == ClusterProcesses::coordinator ? std::map<std::string, std::string>{{"--cut-log", address_of(etcd)}}
                                                   : std::map<std::string, std::string>{};
  };
  ClusterProcesses cluster(folder.path(), options);
  EXPECT_FALSE(std::filesystem::exists(cluster.data(ClusterProcesses::coordinator) / "db"));
  ClusterLoad load(cluster, 1);
  ASSERT_TRUE(load.goes_on());
  for (std::size_t member = 0; member < etcd.count(); ++member) {
    SCOPED_TRACE(member);
    etcd.kill(member);
    ASSERT_TRUE(load.goes_on());
    cluster.kill(ClusterProcesses::coordinator);
    std::filesystem::remove_all(cluster.data(ClusterProcesses::coordinator));
    cluster.launch(ClusterProcesses::coordinator);
    ASSERT_TRUE(cluster.wait_until_whole());
    ASSERT_TRUE(load.goes_on());
    etcd.start(member);
    ASSERT_TRUE(etcd.answers(member));
  }
  load.stop();
  load.check();
  cluster.stop_all();
}

/// Three nodes and two coordinators, whose cut log is on an etcd of three members.
class TwoCoordinatorsOnEtcd : public ::testing::Test {
 protected:
  TwoCoordinatorsOnEtcd() : etcd_(folder_.path(), 3), cluster_(folder_.path(), options()), load_(cluster_, 1) {}
  ClusterProcesses::Options options() {
    std::string address = "etcd://";
    for (const auto& member : etcd_.options().members) address += (address.ends_with('/') ? "" : ",") + member;
    ClusterProcesses::Options options;
    options.coordinators = 2;
    options.flags = [address](std::uint32_t number) {
      return ClusterProcesses::is_coordinator(number)
                 ? std::map<std::string, std::string>{{"--cut-log", address + "/shop"}}
                 : std::map<std::string, std::string>{};
    };
    return options;
  }
  [[nodiscard]] std::uint32_t leading() const { return cluster_.leading(cluster_.coordinators()); }
  [[nodiscard]] std::uint32_t other_than(std::uint32_t number) const {
    return cluster_.coordinators()[number == ClusterProcesses::coordinator ? 1 : 0];
  }
  /// How long nothing was acknowledged, from now on.
  [[nodiscard]] std::chrono::milliseconds pause() const {
    const auto began = std::chrono::steady_clock::now();
    EXPECT_TRUE(load_.goes_on(30));
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began);
  }
  void finish() {
    ASSERT_TRUE(load_.goes_on());
    load_.stop();
    load_.check();
    cluster_.stop_all();
  }

  const TemporaryFolder folder_;
  EtcdMembers etcd_;
  ClusterProcesses cluster_;
  ClusterLoad load_;
};

TEST_F(TwoCoordinatorsOnEtcd, OneTakesOverFromTheOtherThatIsKilled) {
  for (int round = 0; round < 4; ++round) {
    SCOPED_TRACE(round);
    const auto led = leading();
    const auto next = other_than(led);
    ASSERT_TRUE(cluster_.logs(next, "standing by"));
    cluster_.kill(led);
    std::filesystem::remove_all(cluster_.data(led));
    const auto took = pause();
    RecordProperty("pause_" + std::to_string(round) + "_ms", std::to_string(took.count()));
    EXPECT_LT(took, std::chrono::seconds(60));  // one, on a machine that does nothing else
    EXPECT_EQ(cluster_.leading({next}), next);
    cluster_.start(led);
    ASSERT_TRUE(cluster_.logs(led, "standing by"));
  }
  finish();
}

TEST_F(TwoCoordinatorsOnEtcd, OneThatWasFrozenStandsByWhenItIsThawed) {
  const auto led = leading();
  const auto next = other_than(led);
  ASSERT_TRUE(cluster_.logs(next, "standing by"));
  cluster_.signal(led, SIGSTOP);
  const auto took = pause();
  RecordProperty("pause_ms", std::to_string(took.count()));
  EXPECT_EQ(cluster_.leading({next}), next);
  cluster_.signal(led, SIGCONT);
  ASSERT_TRUE(cluster_.logs(led, "stepping down"));
  ASSERT_TRUE(cluster_.logs(led, "standing by"));
  ASSERT_TRUE(load_.goes_on());
  if (cluster_.log(next).find("stepping down") == std::string::npos) {  // else it stood still itself
    EXPECT_EQ(leading(), next);
  }
  // And it leads again when it is its turn.
  cluster_.stop(next);
  ASSERT_TRUE(load_.goes_on());
  EXPECT_EQ(cluster_.leading({led}), led);
  cluster_.start(next);
  finish();
}

TEST_F(TwoCoordinatorsOnEtcd, AreAskedForTheStatusWhereNoNodeIsLeft) {
  ASSERT_TRUE(load_.goes_on());
  load_.stop();
  load_.check();
  std::string all;
  for (const auto number : cluster_.coordinators()) all += (all.empty() ? "" : ",") + cluster_.address(number);
  const std::vector<std::string> asks{
      EVERSHARD_PROGRAM,          "cluster",   "status", "--coordinator", all, "--secret-file",
      cluster_.secret().string(), "--timeout", "40s"};  // without nodes they lead in turn, with rests between
  const auto with = [&](const std::string& node_state) {
    const auto status = testing::run(asks);
    EXPECT_EQ(status.status, 0) << status.err;
    EXPECT_THAT(status.out, HasSubstr("\"up\":" + node_state));
    EXPECT_THAT(status.out, HasSubstr("\"answered_by\":0"));
    EXPECT_THAT(status.out, HasSubstr("\"kind\":\"shard\",\"shard\":3"));
  };
  with("true");
  for (std::uint32_t node = 1; node <= cluster_.nodes(); ++node) cluster_.stop(node);
  with("false");
  const auto led = leading();
  cluster_.kill(led);
  with("false");
  auto log = asks;
  log[2] = "log";
  const auto happened = testing::run(log);
  EXPECT_EQ(happened.status, 0) << happened.err;
  EXPECT_THAT(happened.out, HasSubstr("\"cause\":\"leads\"")) << "the one that leads now begins anew";
  cluster_.stop(other_than(led));
  auto soon = asks;
  soon.back() = "2s";
  const auto nobody = testing::run(soon);
  EXPECT_EQ(nobody.status, 6) << nobody.out << nobody.err;
  EXPECT_THAT(nobody.err, HasSubstr("only the coordinator that leads answers"));
  EXPECT_THAT(nobody.err, HasSubstr("no coordinator answers at " + cluster_.address(ClusterProcesses::coordinator)));
  auto stranger = soon;
  stranger.insert(stranger.end(), {"--cluster", "another"});
  cluster_.start(led);
  ASSERT_EQ(cluster_.leading({led}), led);
  auto refused = testing::run(stranger);
  for (int tries = 0; tries != 20 && refused.err.find("the cluster id") == std::string::npos; ++tries)
    refused = testing::run(stranger);  // two seconds may not do
  EXPECT_NE(refused.status, 0);
  EXPECT_THAT(refused.err, HasSubstr("the cluster id"));
}

TEST_F(TwoCoordinatorsOnEtcd, GoOnByThemselvesWhenEtcdHadNoMajority) {
  etcd_.kill(0);
  etcd_.kill(1);
  std::this_thread::sleep_for(std::chrono::seconds(6));  // longer than a put waits: whoever led has stepped down
  for (const auto number : cluster_.coordinators()) EXPECT_GT(cluster_.pid(number), 0);
  etcd_.start(0);
  ASSERT_TRUE(load_.goes_on());
  etcd_.start(1);
  finish();
}

// EVERSHARD_ROUNDS and EVERSHARD_SEED steer it.
TEST_F(TwoCoordinatorsOnEtcd, LoseNothingWhicheverPartsAreKilledOrFrozen) {
  const auto seed = testing::seed_of_run();
  const int rounds = testing::rounds_or(3);
  SCOPED_TRACE("EVERSHARD_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto some_time = [&](std::uint64_t most) {
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % most));
  };
  for (int round = 0; round < rounds && !HasFatalFailure(); ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    ASSERT_TRUE(load_.goes_on());
    const bool freezes = random() % 3 == 0;
    // A coordinator, and now and then a node or a member of etcd with it.
    const auto coordinator = cluster_.coordinators()[random() % 2];
    const bool takes_node = random() % 2 == 0, takes_member = random() % 2 == 0;
    const auto node = static_cast<std::uint32_t>(1 + random() % cluster_.nodes());
    const auto member = random() % etcd_.count();
    some_time(300);
    if (freezes) {
      cluster_.signal(coordinator, SIGSTOP);
      if (takes_node) cluster_.signal(node, SIGSTOP);
      if (takes_member) etcd_.signal(member, SIGSTOP);
      some_time(4'000);
      if (takes_member) etcd_.signal(member, SIGCONT);
      if (takes_node) cluster_.signal(node, SIGCONT);
      cluster_.signal(coordinator, SIGCONT);
      continue;
    }
    cluster_.kill(coordinator);
    if (takes_member) etcd_.kill(member);
    some_time(300);
    if (takes_node) cluster_.kill(node);
    some_time(1'000);
    if (takes_member) etcd_.start(member);
    if (takes_node) cluster_.launch(node);
    cluster_.launch(coordinator);
    if (takes_node) cluster_.start(node);
    cluster_.start(coordinator);
  }
  ASSERT_TRUE(cluster_.wait_until_whole());
  finish();
}

void write_master_key(const std::filesystem::path& path, char digit) {
  std::ofstream(path) << std::string(64, digit) << '\n';
  std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

// Its keys lie where its cut log lies: a coordinator elsewhere needs the master key, and nothing of the first one's.
TEST(ClusterOnEtcd, KeepsKeysOfSubjectsWhereItsCutLogLies) {
  constexpr std::string_view street = "12 St James's Square";
  const TemporaryFolder folder;
  EtcdMembers etcd(folder.path(), 3);
  auto key_file = folder.path() / "key";
  write_master_key(key_file, '7');
  ClusterProcesses::Options options;
  options.nodes = 2;
  options.flags = [&](std::uint32_t number) {
    return number == ClusterProcesses::coordinator
               ? std::map<std::string, std::string>{{"--cut-log", address_of(etcd)}, {"--key-file", key_file.string()}}
               : std::map<std::string, std::string>{};
  };
  ClusterProcesses cluster(folder.path(), options);
  const auto append = [&](std::uint32_t node, const std::string& subject) {
    Event event;
    event.aggregate = AggregateId{"order", subject};
    event.type = "Placed";
    event.payload = street;
    event.format = PayloadFormat::text;
    event.subject = subject;
    const auto done = cluster.connect(node).append(Append{}.event(event));
    EXPECT_TRUE(done) << done.error().what;
    return done ? done->last_position : GlobalPosition{};
  };
  const auto ada = append(1, "ada"), bob = append(2, "bob");

  const auto elsewhere = [&] {
    cluster.kill(ClusterProcesses::coordinator);
    std::filesystem::remove_all(cluster.data(ClusterProcesses::coordinator));
  };
  elsewhere();
  etcd.kill(0);
  const auto copy = folder.path() / "copy-of-key";
  std::filesystem::rename(key_file, copy);
  write_master_key(key_file, '8');
  cluster.launch(ClusterProcesses::coordinator);
  const auto refused = cluster.wait(ClusterProcesses::coordinator);
  EXPECT_EQ(refused.status, 5) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("the master key is not the one"));
  key_file = copy;
  cluster.launch(ClusterProcesses::coordinator);
  ASSERT_TRUE(cluster.wait_until_whole());
  for (const std::uint32_t node : {1u, 2u}) {
    auto reader = cluster.connect(node);
    ASSERT_TRUE(reader.wait_for(std::max(ada, bob), std::chrono::seconds(60)));
    for (const auto position : {ada, bob}) {
      const auto event = reader.event_at(position);
      ASSERT_TRUE(event) << event.error().what;
      EXPECT_EQ(event->payload, street) << node;
    }
  }

  auto erased = cluster.connect(2).retention().erase_subject("ada", {});
  for (int tries = 0; tries != 20 && !erased && erased.error().code != ErrorCode::not_found; ++tries)
    erased = cluster.connect(2).retention().erase_subject("ada", {});
  ASSERT_TRUE(erased || erased.error().code == ErrorCode::not_found) << erased.error().what;
  elsewhere();
  etcd.start(0);
  ASSERT_TRUE(etcd.answers(0));
  cluster.launch(ClusterProcesses::coordinator);
  ASSERT_TRUE(cluster.wait_until_whole());
  for (const std::uint32_t node : {1u, 2u}) {
    auto reader = cluster.connect(node);
    const auto gone = reader.event_at(ada);
    ASSERT_TRUE(gone) << gone.error().what;
    EXPECT_EQ(gone->state, EventState::erased);
    EXPECT_EQ(gone->payload, "");
    EXPECT_EQ(reader.event_at(bob).value().payload, street);
  }
  const auto anew = append(1, "ada");
  EXPECT_EQ(cluster.connect(1).event_at(anew).value().payload, street) << "she begins with a new key";
  cluster.stop_all();
}

TEST(CoordinatorOnEtcd, LooksAtItsMasterKeyBeforeItConnects) {
  const TemporaryFolder folder;
  const auto in = [&](const std::string& name) { return (folder.path() / name).string(); };
  std::ofstream(in("secret")) << "a secret that is long enough for a link";
  std::filesystem::permissions(in("secret"), std::filesystem::perms::owner_read);
  const auto checked = [&] {
    return testing::run({EVERSHARD_PROGRAM, "coordinator", "--listen", "127.0.0.1:0", "--secret-file", in("secret"),
                         "--cut-log", "etcd://127.0.0.1:1", "--key-file", in("key"), "--check"});
  };
  const auto missing = checked();
  EXPECT_NE(missing.status, 0);
  EXPECT_THAT(missing.err, HasSubstr("is not there"));
  write_master_key(in("key"), '7');
  const auto taken = checked();
  EXPECT_EQ(taken.status, 0) << taken.err;
  EXPECT_THAT(taken.out, Not(HasSubstr("7777")));
  write_master_key(in("key"), 'x');
  const auto none = checked();
  EXPECT_EQ(none.status, 5);
  EXPECT_THAT(none.err, HasSubstr("openssl rand -hex 32"));
  write_master_key(in("key"), '7');
  std::filesystem::permissions(in("key"), std::filesystem::perms(0644));
  const auto open = checked();
  EXPECT_EQ(open.status, 5);
  EXPECT_THAT(open.err, HasSubstr("can be read or written by others"));
}

TEST(CoordinatorOnEtcd, RefusesWhatIsNoPlaceForItsLog) {
  const TemporaryFolder folder;
  const auto in = [&](const std::string& name) { return (folder.path() / name).string(); };
  std::ofstream(in("secret")) << "a secret that is long enough for a link";
  std::ofstream(in("password")) << "of-evershard\n";
  std::filesystem::permissions(in("secret"), std::filesystem::perms::owner_read);
  const auto ends = [&](std::vector<std::string> words) {
    const std::string program[] = {EVERSHARD_PROGRAM, "coordinator",   "--listen",
                                   "127.0.0.1:0",     "--secret-file", in("secret")};
    words.insert(words.begin(), std::begin(program), std::end(program));
    return testing::run(words);
  };
  const auto nowhere = ends({});
  EXPECT_EQ(nowhere.status, 5) << nowhere.err;
  EXPECT_THAT(nowhere.err, HasSubstr("nor is --cut-log"));
  const auto wrong = ends({"--cut-log", "etcd://h"});
  EXPECT_EQ(wrong.status, 5);
  EXPECT_THAT(wrong.err, HasSubstr("is no address of an etcd"));
  const auto half = ends({"--cut-log", "etcd://127.0.0.1:1", "--cut-log-user", "evershard"});
  EXPECT_EQ(half.status, 5);
  EXPECT_THAT(half.err, HasSubstr("go together"));
  std::filesystem::permissions(in("password"), std::filesystem::perms(0644));
  const auto open = ends(
      {"--cut-log", "etcd://127.0.0.1:1", "--cut-log-user", "evershard", "--cut-log-password-file", in("password")});
  EXPECT_EQ(open.status, 5);
  EXPECT_THAT(open.err, HasSubstr("can be read or written by others"));
  const auto away = ends({"--cut-log", "etcd://127.0.0.1:1"});
  EXPECT_EQ(away.status, 6) << away.err;
  EXPECT_THAT(away.err, HasSubstr("127.0.0.1:1"));
}

}  // namespace
}  // namespace evershard
