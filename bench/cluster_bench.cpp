// The cluster: nodes and a coordinator as processes on this machine, held against a server of one process in the same
// rounds.

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "evershard/bench/cluster_load.hpp"
#include "evershard/bench/cluster_processes.hpp"
#include "evershard/bench/drive.hpp"
#include "evershard/bench/in_turn.hpp"
#include "evershard/cluster/node/cluster_node.hpp"
#include "evershard/cluster/peers/node_links.hpp"
#include "evershard/sharding/stream_hash.hpp"
#include "evershard/storage/open.hpp"

namespace evershard::bench {

namespace {

constexpr std::uint32_t bench_nodes = 3;
constexpr std::uint32_t all_in_flight = 256;

enum class Sent : std::uint8_t { to_any, to_owner, conditional };

/// Appends of one event, so many in flight over all clients; what each process computes for an event.
Result<Figure> driven(const BenchOptions& options, ClusterProcesses& processes, Sent sent, std::string name) {
  const auto& stores = processes.stores();
  const auto clients = static_cast<std::uint32_t>(stores.size());
  std::vector<Outcome> outs(stores.size());
  std::atomic<std::uint64_t> head{0};
  const auto run = [&](double seconds) {
    std::vector<std::thread> threads;
    for (std::uint32_t i = 0; i < clients; ++i) {
      threads.emplace_back([&, i] {
        Workload workload(options.seed + i + std::random_device{}());
        const auto make = [&] {
          Append append;
          append.events.push_back(sent == Sent::to_any ? workload.event()
                                                       : ClusterProcesses::event_on(workload, i + 1, clients));
          if (sent == Sent::conditional)
            append.fail_if(
                Query{}.types({"Blocked"}).tags({"student:" + std::to_string(workload.random().below(100'000))}),
                GlobalPosition{head.load(std::memory_order_relaxed)});
          return append;
        };
        outs[i] = drive(*stores[i], all_in_flight / clients + (i < all_in_flight % clients), seconds, make,
                        [&](const Result<Appended>& answer) {
                          if (answer && answer->last_position.value > head.load(std::memory_order_relaxed))
                            head = answer->last_position.value;
                        });
      });
    }
    for (auto& thread : threads) thread.join();
  };
  run(0.5);
  const double nodes_before = processes.node_cpu(), coordinator_before = processes.coordinator_cpu(),
               client_before = cpu_seconds();
  run(options.seconds);
  double rate = 0, events = 0, failed = 0;
  Latencies latencies;
  for (const auto& out : outs) {
    rate += static_cast<double>(out.events) / out.seconds;
    events += static_cast<double>(out.events);
    failed += static_cast<double>(out.failed + out.refused);
    latencies.add(out.latencies);
  }
  Figure f{std::move(name), rate, "events/s"};
  f.more = percentiles(latencies);
  const auto each = [&](double now, double before) { return (now - before) * 1e6 / std::max(1.0, events); };
  f.more.emplace_back("cpu_us_per_event_servers", each(processes.node_cpu(), nodes_before));
  f.more.emplace_back("cpu_us_per_event_coordinator", each(processes.coordinator_cpu(), coordinator_before));
  f.more.emplace_back("cpu_us_per_event_client", each(cpu_seconds(), client_before));
  if (failed != 0) f.more.emplace_back("failed", failed);
  return f;
}

Result<Figure> single_driven(const BenchOptions& options) {
  auto single = ClusterProcesses::single(fresh(options, "single"), bench_nodes);
  if (!single) return refuse(std::move(single).error());
  return driven(options, **single, Sent::to_any, "one server, 256 in flight of 1");
}

Result<Figure> cluster_driven(const BenchOptions& options, Sent sent) {
  auto cluster = ClusterProcesses::cluster(fresh(options, "cluster"), bench_nodes);
  if (!cluster) return refuse(std::move(cluster).error());
  const char* how = sent == Sent::to_any     ? ", to any node"
                    : sent == Sent::to_owner ? ", to the shard's node"
                                             : ", to the shard's node, condition with a recent after";
  return driven(options, **cluster, sent, std::string("3 nodes and a coordinator, 256 in flight of 1") + how);
}

/// A node in this process, all shards its own; the coordinator a process.
Result<Figure> one_ordered(const BenchOptions& options) {
  using namespace cluster;
  const auto folder = fresh(options, "ordered");
  auto processes = ClusterProcesses::coordinator_alone(folder);
  if (!processes) return refuse(std::move(processes).error());
  const auto& at = (*processes)->coordinator_address();
  NodeLinksOptions links_options;
  links_options.link.who = {"bench", cluster_shards, sharding::hash_id, on_links(1), NodeRole::node, 0};
  auto secret = secret_of_file(folder / "secret");
  if (!secret) return refuse(std::move(secret).error());
  links_options.link.secret = *secret;
  links_options.coordinators = hosts_and_ports(at);
  auto links = NodeLinks::open(links_options);
  if (!links) return refuse(std::move(links).error());
  const auto identity = (*links)->identity(std::chrono::seconds(30));
  if (!identity) return refuse(identity.error());
  storage::StoreOptions store_options;
  store_options.data_dir = folder / "node";
  store_options.shards = identity->shards;
  store_options.member =
      storage::ClusterMember{1, identity->store, identity->fork, identity->term_key, identity->created_at};
  auto store = storage::open_node_store(store_options);
  if (!store) return refuse(std::move(store).error());
  ClusterNodeOptions node_options;
  node_options.committer.self = {1, std::random_device{}() | 1u};
  node_options.committer.address = "127.0.0.1:" + std::to_string((*links)->port());
  auto node = std::make_unique<ClusterNode>(**store, **links, node_options);
  (*links)->attach(*node);
  Workload workload(options.seed);
  Result<Appended> first = refuse(ErrorCode::unavailable, "not tried");
  for (int tries = 0; tries != 600 && !first; ++tries) {
    first = node->append(workload.append(1));
    if (!first) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  Outcome out;
  const double coordinator_before = (*processes)->coordinator_cpu();
  if (first) out = drive(*node, 1, options.seconds, [&] { return workload.append(1); });
  const double coordinator_cpu = (*processes)->coordinator_cpu() - coordinator_before;
  (*links)->detach();
  node->committer().stop();
  links->reset();
  node.reset();
  if (!first) return refuse(std::move(first).error());
  Figure f{"a node here and a coordinator, 1 in flight of 1, ordered", out.latencies.percentile(0.5), "us"};
  f.more = percentiles(out.latencies);
  const auto each = 1e6 / static_cast<double>(std::max<std::uint64_t>(1, out.events));
  f.more.emplace_back("cpu_us_per_event", out.cpu * each);
  f.more.emplace_back("cpu_us_per_event_coordinator", coordinator_cpu * each);
  return f;
}

Result<Figure> one_sync(const BenchOptions& options) {
  auto file = plain_file(options, 1);
  if (!file) return file;
  Figure f{"plain file, one event synced", file->more.front().second, "us"};
  f.more = file->more;
  return f;
}

/// At most two syncs and two hops.
Result<void> latency_of_one(const BenchOptions& options, Report& report) {
  auto figures =
      in_turn(options, {{[&] { return one_sync(options); }, {}}, {[&] { return one_ordered(options); }, {{0, 0, 0}}}});
  if (!figures) return refuse(std::move(figures).error());
  auto& ordered = figures->back();
  const double over = ordered.value - 2 * figures->front().value;
  ordered.more.emplace_back("us_over_two_syncs", over);
  ordered.target = "median at most two syncs plus 500 us";
  ordered.reached = over <= 500;
  for (auto& figure : *figures) EVERSHARD_TRY(add(options, report, std::move(figure)));
  return {};
}

Result<void> tag_queries(const BenchOptions& options, Report& report) {
  auto single = ClusterProcesses::single(fresh(options, "single"), bench_nodes);
  if (!single) return refuse(std::move(single).error());
  auto cluster = ClusterProcesses::cluster(fresh(options, "cluster"), bench_nodes);
  if (!cluster) return refuse(std::move(cluster).error());
  const auto events = std::max<std::uint64_t>(20'000, options.events / 5);
  EVERSHARD_TRY(load_events(options, (*single)->stores(), events));
  EVERSHARD_TRY(load_events(options, (*cluster)->stores(), events));
  const auto of = ", tag of one in a thousand of " + std::to_string(events);
  std::size_t turn = 0;
  return report_in_turn(options, report,
                        {{[&] {
                            return queried(options, *(*single)->stores()[0], "one server" + of,
                                           [&] { return (*single)->node_cpu(); });
                          },
                          {}},
                         {[&] {
                            return queried(options, *(*cluster)->stores()[turn++ % bench_nodes],
                                           "3 nodes, from any" + of, [&] { return (*cluster)->node_cpu(); });
                          },
                          {{0, 0.5}}}});
}

}  // namespace

Result<void> measure_cluster(const BenchOptions& options, Report& report) {
  report.heading("The cluster: nodes, coordinator, server and clients are processes of this machine, over the doors");
  EVERSHARD_TRY(report_in_turn(options, report,
                               {{[&] { return single_driven(options); }, {}},
                                {[&] { return cluster_driven(options, Sent::to_any); }, {{0, 0.35}}},
                                {[&] { return cluster_driven(options, Sent::to_owner); }, {{0, 0.35}}},
                                {[&] { return cluster_driven(options, Sent::conditional); }, {{2, 1 / 1.15}}}}));
  EVERSHARD_TRY(latency_of_one(options, report));
  EVERSHARD_TRY(tag_queries(options, report));
  return measure_cluster_faults(options, report);
}

}  // namespace evershard::bench
