#include "evershard/bench/cluster_load.hpp"

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "evershard/bench/drive.hpp"
#include "evershard/bench/workload.hpp"

namespace evershard::bench {

Result<void> load_events(const BenchOptions& options, const std::vector<EventStore*>& stores, std::uint64_t events) {
  std::atomic<std::int64_t> left{static_cast<std::int64_t>(events)};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::optional<Error> why;  // the first of them
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < stores.size(); ++i) {
    threads.emplace_back([&, i] {
      Workload workload(options.seed + i);
      while (left.fetch_sub(64 * 256) > 0 && !failed) {
        int appends = 0;
        (void)drive(
            *stores[i], 16, 1e9,
            [&] {
              auto append = workload.append(64);
              for (auto& event : append.events) event.aggregate = append.events.front().aggregate;
              ++appends;
              return append;
            },
            [&](const Result<Appended>& answer) {
              if (answer || failed.exchange(true)) return;
              const std::lock_guard lock(mutex);
              why = answer.error();
            },
            [&] { return appends == 256; });
      }
    });
  }
  for (auto& thread : threads) thread.join();
  if (why) return refuse(why->code, "the store could not be loaded: " + why->what);
  return {};
}

void read_every_tag(EventStore& store) {
  for (int tag = 0; tag != 1'000; ++tag) {
    auto stream = store.read(Query{}.tags({"course:" + std::to_string(tag)}));
    for (const auto& event : stream) static_cast<void>(event);
  }
}

Result<Figure> queried(const BenchOptions& options, EventStore& store, std::string name,
                       const std::function<double()>& cpu) {
  Workload workload(options.seed);
  Latencies latencies;
  std::uint64_t events = 0, failed = 0;
  read_every_tag(store);
  const double cpu_before = cpu(), began = now_seconds();
  while (now_seconds() - began < options.seconds) {
    const double sent = now_seconds();
    auto stream = store.read(Query{}.tags({"course:" + std::to_string(workload.random().below(1'000))}));
    for (const auto& event : stream) events += event.position.value != 0;
    failed += stream.error().has_value();
    latencies.add((now_seconds() - sent) * 1e6);
  }
  Figure f{std::move(name), static_cast<double>(events) / (now_seconds() - began), "events/s"};
  f.more = percentiles(latencies);
  if (events != 0) f.more.emplace_back("cpu_us_per_event", (cpu() - cpu_before) * 1e6 / static_cast<double>(events));
  if (failed != 0) f.more.emplace_back("failed", static_cast<double>(failed));
  return f;
}

}  // namespace evershard::bench
