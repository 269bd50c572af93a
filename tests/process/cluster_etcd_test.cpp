// A cluster whose cut log lies on etcd: its coordinator is killed with its directory, members of etcd die, and nothing
// that was acknowledged is lost.

#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>

#include "tests/cluster/etcd/etcd_members.hpp"
#include "tests/contract/temporary_folder.hpp"
#include "tests/process/cluster_load.hpp"
#include "tests/process/cluster_processes.hpp"

namespace evershard {
namespace {

using testing::ClusterLoad;
using testing::ClusterProcesses;
using testing::EtcdMembers;

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

}  // namespace
}  // namespace evershard
