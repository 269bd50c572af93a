// Clients that call for a time, a thread and a connection each, and what their calls took.

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/peers/peer_process.hpp"
#include "evershard/bench/report.hpp"
#include "evershard/bench/workload.hpp"

namespace evershard::bench {

struct Called {
  std::uint64_t calls = 0, events = 0;
  double seconds = 0, cpu = 0, client_cpu = 0;
  std::uint64_t syncs = 0;
  Latencies latencies;
};

/// Shape: `connect`: Result<std::unique_ptr<Client>>(); `call`: returns how many events it was about.
template <class Client>
Result<Called> called(const PeerProcess& process, const std::function<Result<std::unique_ptr<Client>>()>& connect,
                      std::size_t clients, double seconds, std::uint64_t seed, const Workload::Shape& shape,
                      const std::function<Result<std::uint64_t>(Client& client, Workload& workload)>& call) {
  std::vector<std::unique_ptr<Client>> connected;
  for (std::size_t c = 0; c != clients; ++c) {
    auto client = connect();
    if (!client) return refuse(std::move(client).error());
    connected.push_back(std::move(*client));
  }
  std::vector<Workload> workloads;
  for (std::size_t c = 0; c != clients; ++c) workloads.emplace_back(seed + c, shape);
  Called all;
  std::optional<Error> failed;
  std::mutex mutex;
  const auto cpu = process.cpu_seconds();
  const auto client_cpu = cpu_seconds();
  const auto syncs = process.syncs();
  const auto began = now_seconds();
  std::vector<std::thread> threads;
  for (std::size_t c = 0; c != clients; ++c)
    threads.emplace_back([&, c] {
      Called here;
      std::optional<Error> error;
      while (!error && now_seconds() - began < seconds) {
        const auto at = now_seconds();
        if (auto events = call(*connected[c], workloads[c]); events) {
          here.events += *events;
          ++here.calls;
          here.latencies.add((now_seconds() - at) * 1e6);
        } else {
          error = std::move(events).error();
        }
      }
      const std::lock_guard lock(mutex);
      all.calls += here.calls;
      all.events += here.events;
      all.latencies.add(here.latencies);
      if (error) failed = std::move(error);
    });
  for (auto& thread : threads) thread.join();
  if (failed) return refuse(*failed);
  all.seconds = now_seconds() - began;
  all.cpu = process.cpu_seconds() - cpu;
  all.client_cpu = cpu_seconds() - client_cpu;
  all.syncs = process.syncs() - syncs;
  return all;
}

inline Figure figure_of(const std::string& name, Called& all, bool appends) {
  Figure figure{name, static_cast<double>(all.events) / all.seconds, "events/s"};
  figure.more = percentiles(all.latencies);
  const auto events = static_cast<double>(std::max<std::uint64_t>(1, all.events));
  figure.more.emplace_back("server_cpu_us_per_event", all.cpu * 1e6 / events);
  figure.more.emplace_back("client_cpu_us_per_event", all.client_cpu * 1e6 / events);
  figure.more.emplace_back("events_per_call", events / static_cast<double>(std::max<std::uint64_t>(1, all.calls)));
  if (appends)
    figure.more.emplace_back(
        "calls_per_sync", static_cast<double>(all.calls) / static_cast<double>(std::max<std::uint64_t>(1, all.syncs)));
  return figure;
}

}  // namespace evershard::bench
