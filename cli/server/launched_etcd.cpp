#include "evershard/cli/server/launched_etcd.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <utility>

#include "evershard/cluster/etcd/etcd_leader.hpp"
#include "evershard/cluster/link/reserved_port.hpp"

namespace evershard::cli {
namespace {

constexpr std::size_t members = 3;
constexpr std::chrono::seconds etcd_up_within{60};
constexpr const char* here = "127.0.0.1:";

/// Of each member: where clients come, and where the other members do.
using Ports = std::vector<std::pair<std::uint16_t, std::uint16_t>>;

std::filesystem::path etcd_program() {
  std::string_view path = std::getenv("PATH") == nullptr ? "/usr/bin" : std::getenv("PATH");
  while (!path.empty()) {
    const auto end = path.find(':');
    const auto file = std::filesystem::path(path.substr(0, end)) / "etcd";
    if (::access(file.c_str(), X_OK) == 0) return file;
    path = end == std::string_view::npos ? std::string_view() : path.substr(end + 1);
  }
  return {};
}

Result<Ports> ports_in(const std::filesystem::path& folder) {
  const auto file = folder / "ports";
  std::error_code error;
  if (!std::filesystem::exists(file, error)) {
    Ports ports;
    std::vector<cluster::ReservedPort> reserved;  // all at once, so that they differ
    for (std::size_t n = 0; n < 2 * members; ++n) {
      auto port = cluster::ReservedPort::open("127.0.0.1", 0);
      if (!port) return refuse(std::move(port).error());
      reserved.push_back(std::move(*port));
    }
    std::ofstream out(file);
    for (std::size_t n = 0; n < members; ++n) {
      ports.emplace_back(reserved[2 * n].port(), reserved[2 * n + 1].port());
      out << ports.back().first << ' ' << ports.back().second << '\n';
    }
    out.close();
    if (!out) return refuse(ErrorCode::io, "cannot write " + file.string());
    return ports;
  }
  std::ifstream in(file);
  Ports ports;
  for (std::uint16_t client = 0, peer = 0; in >> client >> peer;) ports.emplace_back(client, peer);
  if (ports.size() != members || !in.eof())
    return refuse(ErrorCode::corruption, file.string() + " does not name two ports of each of three members");
  return ports;
}

}  // namespace

Result<std::vector<WatchedProcess>> etcd_members_in(const std::filesystem::path& folder) {
  const auto program = etcd_program();
  if (program.empty())
    return refuse(
        ErrorCode::not_found,
        "etcd is not installed: Debian has it as etcd-server (without a service of its own: scripts/setup tests). "
        "Without it: --cut-log local, where the loss of the coordinator's directory stops the cluster");
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return refuse(ErrorCode::io, "cannot create " + folder.string() + ": " + error.message());
  const auto ports = ports_in(folder);
  if (!ports) return refuse(ports.error());
  std::string all;
  for (std::size_t n = 0; n < members; ++n)
    all += (n == 0 ? "m" : ",m") + std::to_string(n + 1) + "=http://" + here + std::to_string((*ports)[n].second);
  std::vector<WatchedProcess> made;
  for (std::size_t n = 0; n < members; ++n) {
    const auto number = std::to_string(n + 1);
    const auto client = std::string("http://") + here + std::to_string((*ports)[n].first),
               peer = std::string("http://") + here + std::to_string((*ports)[n].second);
    made.emplace_back("etcd " + number,
                      std::vector<std::string>{
                          "--name=m" + number,
                          "--data-dir=" + (folder / number).string(),
                          "--listen-client-urls=" + client,
                          "--advertise-client-urls=" + client,
                          "--listen-peer-urls=" + peer,
                          "--initial-advertise-peer-urls=" + peer,
                          "--initial-cluster=" + all,
                          "--initial-cluster-state=new",
                          // Short, for one machine: another member leads within a second.
                          "--heartbeat-interval=50",
                          "--election-timeout=500",
                          "--log-level=error",
                      },
                      folder / (number + ".log"), program);
  }
  return made;
}

Result<std::string> etcd_address_in(const std::filesystem::path& folder) {
  const auto ports = ports_in(folder);
  if (!ports) return refuse(ports.error());
  std::string address = "etcd://";
  for (std::size_t n = 0; n < members; ++n)
    address += (n == 0 ? "" : ",") + std::string(here) + std::to_string((*ports)[n].first);
  return address + "/evershard";
}

Result<void> wait_for_etcd(const std::string& address, const std::function<bool()>& go_on) {
  auto options = cluster::etcd_options_of(address);
  if (!options) return refuse(std::move(options).error());
  options->timeout = std::chrono::seconds(1);
  auto asked = cluster::EtcdLeader::open(*std::move(options));
  if (!asked) return refuse(std::move(asked).error());
  const auto until = std::chrono::steady_clock::now() + etcd_up_within;
  for (;;) {
    const auto answer = (*asked)->read();
    if (answer) return {};
    if (!go_on()) return refuse(ErrorCode::cancelled, "stopped before etcd answered");
    if (std::chrono::steady_clock::now() > until) return refuse(answer.error());
  }
}

}  // namespace evershard::cli
