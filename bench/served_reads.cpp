// Reading through a door: a store with keys and a node that keeps all shards, held against one process without either,
// by processor time.

#include <functional>

#include "evershard/bench/cluster_load.hpp"
#include "evershard/bench/cluster_processes.hpp"
#include "evershard/bench/in_turn.hpp"

namespace evershard::bench {
namespace {

/// Reads until the time is over, and counts events.
using Reading = std::function<std::uint64_t(EventStore&, double until)>;

std::uint64_t everything(EventStore& store, double until) {
  std::uint64_t events = 0;
  while (now_seconds() < until) {
    auto stream = store.read(Query::all());
    for (const auto& event : stream) events += event.position.value != 0;
    if (stream.error()) return 0;
  }
  return events;
}

/// Events for each second of the server's processor time.
Result<Figure> read(const BenchOptions& options, ClusterProcesses& served, const Reading& reading, std::string name) {
  auto& store = *served.stores().front();
  const double before = served.node_cpu();
  const auto events = reading(store, now_seconds() + options.seconds);
  const double cpu = served.node_cpu() - before;
  if (events == 0 || cpu <= 0) return refuse(ErrorCode::io, "nothing was read of \"" + name + "\"");
  Figure f{std::move(name), static_cast<double>(events) / cpu, "events/s of the server's processor"};
  f.more.emplace_back("cpu_us_per_event", cpu * 1e6 / static_cast<double>(events));
  return f;
}

}  // namespace

Result<void> measure_served_reads(const BenchOptions& options, Report& report) {
  report.heading("Reading through a door: what keys and a cluster add where nothing is sealed, by processor time");
  auto single = ClusterProcesses::single(fresh(options, "single"), 1);
  if (!single) return refuse(std::move(single).error());
  auto with_keys = ClusterProcesses::single(fresh(options, "keys"), 1, ClusterProcesses::Keys::yes);
  if (!with_keys) return refuse(std::move(with_keys).error());
  auto node = ClusterProcesses::cluster(fresh(options, "node"), 1);
  if (!node) return refuse(std::move(node).error());
  const auto events = std::max<std::uint64_t>(20'000, options.events / 5);
  for (auto* served : {single->get(), with_keys->get(), node->get()}) {
    EVERSHARD_TRY(load_events(options, served->stores(), events));
    read_every_tag(*served->stores().front());
  }
  const Reading by_tag = [&](EventStore& store, double until) {
    Workload workload(options.seed);
    std::uint64_t found = 0;
    while (now_seconds() < until) {
      auto stream = store.read(Query{}.tags({"course:" + std::to_string(workload.random().below(1'000))}));
      for (const auto& event : stream) found += event.position.value != 0;
    }
    return found;
  };
  const std::pair<const char*, Reading> readings[] = {{"everything", everything}, {"tag of one in a thousand", by_tag}};
  for (const auto& [what, reading] : readings) {
    const auto of = [&](ClusterProcesses& served, const char* who) {
      return [&, who] { return read(options, served, reading, std::string(what) + ", " + who); };
    };
    EVERSHARD_TRY(report_in_turn(options, report,
                                 {{of(**single, "one process"), {}},
                                  {of(**with_keys, "with --keys"), {{0, 0.95}}},
                                  {of(**node, "a node that keeps all shards"), {{0, 0.95}}}}));
  }
  return {};
}

}  // namespace evershard::bench
