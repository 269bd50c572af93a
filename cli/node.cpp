// `evershard node`: a node of a cluster, which serves the whole store.

#include "evershard/cli/commands.hpp"
#include "evershard/cli/help.hpp"
#include "evershard/cli/peer_flags.hpp"
#include "evershard/cli/serve.hpp"
#include "evershard/cluster/server/doors.hpp"
#include "evershard/cluster/server/member_store.hpp"
#include "evershard/sharding/stream_hash.hpp"

namespace evershard::cli {
namespace {

Options node_options() {
  Options options = serve_options();
  options.value("node", "N", "which node this is, from 1; for good")
      .value("coordinator", "HOST:PORT", "where the coordinator listens")
      .value("peers-listen", "HOST:PORT", "where this node listens for the others; port 0: a free one", "127.0.0.1:0")
      .value("peers-address", "HOST:PORT", "where they reach it; else where it listens")
      .flag("skip-lost", "reads pass over events that an operator gave up with `cluster assign --accept-loss`, instead of being refused")
      .value("advertise", "HOST:PORT", "where clients are told to reach it; else its first --listen");
  add_peer_flags(options);
  return options;
}

Outcome run_node(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  if (arguments.has("check") || arguments.has("sample-config") || arguments.has("help-markdown")) return serve(invocation, server::all_doors());
  constexpr std::uint64_t node_max = 1'000'000;
  if (!arguments.has("node")) throw UsageError("--node is needed: the node's number, from 1, for good");
  const auto number = arguments.number_at_least("node", 1);
  if (number > node_max) throw UsageError("--node is " + std::to_string(number) + ": the most is " + std::to_string(node_max));
  const auto coordinator = host_and_port("coordinator", arguments.required("coordinator"));
  const auto listen = host_and_port("peers-listen", *arguments.text("peers-listen"));

  server::MemberOptions member;
  member.node = static_cast<std::uint32_t>(number);
  cluster::LinkIdentity who;
  who.node = cluster::on_links(member.node);
  who.role = cluster::NodeRole::node;
  auto shards = arguments.text("shards");
  who.shards = shards ? static_cast<std::uint32_t>(whole_number(*shards).value_or(0)) : 0;
  if (who.shards == 0) who.shards = 16;
  who.hash = sharding::hash_id;
  auto link = link_options(arguments, std::move(who));
  if (!link) return Failed(std::move(link).error());
  member.links.link = std::move(*link);
  member.links.listen_host = listen.host;
  member.links.listen_port = listen.port;
  member.links.coordinator_host = coordinator.host;
  member.links.coordinator_port = coordinator.port;
  member.address = arguments.text("peers-address").value_or("");
  if (auto door = arguments.text("advertise")) {
    (void)host_and_port("advertise", *door);
    member.door = std::move(*door);
  }
  member.version = version_number();
  member.skip_lost = arguments.has("skip-lost");
  return serve(invocation, server::all_doors(), server::open_member(std::move(member)));
}

}  // namespace

Command node_command() {
  return {"node", "server", "Runs a node of a cluster, and serves the whole store, until SIGTERM.",
          "evershard node --node 1 --data node-1 --coordinator 127.0.0.1:7430 --secret-file secret", node_options, run_node};
}

}  // namespace evershard::cli
