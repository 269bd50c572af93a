// How long appends to a shard pause when a part of a cluster with replicas goes: killed, frozen, handed over.

#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <functional>
#include <mutex>
#include <set>
#include <thread>

#include "evershard/bench/cluster_load.hpp"
#include "evershard/bench/cluster_processes.hpp"
#include "evershard/bench/launched_cluster.hpp"
#include "evershard/sharding/stream_hash.hpp"

namespace evershard::bench {
namespace {

using std::chrono::milliseconds;

constexpr std::uint32_t victim = 2;  ///< the node that goes; clients ask the others

AggregateId aggregate_on(std::uint32_t shard) {
  AggregateId aggregate{"paused", "0"};
  for (int n = 0; sharding::shard_of(sharding::stream_hash(aggregate.text()), cluster_shards).value != shard; ++n)
    aggregate.value = std::to_string(n);
  return aggregate;
}

/// Somebody appends to each shard, one append after the other, and notes how long nothing was answered.
class Pauses {
 public:
  explicit Pauses(const LaunchedCluster& cluster) {
    for (std::uint32_t shard = 0; shard != cluster_shards; ++shard)
      threads_.emplace_back([this, &cluster, shard] { run(cluster, shard); });
  }
  ~Pauses() {
    stopping_ = true;
    for (auto& thread : threads_) thread.join();
  }
  void begin() {
    const std::lock_guard lock(mutex_);
    for (auto& of : shards_) of = {now_seconds(), 0, 0};
    failed_ = 0;
  }
  struct Seen {
    double longest_ms = 0;  ///< of these shards
    double others_ms = 0;
    std::uint64_t failed = 0;
  };
  [[nodiscard]] Seen seen(const std::set<std::uint32_t>& of) {
    const std::lock_guard lock(mutex_);
    Seen seen{0, 0, failed_};
    for (std::uint32_t shard = 0; shard != cluster_shards; ++shard) {
      auto& longest = of.contains(shard) ? seen.longest_ms : seen.others_ms;
      longest = std::max({longest, shards_[shard].longest * 1e3, (now_seconds() - shards_[shard].last) * 1e3});
    }
    return seen;
  }
  /// Every shard has been answered since begin().
  [[nodiscard]] bool all_go_on() {
    const std::lock_guard lock(mutex_);
    return std::ranges::all_of(shards_, [](const auto& of) { return of.done > 5; });
  }

 private:
  void run(const LaunchedCluster& cluster, std::uint32_t shard) {
    auto client = cluster.client({1, 3}, std::chrono::seconds(20));
    if (!client) return;
    const auto aggregate = aggregate_on(shard).text();
    while (!stopping_) {
      const auto done = client->append(Append{}.event(aggregate, "Noted", "{}"));
      const std::lock_guard lock(mutex_);
      auto& of = shards_[shard];
      const double now = now_seconds();
      if (!done) {
        ++failed_;
        continue;
      }
      ++of.done;
      of.longest = std::max(of.longest, now - of.last);
      of.last = now;
    }
  }

  struct Shard {
    double last = now_seconds();
    double longest = 0;
    std::uint64_t done = 0;
  };
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::array<Shard, cluster_shards> shards_{};
  std::uint64_t failed_ = 0;
  std::vector<std::thread> threads_;
};

Result<std::set<std::uint32_t>> shards_of(const LaunchedCluster& cluster, std::uint32_t node) {
  const auto status = cluster.status();
  if (!status) return refuse(status.error());
  std::set<std::uint32_t> shards;
  for (std::uint32_t s = 0; s != status->shards.size(); ++s)
    if (status->shards[s].node == node) shards.insert(s);
  return shards;
}

/// All nodes write about as many.
Result<void> balance(const LaunchedCluster& cluster) {
  EVERSHARD_TRY(cluster.remote(1).cluster_assign({.balance = true}));
  for (const double until = now_seconds() + 60; now_seconds() < until;) {
    const auto mine = shards_of(cluster, victim);
    if (mine && mine->size() >= cluster_shards / 3) return {};
    std::this_thread::sleep_for(milliseconds(20));
  }
  return refuse(ErrorCode::unavailable, "shards were not handed over");
}

struct Fault {
  std::string name;
  std::function<Result<void>()> does;
  std::function<Result<void>()> undoes;
  double last_s;  ///< so long it is looked at
};

Result<void> measure(const BenchOptions& options, Report& report, LaunchedCluster& cluster, Pauses& pauses,
                     const std::string& name, std::vector<Fault> faults, double most_ms, double others_ms) {
  std::vector<double> longest;
  double others = 0;
  std::uint64_t failed = 0;
  for (auto& fault : faults) {
    EVERSHARD_TRY(cluster.wait_whole());
    EVERSHARD_TRY(balance(cluster));
    const auto of = shards_of(cluster, victim);
    if (!of) return refuse(of.error());
    pauses.begin();
    while (!pauses.all_go_on()) std::this_thread::sleep_for(milliseconds(5));
    pauses.begin();
    EVERSHARD_TRY(fault.does());
    std::this_thread::sleep_for(std::chrono::duration<double>(fault.last_s));
    const auto seen = pauses.seen(*of);
    EVERSHARD_TRY(fault.undoes());
    longest.push_back(others_ms == 0 ? std::max(seen.longest_ms, seen.others_ms) : seen.longest_ms);
    others = std::max(others, seen.others_ms);
    failed += seen.failed;
    if (options.stop && options.stop()) return refuse(ErrorCode::cancelled, "stopped");
  }
  std::ranges::sort(longest);
  Figure f{name, others_ms == 0 ? longest.back() : longest[(longest.size() - 1) / 2], "ms"};
  f.more = {{"rounds", static_cast<double>(longest.size())},
            {"longest_ms", longest.back()},
            {"failed", static_cast<double>(failed)}};
  if (others_ms != 0) f.more.emplace_back("others_longest_ms", others);
  f.target = "at most " + std::to_string(static_cast<int>(most_ms)) + " ms" +
             (others_ms == 0 ? "" : ", other shards " + std::to_string(static_cast<int>(others_ms)) + " ms") +
             ", none fails";
  f.reached = longest.back() <= most_ms && (others_ms == 0 || others <= others_ms) && failed == 0;
  return add(options, report, std::move(f));
}

std::vector<Fault> times(std::size_t rounds, const Fault& fault) { return std::vector<Fault>(rounds, fault); }

}  // namespace

Result<void> measure_replica_faults(const BenchOptions& options, Report& report) {
  auto started = LaunchedCluster::start(fresh(options, "launched"), {3, 3, true});
  if (!started) return refuse(std::move(started).error());
  auto& cluster = **started;
  const auto node = "node " + std::to_string(victim);
  const auto kill = [&](const std::string& name, double seconds) {
    return Fault{name, [&cluster, name]() -> Result<void> { return cluster.signal(name, SIGKILL), Result<void>(); },
                 [&cluster, name] { return cluster.wait_started(name); }, seconds};
  };
  const auto freeze = [&](const std::string& name, double seconds) {
    return Fault{name, [&cluster, name]() -> Result<void> { return cluster.signal(name, SIGSTOP), Result<void>(); },
                 [&cluster, name]() -> Result<void> { return cluster.signal(name, SIGCONT), Result<void>(); }, seconds};
  };
  const auto each = [&](const std::string& of, const auto& fault, double seconds) {
    std::vector<Fault> faults;
    for (const auto& name : cluster.names(of)) faults.push_back(fault(name, seconds));
    return faults;
  };
  {
    Pauses pauses(cluster);
    const auto rounds = std::max<std::size_t>(1, options.rounds);
    EVERSHARD_TRY(measure(options, report, cluster, pauses, "a node is killed: pause of appends to its shards",
                          times(2 * rounds, kill(node, 2)), 1'000, 100));
    EVERSHARD_TRY(measure(options, report, cluster, pauses, "a node is frozen: pause of appends to its shards",
                          times(rounds, freeze(node, 6)), 3'000, 3'000));
    const Fault drain{node,
                      [&] {
                        auto done = cluster.remote(1).cluster_assign({.node = victim, .drain = true});
                        return done ? Result<void>() : refuse(std::move(done).error());
                      },
                      [] { return Result<void>(); }, 1};
    EVERSHARD_TRY(measure(options, report, cluster, pauses, "all shards of a node are handed over: pause of appends",
                          times(2 * rounds, drain), 100, 100));
    EVERSHARD_TRY(measure(options, report, cluster, pauses,
                          "each coordinator is killed: pause of appends, the leader's", each("coordinator", kill, 3),
                          1'000, 0));
    EVERSHARD_TRY(measure(options, report, cluster, pauses,
                          "each coordinator is frozen: pause of appends, the leader's", each("coordinator", freeze, 7),
                          3'000, 0));
    EVERSHARD_TRY(measure(options, report, cluster, pauses,
                          "each member of etcd is killed: pause of appends, the leader's", each("etcd", kill, 4), 3'000,
                          0));
    EVERSHARD_TRY(measure(options, report, cluster, pauses,
                          "each member of etcd is frozen: pause of appends, the leader's", each("etcd", freeze, 6),
                          3'000, 0));
    EVERSHARD_TRY(cluster.wait_whole());
  }
  return {};
}

}  // namespace evershard::bench
