// What a node's fault costs the rest of its cluster: killed and started again with its events; frozen.

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>

#include "evershard/bench/cluster_processes.hpp"
#include "evershard/bench/drive.hpp"

namespace evershard::bench {
namespace {

constexpr std::uint32_t faulty_nodes = 3;
constexpr std::uint32_t faulty = 3;  ///< the node that is killed, or frozen
constexpr std::uint32_t append_events = 64;

/// Somebody appends to, or reads, the shards of one node through another, one after the other, and remembers what that
/// was like.
class Watcher {
 public:
  Watcher(const ClusterProcesses& cluster, std::uint32_t through, std::uint32_t of, bool reads,
          std::chrono::milliseconds timeout)
      : client_(cluster.client_of(through, timeout)), thread_([this, of, reads] { run(of, reads); }) {}
  ~Watcher() { stop(); }
  void stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
  }
  /// What is remembered begins here.
  void begin() {
    const std::lock_guard lock(mutex_);
    done_ = failed_ = unavailable_ = 0;
    slowest_ = longest_without_ = 0;
    last_done_ = now_seconds();
  }
  struct Seen {
    std::uint64_t done = 0, failed = 0, unavailable = 0;
    double slowest_ms = 0;          ///< answer, good or bad
    double longest_without_ms = 0;  ///< a good one
  };
  Seen seen() {
    const std::lock_guard lock(mutex_);
    return {done_, failed_, unavailable_, slowest_ * 1e3, std::max(longest_without_, now_seconds() - last_done_) * 1e3};
  }
  [[nodiscard]] bool any() { return seen().done != 0; }

 private:
  void run(std::uint32_t of, bool reads) {
    if (!client_) return;
    Workload workload(of + 10 * reads);
    AggregateId known{"warm", "0"};
    for (int n = 0; ClusterProcesses::node_of(known, faulty_nodes) != of; ++n) known.value = std::to_string(n);
    while (!stopping_) {
      const double sent = now_seconds();
      std::optional<Error> error;
      if (reads) {
        auto stream = client_->read(known);
        (void)stream.next();
        error = stream.error();
      } else {
        Append append;
        append.events.push_back(ClusterProcesses::event_on(workload, of, faulty_nodes));
        if (auto done = client_->append(std::move(append)); !done) error = done.error();
      }
      const double now = now_seconds();
      {
        const std::lock_guard lock(mutex_);
        slowest_ = std::max(slowest_, now - sent);
        if (error) {
          ++failed_;
          unavailable_ += error->code == ErrorCode::unavailable;
        } else {
          ++done_;
          longest_without_ = std::max(longest_without_, now - last_done_);
          last_done_ = now;
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }

  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::uint64_t done_ = 0, failed_ = 0, unavailable_ = 0;
  double slowest_ = 0, longest_without_ = 0, last_done_ = now_seconds();
  Result<Remote> client_;
  std::thread thread_;
};

/// So many events on the shards of one node.
Result<void> load_node(const BenchOptions& options, ClusterProcesses& cluster, std::uint32_t node,
                       std::uint64_t events) {
  Workload workload(options.seed);
  std::uint64_t sent = 0;
  std::atomic<std::uint64_t> failed{0};
  (void)drive(
      *cluster.stores()[node - 1], 64, 1e9,
      [&] {
        Append append;
        for (std::uint32_t i = 0; i != append_events; ++i)
          append.events.push_back(i == 0 ? ClusterProcesses::event_on(workload, node, faulty_nodes) : workload.event());
        for (auto& event : append.events) event.aggregate = append.events.front().aggregate;
        sent += append_events;
        return append;
      },
      [&](const Result<Appended>& answer) { failed += !answer; }, [&] { return sent >= events || failed != 0; });
  if (failed != 0) return refuse(ErrorCode::unavailable, "node " + std::to_string(node) + " could not be loaded");
  return {};
}

void add_seen(Figure& figure, const std::string& who, const Watcher::Seen& seen) {
  figure.more.emplace_back(who + "_done", static_cast<double>(seen.done));
  figure.more.emplace_back(who + "_failed", static_cast<double>(seen.failed));
  figure.more.emplace_back(who + "_longest_without_ms", seen.longest_without_ms);
}

bool wait_for_any(Watcher& watcher) {
  for (const double until = now_seconds() + 120; now_seconds() < until;) {
    if (watcher.any()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

/// From kill -9 and the new process's start to the first append to its shards, asked of another node.
Result<void> restarted(const BenchOptions& options, Report& report) {
  auto cluster = ClusterProcesses::cluster(fresh(options, "cluster"), faulty_nodes);
  if (!cluster) return refuse(std::move(cluster).error());
  EVERSHARD_TRY(load_node(options, **cluster, faulty, options.events));
  using std::chrono::milliseconds;
  Watcher others(**cluster, 1, 2, false, milliseconds(5'000));
  if (!wait_for_any(others)) return refuse(ErrorCode::unavailable, "the other nodes take no appends");
  std::vector<double> times, starts;
  others.begin();
  for (std::size_t round = 0; round != options.rounds; ++round) {
    Watcher its(**cluster, 1, faulty, false, milliseconds(500));
    if (!wait_for_any(its)) return refuse(ErrorCode::unavailable, "the node takes no appends");
    const double killed = now_seconds();
    EVERSHARD_TRY((*cluster)->kill_and_restart(faulty));
    starts.push_back((now_seconds() - killed) * 1e3);
    its.begin();
    if (!wait_for_any(its)) return refuse(ErrorCode::unavailable, "the node takes no appends after its start");
    times.push_back((now_seconds() - killed) * 1e3);
  }
  others.stop();
  const auto median = [](std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[(values.size() - 1) / 2];
  };
  Figure f{"a node with " + std::to_string(options.events) + " events, killed and started again: until it serves",
           median(times), "ms"};
  f.more = {{"slowest_ms", *std::max_element(times.begin(), times.end())}, {"until_it_is_ready_ms", median(starts)}};
  const auto seen = others.seen();
  add_seen(f, "others", seen);
  f.target = "under 2 s; no append to other nodes' shards fails";
  f.reached = f.value < 2'000 && seen.failed == 0;
  return add(options, report, std::move(f));
}

/// SIGSTOP: others go on, and who needs its shards is told.
Result<void> frozen(const BenchOptions& options, Report& report) {
  auto cluster = ClusterProcesses::cluster(fresh(options, "cluster"), faulty_nodes);
  if (!cluster) return refuse(std::move(cluster).error());
  constexpr double deadline_ms = 1'000, frozen_s = 8;
  using std::chrono::milliseconds;
  const milliseconds deadline(static_cast<int>(deadline_ms));
  Watcher appends(**cluster, 1, 2, false, milliseconds(10'000)), reads(**cluster, 1, 2, true, milliseconds(10'000));
  Watcher its_appends(**cluster, 1, faulty, false, deadline), its_reads(**cluster, 2, faulty, true, deadline);
  for (auto* watcher : {&appends, &reads, &its_appends, &its_reads})
    if (!wait_for_any(*watcher)) return refuse(ErrorCode::unavailable, "the cluster does not serve");
  for (auto* watcher : {&appends, &reads, &its_appends, &its_reads}) watcher->begin();
  (*cluster)->node(faulty).signal(SIGSTOP);
  std::this_thread::sleep_for(std::chrono::duration<double>(frozen_s));
  const auto append_seen = appends.seen(), read_seen = reads.seen(), its_append = its_appends.seen(),
             its_read = its_reads.seen();
  (*cluster)->node(faulty).signal(SIGCONT);
  its_appends.begin();
  const double thawed = now_seconds();
  const bool back = wait_for_any(its_appends);
  Figure f{"a node frozen for 8 s: the slowest answer to who needs its shards, with a deadline of 1 s",
           std::max(its_append.slowest_ms, its_read.slowest_ms), "ms"};
  add_seen(f, "others_appends", append_seen);
  add_seen(f, "others_reads", read_seen);
  f.more.emplace_back("its_appends_refused", static_cast<double>(its_append.failed));
  f.more.emplace_back("its_appends_unavailable", static_cast<double>(its_append.unavailable));
  f.more.emplace_back("its_reads_refused", static_cast<double>(its_read.failed));
  f.more.emplace_back("its_reads_unavailable", static_cast<double>(its_read.unavailable));
  f.more.emplace_back("served_again_after_ms", back ? (now_seconds() - thawed) * 1e3 : -1);
  f.target = "within the deadline and 3 s; others' appends and reads go on, and none fails";
  f.reached = f.value <= deadline_ms + 3'000 && append_seen.failed + read_seen.failed == 0 && append_seen.done > 0 &&
              read_seen.done > 0 && back;
  return add(options, report, std::move(f));
}

}  // namespace

Result<void> measure_cluster_faults(const BenchOptions& options, Report& report) {
  EVERSHARD_TRY(restarted(options, report));
  return frozen(options, report);
}

}  // namespace evershard::bench
