// Storage alone: stage and commit, with readers on the tail, while runs are sealed.

#include <atomic>
#include <thread>

#include "evershard/bench/in_turn.hpp"
#include "evershard/bench/parts.hpp"
#include "evershard/bench/storage_load.hpp"
#include "evershard/storage/index/reader.hpp"
#include "evershard/storage/open.hpp"

namespace evershard::bench {
namespace {

/// Reads a tag's last events again and again, as a decision model would: about a thousand times a second.
void read_beside(const storage::Store& store, const std::atomic<bool>& stop, std::uint64_t& reads, std::uint64_t seed) {
  const storage::Reader reader(store);
  Random random(seed);
  std::vector<GlobalPosition> found;
  while (!stop) {
    const auto view = store.view();
    auto cursor = reader.open(view, Query{}.tags({"student:" + std::to_string(random.below(100'000))}),
                              ReadOptions{.limit = 100});
    found.clear();
    if (!cursor->next_positions(100, found)) return;
    ++reads;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

Result<Figure> storage_alone(const BenchOptions& options, std::size_t appends, std::size_t events_each) {
  const auto directory = fresh(options, "storage");
  storage::StoreOptions store_options;
  store_options.data_dir = directory;
  store_options.shards = 16;
  auto store = storage::open_store(store_options);
  if (!store) return refuse(store.error());
  Workload workload(options.seed);
  StorageLoad load(**store, workload);
  std::atomic<bool> stop{false};
  std::uint64_t reads = 0;
  std::thread beside([&] { read_beside(**store, stop, reads, options.seed); });
  const double began = now_seconds(), cpu = cpu_seconds();
  Result<void> done{};
  while (done && now_seconds() - began < options.seconds) {
    load.pace();
    done = load.commit(appends, events_each);
  }
  const double took = now_seconds() - began;
  const double cpu_used = cpu_seconds() - cpu;
  stop = true;
  beside.join();
  EVERSHARD_TRY(done);
  Figure f{"storage alone, " + std::to_string(appends * events_each) + " events a commit",
           static_cast<double>(load.events()) / took, "events/s"};
  for (auto& p : percentiles(load.latencies)) f.more.push_back(p);
  f.more.emplace_back("cpu_us_per_event", cpu_used * 1e6 / static_cast<double>(load.events()));
  f.more.emplace_back("reads_beside", static_cast<double>(reads));
  f.more.emplace_back("runs_sealed", static_cast<double>((*store)->stats().sealed_runs));
  (*store)->close();
  return f;
}

Result<void> measure_storage(const BenchOptions& options, Report& report) {
  report.heading("Storage alone: stage and commit, synced, a reader on the tail");
  for (const std::size_t batch : {1, 64}) {
    EVERSHARD_TRY(add(options, report, storage_alone(options, batch, 1)));
  }
  return report_in_turn(options, report,
                        {{[&] { return plain_file(options, 512); }},
                         {[&] { return write_batch(options, 512); }},
                         {[&] { return storage_alone(options, 512, 1); }, {{0, 0.25}, {1, 4}}}});
}

}  // namespace evershard::bench
