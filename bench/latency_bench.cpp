// Latency at half load while runs are sealed; from an append to its delivery at a follower.

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <evershard/local.hpp>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "evershard/bench/parts.hpp"
#include "evershard/bench/workload.hpp"

namespace evershard::bench {
namespace {

constexpr std::chrono::milliseconds now_and_then_every(5);

/// Something that is done now and then while something else is measured.
class NowAndThen {
 public:
  explicit NowAndThen(std::function<void()> once)
      : thread_([this, once = std::move(once)] {
          while (!stop_) {
            const double began = now_seconds();
            once();
            latencies_.add((now_seconds() - began) * 1e6);
            std::this_thread::sleep_for(now_and_then_every);
          }
        }) {}
  ~NowAndThen() { end(); }
  NowAndThen(const NowAndThen&) = delete;

  Figure figure(const std::string& name) {
    end();
    Figure f{name, latencies_.percentile(0.5), "us"};
    f.more = percentiles(latencies_);
    return f;
  }

 private:
  void end() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }
  std::atomic<bool> stop_{false};
  Latencies latencies_;
  std::thread thread_;
};

/// 4 KiB at the end of a file, synced: what the disk takes, whoever writes.
class SyncedFile {
 public:
  explicit SyncedFile(const std::filesystem::path& path)
      : file_(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {}
  ~SyncedFile() { close(file_); }
  SyncedFile(const SyncedFile&) = delete;
  void write_some() {
    static const std::string bytes(4'096, 'x');
    if (::write(file_, bytes.data(), bytes.size()) > 0) fdatasync(file_);
  }

 private:
  const int file_;
};

/// Appends at a fixed rate, whatever the answers do: what waits behind a slow one counts as slow. Beside them reads,
/// and what the disk does by itself.
Result<std::vector<Figure>> half_load(const BenchOptions& options, double full) {
  auto store = Local::open({.data_dir = fresh(options, "local"), .shards = 16});
  if (!store) return refuse(store.error());
  Workload workload(options.seed);
  const double rate = full / 2;
  const double seconds = std::max(options.seconds * 4, 2.5 * 262'144 / rate);  // at least two seals
  Latencies latencies;
  std::mutex mutex;  // completions may come from more than one thread of the store
  std::atomic<std::uint64_t> under_way{0};
  std::atomic<std::uint64_t> failed{0};
  std::atomic<std::uint64_t> failed_reads{0};
  SyncedFile file(options.directory / "synced");
  NowAndThen syncs([&] { file.write_some(); });
  NowAndThen reads([&, random = Random(options.seed)]() mutable {
    auto page =
        store->read(Query{}.tags({"course:" + std::to_string(random.below(1'000))}), {.limit = 100}).next_page();
    if (!page) ++failed_reads;
  });
  const double began = now_seconds();
  std::uint64_t sent = 0;
  while (now_seconds() - began < seconds) {
    const double due = began + static_cast<double>(sent) / rate;
    while (now_seconds() < due) std::this_thread::sleep_for(std::chrono::microseconds(50));
    ++sent;
    ++under_way;
    store->append_async(workload.append(1), [&, due](const Result<Appended>& answer) {
      {
        const std::lock_guard lock(mutex);
        latencies.add((now_seconds() - due) * 1e6);
      }
      if (!answer) ++failed;
      --under_way;
    });
  }
  while (under_way != 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const auto stats = store->stats().value();
  Figure f{"append latency at half load while runs are sealed", latencies.percentile(0.5), "us"};
  const double p999 = latencies.percentile(0.999), most = latencies.max();
  f.target = "p99.9 20 ms, nothing above 100 ms";
  f.reached = p999 <= 20e3 && most <= 100e3;
  f.more = percentiles(latencies);
  f.more.emplace_back("rate", rate);
  f.more.emplace_back("sealed_up_to", static_cast<double>(stats.sealed.value));
  f.more.emplace_back("failed", static_cast<double>(failed));
  auto read = reads.figure("the same: a read of 100 events of a tag beside the appends");
  read.more.emplace_back("failed", static_cast<double>(failed_reads));
  return std::vector<Figure>{std::move(f), std::move(read),
                             syncs.figure("the same: 4 KiB written to another file and synced")};
}

}  // namespace

Result<Figure> following(const BenchOptions& options, EventStore& store, EventFeed feed, const std::string& name) {
  Latencies latencies;
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> sent_ns{0};
  std::atomic<std::uint64_t> delivered{0};
  std::thread follower([&] {
    while (!stop) {
      auto item = feed.next(std::chrono::milliseconds(100));
      if (!item) return;
      if (item->kind != FeedItem::Kind::events) continue;
      latencies.add(now_seconds() * 1e6 - static_cast<double>(sent_ns.load()) / 1e3);
      delivered += item->events.size();
    }
  });
  Workload workload(options.seed);
  std::uint64_t sent = 0;
  Latencies appends;
  const double began = now_seconds();
  Result<void> done{};
  while (now_seconds() - began < options.seconds) {
    sent_ns = static_cast<std::int64_t>(now_seconds() * 1e9);
    const double at = now_seconds();
    if (auto answer = store.append(workload.append(1)); !answer) {
      done = refuse(answer.error());
      break;
    }
    appends.add((now_seconds() - at) * 1e6);
    ++sent;
    while (delivered < sent && now_seconds() - at < 1) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  stop = true;
  follower.join();
  EVERSHARD_TRY(done);
  Figure f{name, latencies.percentile(0.5), "us"};
  f.more = percentiles(latencies);
  f.more.emplace_back("append_p50_us", appends.percentile(0.5));
  return f;
}

Result<void> measure_latency(const BenchOptions& options, Report& report) {
  report.heading("Latency");
  const double measured = report.value("store, 64 in flight of 1");
  auto figures = half_load(options, measured > 0 ? measured : 60'000);
  if (!figures) return refuse(std::move(figures).error());
  for (auto& figure : *figures) EVERSHARD_TRY(add(options, report, std::move(figure)));
  auto store = Local::open({.data_dir = fresh(options, "local"), .shards = 16});
  if (!store) return refuse(store.error());
  return add(options, report,
             following(options, *store, store->follow(Query::all()), "live following: from append to delivery"));
}

}  // namespace evershard::bench
