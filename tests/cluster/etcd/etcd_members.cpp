#include "tests/cluster/etcd/etcd_members.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include <gtest/gtest.h>

#include "evershard/cluster/etcd/etcd_cut_log.hpp"

namespace evershard::testing {
namespace {

/// Ports that were free a moment ago.
std::vector<int> free_ports(std::size_t count) {
  std::vector<int> sockets, ports;
  for (std::size_t n = 0; n < count; ++n) {
    const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(made, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(::getsockname(made, reinterpret_cast<sockaddr*>(&address), &size), 0);
    sockets.push_back(made);
    ports.push_back(ntohs(address.sin_port));
  }
  for (const int made : sockets) ::close(made);
  return ports;
}

}  // namespace

EtcdMembers::EtcdMembers(std::filesystem::path folder, std::size_t count, std::optional<Papers> papers)
    : folder_(std::move(folder)), papers_(std::move(papers)) {
  const auto ports = free_ports(2 * count);
  for (std::size_t n = 0; n < count; ++n) {
    members_.push_back(
        {"127.0.0.1:" + std::to_string(ports[2 * n]), "127.0.0.1:" + std::to_string(ports[2 * n + 1]), nullptr});
  }
  for (std::size_t n = 0; n < count; ++n) start(n);
  for (std::size_t n = 0; n < count; ++n) EXPECT_TRUE(answers(n)) << "etcd's member " << n << " does not come up";
}

void EtcdMembers::start(std::size_t member) {
  std::string all;
  for (std::size_t n = 0; n < members_.size(); ++n)
    all += (n == 0 ? "" : ",") + std::string("m") + std::to_string(n) + "=http://" + members_[n].peer;
  auto& own = members_[member];
  const auto client = "http://" + own.client, peer = "http://" + own.peer;
  own.process = std::make_unique<Process>(std::vector<std::string>{"/usr/bin/etcd",
                                                                   "--name",
                                                                   "m" + std::to_string(member),
                                                                   "--data-dir",
                                                                   data(member).string(),
                                                                   "--listen-client-urls",
                                                                   client,
                                                                   "--advertise-client-urls",
                                                                   client,
                                                                   "--listen-peer-urls",
                                                                   peer,
                                                                   "--initial-advertise-peer-urls",
                                                                   peer,
                                                                   "--initial-cluster",
                                                                   all,
                                                                   "--initial-cluster-state",
                                                                   "new",
                                                                   "--heartbeat-interval",
                                                                   "50",
                                                                   "--election-timeout",
                                                                   "500",
                                                                   "--log-level",
                                                                   "error"});
}

void EtcdMembers::kill(std::size_t member) { members_[member].process.reset(); }
void EtcdMembers::signal(std::size_t member, int number) { members_[member].process->signal(number); }

std::filesystem::path EtcdMembers::data(std::size_t member) const {
  return folder_ / ("etcd-" + std::to_string(member));
}

bool EtcdMembers::answers(std::size_t member, std::chrono::milliseconds within) const {
  auto alone = options();
  alone.members = {members_[member].client};
  alone.timeout = within;
  // That there is no log under it takes an answer.
  alone.prefix = "nothing/";
  const auto opened = cluster::open_etcd_cut_log({.etcd = alone, .create = false});
  if (!opened && opened.error().code == ErrorCode::not_found) return true;
  ADD_FAILURE() << members_[member].client << ": " << (opened ? "there is a log" : opened.error().what) << "\n"
                << members_[member].process->errors();
  return false;
}

cluster::EtcdOptions EtcdMembers::options(std::size_t first) const {
  cluster::EtcdOptions options;
  for (std::size_t n = 0; n < members_.size(); ++n) options.members.push_back(members_[(first + n) % count()].client);
  return options;
}

}  // namespace evershard::testing
