// What replicas cost: three nodes that each keep every shard, held against three that keep a part, in the same run.

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "evershard/bench/cluster_load.hpp"
#include "evershard/bench/cluster_processes.hpp"
#include "evershard/bench/drive.hpp"
#include "evershard/bench/in_turn.hpp"
#include "evershard/bench/launched_cluster.hpp"

namespace evershard::bench {
namespace {

constexpr std::uint32_t flights = 256;

struct Kind {
  std::uint32_t replicas;
  bool etcd;
  const char* name;
};
constexpr Kind alone{1, false, "3 nodes, 1 replica"}, three{3, false, "3 nodes, 3 replicas"},
    three_on_etcd{3, true, "3 nodes, 3 replicas, order on etcd"};

Result<std::unique_ptr<LaunchedCluster>> launched(const BenchOptions& options, const Kind& kind) {
  return LaunchedCluster::start(fresh(options, "launched"), {3, kind.replicas, kind.etcd});
}

/// Appends of one event, so many in flight over three clients, each of a node of its own.
Result<Figure> appended(const BenchOptions& options, const Kind& kind, std::uint32_t in_flight) {
  auto cluster = launched(options, kind);
  if (!cluster) return refuse(std::move(cluster).error());
  const auto& stores = (*cluster)->stores();
  const std::size_t clients = in_flight == 1 ? 1 : stores.size();
  std::vector<Outcome> outs(clients);
  const auto run = [&](double seconds) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i != clients; ++i) {
      threads.emplace_back([&, i] {
        Workload workload(options.seed + i + std::random_device{}());
        outs[i] = drive(*stores[i], std::max<std::uint32_t>(1, in_flight / static_cast<std::uint32_t>(clients)),
                        seconds, [&] {
                          Append append;
                          append.events.push_back(workload.event());
                          return append;
                        });
      });
    }
    for (auto& thread : threads) thread.join();
  };
  run(0.5);
  const char* const parts[] = {"node", "coordinator", "etcd"};
  double before[3];
  for (std::size_t p = 0; p != 3; ++p) before[p] = (*cluster)->cpu_seconds(parts[p]);
  run(options.seconds);
  double rate = 0, events = 0, failed = 0, all = 0;
  Latencies latencies;
  for (const auto& out : outs) {
    rate += static_cast<double>(out.events) / out.seconds;
    events += static_cast<double>(out.events);
    failed += static_cast<double>(out.failed + out.refused);
    latencies.add(out.latencies);
  }
  Figure f{std::string(kind.name) + ", " + std::to_string(in_flight) + " in flight of 1", rate, "events/s"};
  f.more = percentiles(latencies);
  for (std::size_t p = 0; p != 3; ++p) {
    const double us = ((*cluster)->cpu_seconds(parts[p]) - before[p]) * 1e6 / std::max(1.0, events);
    f.more.emplace_back(std::string("cpu_us_per_event_") + parts[p], us);
    all += us;
  }
  f.more.emplace_back("cpu_us_per_event", all);
  if (failed != 0) f.more.emplace_back("failed", failed);
  return f;
}

double of(const Figure& figure, const std::string& name) {
  const auto found = std::ranges::find(figure.more, name, &std::pair<std::string, double>::first);
  return found == figure.more.end() ? 0 : found->second;
}

/// At least 0.40 of the appends, at most 2.6 times the processor time of an event.
Result<void> cost(const BenchOptions& options, Report& report) {
  auto figures = in_turn(options, {{[&] { return appended(options, alone, flights); }, {}},
                                   {[&] { return appended(options, three, flights); }, {{0, 0.40}}},
                                   {[&] { return appended(options, three_on_etcd, flights); }, {{0, 0}}}});
  if (!figures) return refuse(std::move(figures).error());
  const double once = of(figures->front(), "cpu_us_per_event");
  for (auto& figure : *figures) {
    const double times = once > 0 ? of(figure, "cpu_us_per_event") / once : 0;
    figure.more.emplace_back("cpu_times_of_one_replica", times);
    if (&figure == &(*figures)[1]) {
      figure.target = "processor time of an event at most 2.6 times";
      figure.reached = times <= 2.6;
    }
    EVERSHARD_TRY(add(options, report, std::move(figure)));
  }
  return {};
}

/// One append after the other through one node's door.
Result<void> one_after_the_other(const BenchOptions& options, Report& report) {
  auto figures = in_turn(options, {{[&]() -> Result<Figure> {
                                      auto file = plain_file(options, 1);
                                      if (!file) return file;
                                      Figure f{"plain file, one event synced", file->more.front().second, "us"};
                                      f.more = file->more;
                                      return f;
                                    },
                                    {}},
                                   {[&] { return appended(options, three, 1); }, {}},
                                   {[&] { return appended(options, three_on_etcd, 1); }, {}}});
  if (!figures) return refuse(std::move(figures).error());
  const double sync = figures->front().value;
  for (std::size_t i = 1; i != figures->size(); ++i) {
    auto& figure = (*figures)[i];
    figure.value = of(figure, "p50_us");
    figure.unit = "us";
    figure.more.emplace_back("syncs", sync > 0 ? figure.value / sync : 0);
    if (i + 1 != figures->size()) continue;
    figure.target = "median at most 1.5 ms";
    figure.reached = figure.value <= 1'500;
  }
  for (auto& figure : *figures) EVERSHARD_TRY(add(options, report, std::move(figure)));
  return {};
}

Result<void> queries(const BenchOptions& options, Report& report) {
  auto single = ClusterProcesses::single(fresh(options, "single"), 3);
  if (!single) return refuse(std::move(single).error());
  auto cluster = launched(options, three);
  if (!cluster) return refuse(std::move(cluster).error());
  const auto events = std::max<std::uint64_t>(20'000, options.events / 5);
  EVERSHARD_TRY(load_events(options, (*single)->stores(), events));
  EVERSHARD_TRY(load_events(options, (*cluster)->stores(), events));
  const auto what = ", tag of one in a thousand of " + std::to_string(events);
  std::size_t turn = 0;
  return report_in_turn(
      options, report,
      {{[&] {
          return queried(options, *(*single)->stores()[0], "one server" + what, [&] { return (*single)->node_cpu(); });
        },
        {}},
       {[&] {
          const auto& stores = (*cluster)->stores();
          const auto number = turn++ % stores.size();
          return queried(options, *stores[number], "a node that keeps all shards" + what,
                         [&] { return (*cluster)->cpu_seconds("node " + std::to_string(number + 1)); });
        },
        {{0, 0.9}}}});
}

}  // namespace

Result<void> measure_replicas(const BenchOptions& options, Report& report) {
  report.heading("Replicas: `cluster launch` of three nodes, over the doors; all processes on this machine");
  EVERSHARD_TRY(cost(options, report));
  EVERSHARD_TRY(one_after_the_other(options, report));
  EVERSHARD_TRY(queries(options, report));
  return measure_replica_faults(options, report);
}

}  // namespace evershard::bench
