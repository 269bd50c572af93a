#include "evershard/cli/server/cluster_flags.hpp"

#include <algorithm>
#include <limits>

#include "evershard/cluster/link/host_and_port.hpp"
#include "evershard/cluster/peers/asked_coordinator.hpp"
#include "evershard/doors/server/peer_settings.hpp"

namespace evershard::cli {
namespace {

Result<ClusterStatus> status_from_coordinator(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  const auto text = *arguments.text("coordinator");
  const auto places = cluster::hosts_and_ports(text);
  if (places.empty() || !std::ranges::all_of(places, cluster::can_be_reached))
    throw UsageError("--coordinator is \"" + text + "\", not HOST:PORT, or several with commas");
  server::PeerSettings peers;
  peers.cluster = *arguments.text("cluster");
  peers.secret_file = arguments.text("secret-file").value_or("");
  peers.certificate = arguments.text("peers-cert").value_or("");
  peers.key = arguments.text("peers-key").value_or("");
  peers.ca = arguments.text("peers-ca").value_or("");
  peers.unbound = arguments.has("peers-unbound-certs");
  peers.insecure = arguments.has("peers-insecure");
  auto link = server::link_options_of(peers, {});
  if (!link) return refuse(std::move(link).error());
  return cluster::status_of_coordinator(*std::move(link), places, server_timeout(arguments));
}

}  // namespace

Options cluster_options() { return store_options(); }

tl::expected<Remote, Failure> node_asked(const Invocation& invocation) {
  auto server = invocation.server();
  if (!server) {
    if (invocation.arguments.has("data"))
      return Failed(Failure(ErrorCode::invalid_argument, "a store in a directory is one process, it has no cluster",
                            "name a node that runs: --server HOST:PORT"));
    throw UsageError("which cluster?", "say --server HOST:PORT, the address of any node, or set EVERSHARD_SERVER");
  }
  auto node = Remote::connect(*std::move(server));
  if (!node) return Failed(Failure(std::move(node).error()));
  return std::move(*node);
}

Options status_options() {
  Options options = cluster_options();
  options
      .value("coordinator", "HOST:PORT,...",
             "ask the coordinator instead of a node, as where no node is left: all addresses, of which one leads; with "
             "--secret-file, or with the coordinator's certificate")
      .value("cluster", "NAME", "the cluster's name, for --coordinator", "evershard")
      .value("secret-file", "FILE", "the secret that the cluster's processes share, for --coordinator")
      .value("peers-cert", "FILE", "the coordinator's certificate, PEM, for --coordinator")
      .value("peers-key", "FILE", "its private key, PEM")
      .value("peers-ca", "FILE", "the CA of the cluster's certificates, PEM")
      .flag("peers-unbound-certs",
            "take certificates of the CA that do not name who they are for, as the setting of coordinators and nodes")
      .flag("peers-insecure", "ask a coordinator on another machine without TLS");
  return options;
}

tl::expected<ClusterStatus, Failure> status_asked(const Invocation& invocation) {
  if (invocation.arguments.has("coordinator")) {
    auto status = status_from_coordinator(invocation);
    if (!status && (status.error().code == ErrorCode::unavailable || status.error().code == ErrorCode::timeout))
      return Failed(Failure(std::move(status).error(),
                            "only the coordinator that leads answers, others take nobody in: name all of them"));
    if (!status) return Failed(Failure(std::move(status).error()));
    return *std::move(status);
  }
  auto node = node_asked(invocation);
  if (!node) return Failed(std::move(node).error());
  auto status = node->cluster_status();
  if (!status) return Failed(Failure(std::move(status).error()));
  return *std::move(status);
}

std::vector<ShardId> shards_in(const std::string& text) {
  std::vector<ShardId> shards;
  for (std::size_t from = 0; from <= text.size();) {
    const auto comma = std::min(text.find(',', from), text.size());
    const auto number = whole_number(std::string_view(text).substr(from, comma - from));
    if (!number || *number > std::numeric_limits<std::uint16_t>::max())
      throw UsageError("SHARDS is " + text, "such as 3, or 3,5,8");
    shards.push_back(ShardId{static_cast<std::uint16_t>(*number)});
    from = comma + 1;
  }
  return shards;
}

}  // namespace evershard::cli
