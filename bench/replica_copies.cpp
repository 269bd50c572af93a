// How long a node takes to have everything: an empty one, one that was away, and one that gets what a lost one kept;
// and what appends do meanwhile.

#include <signal.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "evershard/bench/cluster_load.hpp"
#include "evershard/bench/drive.hpp"
#include "evershard/bench/launched_cluster.hpp"
#include "evershard/bench/workload.hpp"

namespace evershard::bench {
namespace {

constexpr std::uint32_t goes = 2;           ///< the node; clients ask 1 and 3
constexpr std::uint32_t flights_each = 32;  ///< of each of the two
constexpr double usual_s = 10, away_s = 60, filled_within_s = 900;

/// Appends of one event to two nodes, all the time.
class Writers {
 public:
  static Result<std::unique_ptr<Writers>> start(const BenchOptions& options, const LaunchedCluster& cluster) {
    std::unique_ptr<Writers> made(new Writers);
    for (const std::uint32_t node : {1u, 3u}) {
      auto client = cluster.client({node}, std::chrono::seconds(20));
      if (!client) return refuse(std::move(client).error());
      made->clients_.push_back(std::make_unique<Remote>(std::move(*client)));
    }
    for (std::size_t i = 0; i != made->clients_.size(); ++i)
      made->threads_.emplace_back([writers = made.get(), i, seed = options.seed + i] {
        Workload workload(seed);
        drive(
            *writers->clients_[i], flights_each, 1e9,
            [&] {
              Append append;
              append.events.push_back(workload.event());
              return append;
            },
            [writers](const Result<Appended>& answer) { ++(answer ? writers->done_ : writers->failed_); },
            [writers] { return writers->stopping_.load(); });
      });
    return made;
  }
  ~Writers() {
    stopping_ = true;
    for (auto& thread : threads_) thread.join();
  }
  /// Events a second while this lasts.
  Result<double> rate(const std::function<Result<void>()>& lasts) {
    const double began = now_seconds();
    const auto before = done_.load();
    EVERSHARD_TRY(lasts());
    return static_cast<double>(done_ - before) / (now_seconds() - began);
  }
  [[nodiscard]] std::uint64_t failed() const { return failed_; }

 private:
  Writers() = default;
  std::atomic<bool> stopping_{false};
  std::atomic<std::uint64_t> done_{0}, failed_{0};
  std::vector<std::unique_ptr<Remote>> clients_;
  std::vector<std::thread> threads_;
};

Result<void> sleep(const BenchOptions& options, double seconds) {
  for (const double until = now_seconds() + seconds; now_seconds() < until;) {
    if (options.stop && options.stop()) return refuse(ErrorCode::cancelled, "stopped");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return {};
}

using Seen = std::function<bool(const ClusterStatus&)>;

Result<void> wait_for(const BenchOptions& options, const LaunchedCluster& cluster, const Seen& there) {
  for (const double until = now_seconds() + filled_within_s; now_seconds() < until;) {
    if (const auto status = cluster.status(); status && status->trouble.empty() && there(*status)) return {};
    EVERSHARD_TRY(sleep(options, 0.02));
  }
  return refuse(ErrorCode::unavailable, "a node did not get everything");
}

/// It keeps all shards, counts, and has applied what others had when they were asked just before; and that stays so,
/// since what it lacks is noticed a moment after it came. Returns: since when, by now_seconds().
Result<double> wait_follows(const BenchOptions& options, const LaunchedCluster& cluster, std::uint32_t node) {
  constexpr double stays_s = 2;
  double since = 0;
  EVERSHARD_TRY(wait_for(options, cluster, [&](const ClusterStatus& status) {
    bool follows = true;
    for (const auto& one : status.nodes)
      if (one.is.node == node) follows &= one.is.up && one.learns == 0 && one.replicas == status.shards.size();
    const auto own = cluster.remote(node).cluster_status();
    follows = follows && own && own->applied >= status.applied;
    if (!follows) since = 0;
    if (follows && since == 0) since = now_seconds();
    return follows && now_seconds() - since >= stays_s;
  }));
  return since;
}

/// From an emptied directory to all events.
Result<double> emptied(const BenchOptions& options, LaunchedCluster& cluster) {
  const auto node = "node " + std::to_string(goes);
  cluster.signal(node, SIGKILL);
  std::error_code error;
  std::filesystem::remove_all(cluster.data_of(goes), error);
  const double began = now_seconds();
  EVERSHARD_TRY(cluster.wait_started(node));
  const auto since = wait_follows(options, cluster, goes);
  if (!since) return refuse(since.error());
  return *since - began;
}

Result<void> refill(const BenchOptions& options, Report& report, LaunchedCluster& cluster) {
  EVERSHARD_TRY(load_events(options, cluster.stores(), options.events));
  EVERSHARD_TRY(cluster.wait_whole());
  const auto idle = emptied(options, cluster);
  if (!idle) return refuse(idle.error());
  const auto events = std::to_string(options.events);
  Figure alone{"a node whose directory was deleted, until it has " + events + " events again",
               static_cast<double>(options.events) / *idle, "events/s"};
  alone.more = {{"seconds", *idle}};
  alone.target = "10 million in 60 s";
  alone.reached = alone.value >= 10e6 / 60;
  EVERSHARD_TRY(add(options, report, std::move(alone)));

  auto writers = Writers::start(options, cluster);
  if (!writers) return refuse(std::move(writers).error());
  const auto usual = (*writers)->rate([&] { return sleep(options, usual_s); });
  if (!usual) return refuse(usual.error());
  Result<double> seconds = 0.0;
  const auto meanwhile = (*writers)->rate([&]() -> Result<void> {
    seconds = emptied(options, cluster);
    return seconds ? Result<void>() : refuse(seconds.error());
  });
  if (!meanwhile) return refuse(meanwhile.error());
  Figure f{"the same, while appends go on: 64 in flight of 1", *meanwhile / *usual, "of usual"};
  f.more = {{"usual_per_s", *usual},
            {"seconds", *seconds},
            {"copied_per_s", static_cast<double>(options.events) / *seconds},
            {"failed", static_cast<double>((*writers)->failed())}};
  f.target = "appends at 0.7, 10 million in 60 s, none fails";
  f.reached =
      f.value >= 0.7 && *seconds <= static_cast<double>(options.events) * 60 / 10e6 && (*writers)->failed() == 0;
  return add(options, report, std::move(f));
}

/// Frozen under load, so that it lacks what was written meanwhile.
Result<void> away(const BenchOptions& options, Report& report, LaunchedCluster& cluster) {
  EVERSHARD_TRY(cluster.wait_whole());
  auto writers = Writers::start(options, cluster);
  if (!writers) return refuse(std::move(writers).error());
  const auto node = "node " + std::to_string(goes);
  cluster.signal(node, SIGSTOP);
  const auto missed = (*writers)->rate([&] { return sleep(options, away_s); });
  cluster.signal(node, SIGCONT);
  if (!missed) return refuse(missed.error());
  const double began = now_seconds();
  Result<double> since = 0.0;
  const auto meanwhile = (*writers)->rate([&]() -> Result<void> {
    since = wait_follows(options, cluster, goes);
    return since ? Result<void>() : refuse(since.error());
  });
  if (!meanwhile) return refuse(meanwhile.error());
  Figure f{"a node that was frozen for 60 s under load, until it follows again", *since - began, "s"};
  f.more = {{"missed_events", *missed * away_s},
            {"appends_meanwhile_of_usual", *meanwhile / *missed},
            {"failed", static_cast<double>((*writers)->failed())}};
  f.target = "at most 10 s, none fails";
  f.reached = f.value <= 10 && (*writers)->failed() == 0;
  return add(options, report, std::move(f));
}

/// Four nodes, of which one stays frozen for good: the others are given what it kept.
Result<void> lost(const BenchOptions& options, Report& report) {
  constexpr std::uint32_t gone_after_s = 5;
  auto started = LaunchedCluster::start(fresh(options, "launched"), {4, 3, true, gone_after_s});
  if (!started) return refuse(std::move(started).error());
  auto& cluster = **started;
  EVERSHARD_TRY(load_events(options, cluster.stores(), options.events));
  EVERSHARD_TRY(cluster.wait_whole());
  cluster.signal("node " + std::to_string(goes), SIGSTOP);
  const double began = now_seconds();
  EVERSHARD_TRY(wait_for(options, cluster, [](const ClusterStatus& status) {
    for (const auto& shard : status.shards) {
      if (!shard.learners.empty() || shard.replicas.size() != 3) return false;
      for (const auto node : shard.replicas)
        if (node == goes) return false;
    }
    return true;
  }));
  const double seconds = now_seconds() - began - gone_after_s;
  cluster.signal("node " + std::to_string(goes), SIGCONT);
  const double copied = static_cast<double>(options.events) * 3 / 4;
  Figure f{"a node of four is gone for good: all shards have three replicas again", seconds, "s"};
  f.more = {{"copied_events", copied}, {"copied_per_s", copied / seconds}, {"gone_after_s", gone_after_s}};
  return add(options, report, std::move(f));
}

}  // namespace

Result<void> measure_replica_copies(const BenchOptions& options, Report& report) {
  report.heading("Replicas: how long a node takes to have everything; all processes on this machine");
  {
    auto started = LaunchedCluster::start(fresh(options, "launched"), {3, 3, true});
    if (!started) return refuse(std::move(started).error());
    EVERSHARD_TRY(refill(options, report, **started));
    EVERSHARD_TRY(away(options, report, **started));
  }
  return lost(options, report);
}

}  // namespace evershard::bench
