// A cluster whose cut log lies on etcd: its coordinator is killed with its directory, members of etcd die, and nothing
// that was acknowledged is lost.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>

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

TEST(ClusterOnEtcd, NeedsNoDiskOfItsCoordinatorAndNoSingleMember) {
  const TemporaryFolder folder;
  EtcdMembers etcd(folder.path(), 3);
  std::string address = "etcd://";
  for (const auto& member : etcd.options().members) address += (address.ends_with('/') ? "" : ",") + member;
  ClusterProcesses::Options options;
  options.flags = [&](std::uint32_t number) {
    return number == ClusterProcesses::coordinator
               ? std::map<std::string, std::string>{{"--cut-log", address + "/shop"}}
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
