// `evershard cluster status`: a cluster's nodes and shards, and how far each is behind.

#include "evershard/cli/command.hpp"
#include "evershard/cli/print.hpp"
#include "evershard/cli/server/cluster_flags.hpp"
#include "evershard/cli/store/store_info.hpp"
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
  Parts parts{{"asked at", "node " + std::to_string(status.self) + ", which has applied position " +
                               grouped(status.applied.value)}};
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
                 {"VERSION"},
                 {"PEERS"}});
    for (const auto& node : status.nodes) {
      nodes.row({std::to_string(node.is.node), node.is.up ? "up" : "down",
                 node.is.since == Timestamp{} ? "-" : node.is.since.text().substr(0, 19) + 'Z', node.is.door,
                 node.is.gateway && node.shards == 0 ? "gateway" : std::to_string(node.shards),
                 number_or_dash(known, node.behind), node.is.version, node.is.address});
    }
  }
  invocation.out.write("\n");
  Table shards(invocation.out, invocation.terminal,
               {{"SHARD", true},
                {"NODE", true},
                {"STATE"},
                {"EPOCH", true},
                {"ORDERED", true},
                {"WAITING", true},
                {"LAST POSITION", true},
                {"WHY"}});
  for (std::size_t s = 0; s != status.shards.size(); ++s) {
    const auto& shard = status.shards[s];
    shards.row({std::to_string(s), shard.node == 0 ? "-" : std::to_string(shard.node), state_of(status, s),
                grouped(shard.epoch.value), number_or_dash(known, shard.ordered.value - 1),
                number_or_dash(known, shard.durable > shard.ordered ? shard.durable - shard.ordered : 0),
                number_or_dash(known, shard.last_position.value), shard.trouble});
  }
}

Outcome run_cluster_status(const Invocation& invocation) {
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
          cluster_options,
          run_cluster_status};
}

}  // namespace evershard::cli
