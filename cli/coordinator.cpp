// `evershard coordinator`: who orders a cluster's events.

#include "evershard/cluster/peers/coordinator_links.hpp"

#include <atomic>
#include <thread>

#include "evershard/cli/commands.hpp"
#include "evershard/cli/peer_flags.hpp"
#include "evershard/cluster/server/stop_signals.hpp"
#include "evershard/cluster/serving/log.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/rocks_cut_log.hpp"

namespace evershard::cli {
namespace {

constexpr std::uint64_t shards_of_a_new_cluster = 16;
constexpr std::uint32_t cuts_held_max = 64;  ///< a millisecond each where nothing else is cut

Options coordinator_options() {
  Options options = data_options();
  options.value("listen", "HOST:PORT", "where nodes connect; port 0: a free one", "127.0.0.1:7430")
      .number("nodes", "N", "a new cluster's shards are given out once so many nodes are there", 1)
      .number("shards", "N", "of a new cluster: how many shards, for good", shards_of_a_new_cluster);
  add_peer_flags(options);
  return options;
}

Outcome run_coordinator(const Invocation& invocation) {
  const auto& arguments = invocation.arguments;
  const auto listen = host_and_port("listen", *arguments.text("listen"));
  const auto shards = arguments.number_at_least("shards", 1);
  const auto nodes = arguments.number_at_least("nodes", 1);

  const server::StopSignals signals;
  auto opened = serving::Log::open({});
  if (!opened) return Failed(Failure(std::move(opened).error()));
  serving::Log& log = **opened;
  storage::CutLogOptions log_options;
  log_options.data_dir = invocation.data_dir();
  log_options.shards = arguments.has("shards") ? static_cast<std::uint32_t>(shards) : 0;
  auto cuts = storage::open_cut_log(log_options);
  if (!cuts) return Failed(Failure(std::move(cuts).error()));

  cluster::CoordinatorLinksOptions links_options;
  cluster::LinkIdentity who;
  who.node = cluster::coordinator_on_links;
  who.role = cluster::NodeRole::coordinator;
  who.shards = (*cuts)->identity().shards;
  who.hash = sharding::hash_id;
  auto link = link_options(arguments, std::move(who));
  if (!link) return Failed(std::move(link).error());
  links_options.link = std::move(*link);
  links_options.listen_host = listen.host;
  links_options.listen_port = listen.port;
  links_options.identity = (*cuts)->identity();
  links_options.refused = [&log](const std::string& whom, const Error& why) { log.warning("link refused", {{"peer", whom}, {"error", why.what}}); };
  auto links = cluster::CoordinatorLinks::open(std::move(links_options));
  if (!links) return Failed(Failure(std::move(links).error()));

  cluster::CoordinatorHostOptions host_options;
  host_options.coordinator.nodes_expected = static_cast<std::uint32_t>(nodes);
  host_options.coordinator.ordering.cuts_held_max = cuts_held_max;
  host_options.warn = [&log](const Error& error) { log.warning("coordinator", {{"code", name_of(error.code)}, {"error", error.what}}); };
  auto host = cluster::CoordinatorHost::lead(**cuts, **links, std::move(host_options));
  if (!host) return Failed(Failure(std::move(host).error()));
  (*links)->attach(**host);
  const auto address = listen.host + ':' + std::to_string((*links)->port());
  log.info("leading", {{"address", address}, {"store", (*cuts)->identity().store.text()}, {"shards", (*cuts)->identity().shards}});
  invocation.out.write("ready " + address + '\n');
  invocation.out.flush();

  std::optional<Error> ended;
  while (!ended && signals.wait(std::chrono::milliseconds(200)) != server::Asked::stop) ended = (*host)->ended();
  (*links)->detach();
  host->reset();
  links->reset();
  log.info("stopped");
  if (ended) return Failed(Failure(std::move(*ended), "it has stepped down: nodes go on with whoever leads now"));
  return {};
}

}  // namespace

Command coordinator_command() {
  return {"coordinator", "server", "Runs the coordinator of a cluster until SIGTERM.", "evershard coordinator --data order --nodes 3 --secret-file secret",
          coordinator_options, run_coordinator};
}

}  // namespace evershard::cli
