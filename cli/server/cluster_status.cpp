// `evershard cluster status`: a cluster's nodes and shards, and how far each is behind.

#include <algorithm>

#include "evershard/cli/command.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/server/cluster_flags.hpp"
#include "evershard/cli/store/store_info.hpp"
#include "evershard/cluster/link/host_and_port.hpp"
#include "evershard/cluster/peers/asked_coordinator.hpp"
#include "evershard/doors/server/peer_settings.hpp"
#include "evershard/store/json/cluster_json.hpp"

namespace evershard::cli {
namespace {

void print_lines(const Invocation& invocation, const ClusterStatus& status) {
  JsonText json;
  ListPrinter list(invocation, {});
  const auto line = [&](const auto& write) {
    json.clear();
    write();
    list.json(json.take());
  };
  line([&] { write_cluster(json, status); });
  for (const auto& node : status.nodes) line([&] { write_cluster_node(json, node); });
  for (std::size_t s = 0; s != status.shards.size(); ++s) line([&] { write_cluster_shard(json, status, s); });
  list.finish();
}

std::string number_or_dash(bool known, std::uint64_t number) { return known ? grouped(number) : "-"; }

void print_for_people(const Invocation& invocation, const ClusterStatus& status) {
  const bool known = status.trouble.empty();
  const JsonText none;
  Parts parts;
  if (status.self != 0)
    parts.emplace_back("asked at", "node " + std::to_string(status.self) + ", which has applied position " +
                                       grouped(status.applied.value));
  if (known) {
    parts.emplace_back("coordinator", "epoch " + grouped(status.coordinator.value) + ", last cut " +
                                          grouped(status.last_cut.value) + ", " + grouped(status.cuts_per_second) +
                                          " cuts/s");
    parts.emplace_back("watermark", grouped(status.watermark.value));
  } else {
    parts.emplace_back("coordinator", "cannot be asked: " + status.trouble);
    parts.emplace_back("", "below is what the node remembers");
  }
  print_one(invocation, none, parts);
  invocation.out.write("\n");
  {
    Table nodes(invocation.out, invocation.terminal,
                {{"NODE", true},
                 {"STATE"},
                 {"SINCE"},
                 {"DOOR"},
                 {"SHARDS", true},
                 {"CUTS BEHIND", true},
                 {"EVENTS", true},
                 {"MS", true},
                 {"VERSION"},
                 {"PEERS"}});
    for (const auto& node : status.nodes) {
      nodes.row({std::to_string(node.is.node), node.is.up ? (node.full ? "disk full" : "up") : "down",
                 node.is.since == Timestamp{} ? "-" : node.is.since.text().substr(0, 19) + 'Z', node.is.door,
                 node.is.gateway && node.shards == 0 ? "gateway" : std::to_string(node.shards),
                 number_or_dash(known, node.behind), number_or_dash(known, node.behind_events),
                 number_or_dash(known, node.behind_ms), node.is.version, node.is.address});
    }
  }
  for (const auto& node : status.nodes)
    if (node.learns != 0)
      invocation.out.write("node " + std::to_string(node.is.node) + " is given " + std::to_string(node.learns) +
                           " shards: " + grouped(node.learned_events) + " of " + grouped(node.learn_events) +
                           " events\n");
  invocation.out.write("\n");
  Table shards(invocation.out, invocation.terminal,
               {{"SHARD", true},
                {"NODE", true},
                {"REPLICAS"},
                {"STATE"},
                {"EPOCH", true},
                {"ORDERED", true},
                {"WAITING", true},
                {"LAST POSITION", true},
                {"WHY"}});
  for (std::size_t s = 0; s != status.shards.size(); ++s) {
    const auto& shard = status.shards[s];
    std::string replicas;
    for (const auto node : shard.replicas) replicas += (replicas.empty() ? "" : " ") + std::to_string(node);
    for (const auto node : shard.learners) replicas += " +" + std::to_string(node);
    shards.row({std::to_string(s), shard.node == 0 ? "-" : std::to_string(shard.node), replicas, state_of(status, s),
                grouped(shard.epoch.value), number_or_dash(known, shard.ordered.value - 1),
                number_or_dash(known, shard.durable > shard.ordered ? shard.durable - shard.ordered : 0),
                number_or_dash(known, shard.last_position.value), shard.trouble});
  }
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
      .flag("peers-insecure", "ask a coordinator on another machine without TLS");
  return options;
}

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
  peers.insecure = arguments.has("peers-insecure");
  auto link = server::link_options_of(peers, {});
  if (!link) return refuse(std::move(link).error());
  return cluster::status_of_coordinator(*std::move(link), places, server_timeout(arguments));
}

Outcome run_cluster_status(const Invocation& invocation) {
  if (invocation.arguments.has("coordinator")) {
    const auto status = status_from_coordinator(invocation);
    if (!status) return Failed(Failure(status.error()));
    invocation.for_people() ? print_for_people(invocation, *status) : print_lines(invocation, *status);
    return {};
  }
  auto node = node_asked(invocation);
  if (!node) return Failed(std::move(node).error());
  const auto status = node->cluster_status();
  if (!status) return Failed(Failure(status.error()));
  invocation.for_people() ? print_for_people(invocation, *status) : print_lines(invocation, *status);
  return {};
}

}  // namespace

Command cluster_status_command() {
  return {"cluster status",
          "server",
          "Shows a cluster's nodes and shards, and how far each is behind.",
          "evershard cluster status --server 127.0.0.1:7420",
          status_options,
          run_cluster_status};
}

}  // namespace evershard::cli
