#include "evershard/bench/launched_cluster.hpp"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "evershard/bench/cluster_processes.hpp"
#include "evershard/sharding/stream_hash.hpp"

namespace evershard::bench {
namespace {

constexpr std::chrono::seconds launched_within(120), stopped_within(60);

std::string word_behind(const std::string& line, const std::string& before) {
  std::istringstream words(line);
  for (std::string word, next; words >> word;)
    if (word == before && words >> next) return next;
  return {};
}

}  // namespace

Result<std::unique_ptr<LaunchedCluster>> LaunchedCluster::start(const std::filesystem::path& folder,
                                                                const Options& options) {
  std::unique_ptr<LaunchedCluster> made(new LaunchedCluster);
  made->folder_ = folder;
  if (options.gone_after_s != 0)  // of the coordinators, which read it there
    ::setenv("EVERSHARD_GONE_AFTER", (std::to_string(options.gone_after_s) + "s").c_str(), 1);
  auto launch = cli::ChildProcess::start(
      {"cluster", "launch", std::to_string(options.nodes), "--data", folder.string(), "--listen", "127.0.0.1:0",
       "--http-listen", "none", "--shards", std::to_string(cluster_shards), "--replicas",
       std::to_string(options.replicas), "--cut-log", options.etcd ? "etcd" : "local"},
      folder / "launch.log");
  ::unsetenv("EVERSHARD_GONE_AFTER");
  if (!launch) return refuse(std::move(launch).error());
  made->launch_ = std::move(*launch);
  const auto lines = made->launch_.lines_until("ready ", launched_within);
  if (!lines) return refuse(ErrorCode::io, "the cluster did not start: see " + (folder / "launch.log").string());
  int coordinators = 0;
  for (const auto& line : *lines) {
    const auto pid = word_behind(line, "pid");
    if (pid.empty()) continue;
    std::istringstream words(line);
    std::string what, second, third;
    words >> what >> second >> third;
    const auto name = what == "coordinator" ? (++coordinators == 1 ? what : what + " " + std::to_string(coordinators))
                                            : what + " " + second;
    made->pids_[name] = static_cast<pid_t>(std::stol(pid));
    if (what != "node") continue;
    made->addresses_.push_back(third);
    auto client = Remote::connect({.server = third});
    if (!client) return refuse(std::move(client).error());
    made->clients_.push_back(std::make_unique<Remote>(std::move(*client)));
    made->stores_.push_back(made->clients_.back().get());
  }
  EVERSHARD_TRY(made->wait_until_open());
  return made;
}

LaunchedCluster::~LaunchedCluster() {
  stores_.clear();
  clients_.clear();
  launch_.signal(SIGTERM);
  const auto until = std::chrono::steady_clock::now() + stopped_within;
  while (!launch_.ended() && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

Result<void> LaunchedCluster::wait_until_open() {
  for (std::uint32_t shard = 0; shard != cluster_shards; ++shard) {
    AggregateId aggregate{"warm", "0"};
    for (int n = 0; sharding::shard_of(sharding::stream_hash(aggregate.text()), cluster_shards).value != shard; ++n)
      aggregate.value = std::to_string(n);
    for (auto* store : stores_) {
      Result<Appended> done = refuse(ErrorCode::unavailable, "not tried");
      for (int tries = 0; tries != 600 && !done; ++tries) {
        done = store->append(Append{}.event(aggregate.text(), "Warm", "{}"));
        if (!done) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
      if (!done) return refuse(std::move(done).error());
    }
  }
  return {};
}

Result<Remote> LaunchedCluster::client(const std::vector<std::uint32_t>& nodes,
                                       std::chrono::milliseconds timeout) const {
  RemoteOptions options;
  for (const auto node : nodes) options.servers.push_back(addresses_[node - 1]);
  options.timeout = timeout;
  options.unavailable_timeout = timeout;
  return Remote::connect(std::move(options));
}

std::vector<std::string> LaunchedCluster::names(const std::string& of) const {
  std::vector<std::string> names;
  for (const auto& [name, pid] : pids_)
    if (name.starts_with(of)) names.push_back(name);
  return names;
}

void LaunchedCluster::signal(const std::string& name, int number) const { ::kill(pids_.at(name), number); }

Result<void> LaunchedCluster::wait_started(const std::string& name) {
  const auto lines = launch_.lines_until(name + " was started again", launched_within);
  if (!lines) return refuse(ErrorCode::unavailable, name + " was not started again");
  pids_[name] = static_cast<pid_t>(std::stol(word_behind(lines->back(), "pid")));
  return {};
}

std::filesystem::path LaunchedCluster::data_of(std::uint32_t node) const {
  return folder_ / ("node-" + std::to_string(node));
}

Result<void> LaunchedCluster::wait_whole() const {
  for (const double until = now_seconds() + 120; now_seconds() < until;) {
    const auto seen = status();
    bool whole = seen && seen->trouble.empty();
    if (whole) {
      for (const auto& node : seen->nodes) whole &= node.is.up && node.behind < 100 && node.learns == 0;
      for (const auto& shard : seen->shards) whole &= shard.open;
    }
    if (whole) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  return refuse(ErrorCode::unavailable, "the cluster did not become whole again");
}

double LaunchedCluster::cpu_seconds(const std::string& of) const {
  double seconds = 0;
  for (const auto& name : names(of)) {
    std::ifstream file("/proc/" + std::to_string(pids_.at(name)) + "/stat");
    std::string stat((std::istreambuf_iterator<char>(file)), {});
    if (stat.rfind(')') == std::string::npos) continue;
    std::istringstream fields(stat.substr(stat.rfind(')') + 2));
    std::string skipped;
    for (int i = 0; i != 11; ++i) fields >> skipped;
    double user = 0, system = 0;
    fields >> user >> system;
    seconds += (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
  }
  return seconds;
}

}  // namespace evershard::bench
