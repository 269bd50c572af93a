// Storage alone: stage and commit, with readers on the tail, while runs are sealed.

#include <atomic>
#include <thread>

#include "evershard/storage/open.hpp"
#include "evershard/storage/reader.hpp"
#include "parts.hpp"
#include "storage_load.hpp"

namespace evershard::bench {
namespace {

/// Reads a tag's last events again and again, as a decision model would: about a thousand times a second.
void read_beside(const storage::Store& store, const std::atomic<bool>& stop, std::uint64_t& reads, std::uint64_t seed) {
  const storage::Reader reader(store);
  Random random(seed);
  std::vector<GlobalPosition> found;
  while (!stop) {
    const auto view = store.view();
    auto cursor = reader.open(view, Query{}.tags({"student:" + std::to_string(random.below(100'000))}), ReadOptions{.limit = 100});
    found.clear();
    if (!cursor->next_positions(100, found)) return;
    ++reads;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Result<void> storage_alone(const BenchOptions& options, Report& report, std::size_t appends, std::size_t events_each, std::uint32_t shards,
                           const std::string& name, bool readers) {
  const auto directory = fresh(options, "storage");
  storage::StoreOptions store_options;
  store_options.data_dir = directory;
  store_options.shards = shards;
  auto store = storage::open_store(store_options);
  if (!store) return refuse(store.error());
  Workload workload(options.seed);
  StorageLoad load(**store, workload);
  std::atomic<bool> stop{false};
  std::uint64_t reads = 0;
  std::thread beside;
  if (readers) beside = std::thread([&] { read_beside(**store, stop, reads, options.seed); });
  const double began = now_seconds(), cpu = cpu_seconds();
  Result<void> done{};
  while (done && now_seconds() - began < options.seconds) {
    load.pace();
    done = load.commit(appends, events_each);
  }
  const double took = now_seconds() - began;
  const double cpu_used = cpu_seconds() - cpu;
  stop = true;
  if (beside.joinable()) beside.join();
  EVERSHARD_TRY(done);
  Figure f{name, static_cast<double>(load.events()) / took, "events/s"};
  const std::size_t batch = appends * events_each;
  const auto in_batch = "one WriteBatch with the indexes, " + std::to_string(batch) + " events a commit";
  const auto file = "plain file, " + std::to_string(batch) + " events a batch";
  if (report.value(in_batch) > 0) {
    f.ceiling = in_batch;
    f.ratio = f.value / report.value(in_batch);
    if (batch == 512 && report.value(file) > 0) {
      const double of_file = f.value / report.value(file);
      f.target = "4 of one WriteBatch, 0.25 of plain file";
      f.reached = *f.ratio >= 4 && of_file >= 0.25;
      f.more.emplace_back("of_plain_file", of_file);
    }
  }
  for (auto& p : percentiles(load.latencies)) f.more.push_back(p);
  f.more.emplace_back("cpu_us_per_event", cpu_used * 1e6 / static_cast<double>(load.events()));
  f.more.emplace_back("reads_beside", static_cast<double>(reads));
  f.more.emplace_back("runs_sealed", static_cast<double>((*store)->stats().sealed_runs));
  report.add(std::move(f));
  (*store)->close();
  return {};
}

}  // namespace

Result<void> measure_storage(const BenchOptions& options, Report& report) {
  report.heading("Storage alone: stage and commit, synced, a reader on the tail");
  for (const std::size_t batch : {1, 64, 256, 512, 4'096}) {
    const auto name = "storage alone, " + std::to_string(batch) + " events a commit";
    EVERSHARD_TRY(storage_alone(options, report, batch == 4'096 ? 64 : batch, batch == 4'096 ? 64 : 1, 16, name, true));
  }
  return {};
}

}  // namespace evershard::bench
