#include "evershard/bench/cluster_processes.hpp"

#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "evershard/sharding/stream_hash.hpp"

namespace evershard::bench {
namespace {

constexpr std::chrono::seconds ready_timeout(120);
constexpr const char* bench_secret = "a secret for the benchmark's cluster";

Result<std::filesystem::path> secret_file(const std::filesystem::path& folder) {
  const auto path = folder / "secret";
  const auto mask = ::umask(0077);
  std::ofstream(path) << bench_secret << '\n';
  ::umask(mask);
  if (!std::filesystem::exists(path)) return refuse(ErrorCode::io, "cannot write " + path.string());
  return path;
}

}  // namespace

Result<ClusterProcesses::Started> ClusterProcesses::start(std::vector<std::string> words,
                                                          const std::filesystem::path& log) {
  const auto name = words.front();
  auto process = cli::ChildProcess::start(std::move(words), log, SIGKILL);
  if (!process) return refuse(std::move(process).error());
  auto address = process->wait_ready(ready_timeout);
  if (!address) return refuse(ErrorCode::io, "`evershard " + name + "` did not become ready: see " + log.string());
  return Started{std::move(*process), std::move(*address)};
}

Result<void> ClusterProcesses::start_coordinator(std::uint32_t nodes) {
  auto secret = secret_file(folder_);
  if (!secret) return refuse(std::move(secret).error());
  auto started = start({"coordinator", "--data", (folder_ / "coordinator").string(), "--listen", "127.0.0.1:0",
                        "--nodes", std::to_string(nodes), "--shards", std::to_string(cluster_shards), "--secret-file",
                        secret->string(), "--cluster", "bench"},
                       folder_ / "coordinator.log");
  if (!started) return refuse(std::move(started).error());
  coordinator_ = std::move(*started);
  return {};
}

Result<void> ClusterProcesses::add_client(const std::string& address) {
  auto client = Remote::connect({.server = address});
  if (!client) return refuse(std::move(client).error());
  clients_.push_back(std::make_unique<Remote>(std::move(*client)));
  stores_.push_back(clients_.back().get());
  return {};
}

Result<std::unique_ptr<ClusterProcesses>> ClusterProcesses::single(const std::filesystem::path& folder,
                                                                   std::uint32_t clients, Keys keys) {
  std::unique_ptr<ClusterProcesses> made(new ClusterProcesses);
  made->folder_ = folder;
  std::vector<std::string> words{"serve",
                                 "--data",
                                 (folder / "store").string(),
                                 "--shards",
                                 std::to_string(cluster_shards),
                                 "--listen",
                                 "127.0.0.1:0",
                                 "--http-listen",
                                 "none"};
  if (keys == Keys::yes) words.insert(words.end(), {"--keys", (folder / "keys").string()});
  auto server = start(std::move(words), folder / "serve.log");
  if (!server) return refuse(std::move(server).error());
  made->nodes_.push_back(std::move(*server));
  for (std::uint32_t c = 0; c != clients; ++c) EVERSHARD_TRY(made->add_client(made->nodes_.front().address));
  return made;
}

Result<std::unique_ptr<ClusterProcesses>> ClusterProcesses::coordinator_alone(const std::filesystem::path& folder) {
  std::unique_ptr<ClusterProcesses> made(new ClusterProcesses);
  made->folder_ = folder;
  EVERSHARD_TRY(made->start_coordinator(1));
  return made;
}

Result<std::unique_ptr<ClusterProcesses>> ClusterProcesses::cluster(const std::filesystem::path& folder,
                                                                    std::uint32_t nodes) {
  std::unique_ptr<ClusterProcesses> made(new ClusterProcesses);
  made->folder_ = folder;
  EVERSHARD_TRY(made->start_coordinator(nodes));
  for (std::uint32_t n = 1; n <= nodes; ++n) {
    made->words_.push_back(
        {"node", "--node", std::to_string(n), "--data", (folder / ("node-" + std::to_string(n))).string(), "--shards",
         std::to_string(cluster_shards), "--coordinator", made->coordinator_->address, "--secret-file",
         (folder / "secret").string(), "--cluster", "bench", "--listen", "127.0.0.1:0", "--http-listen", "none"});
    auto node = start(made->words_.back(), folder / ("node-" + std::to_string(n) + ".log"));
    if (!node) return refuse(std::move(node).error());
    made->nodes_.push_back(std::move(*node));
    auto& words = made->words_.back();
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
      if (words[i] == "--listen") words[i + 1] = made->nodes_.back().address;
    EVERSHARD_TRY(made->add_client(made->nodes_.back().address));
  }
  EVERSHARD_TRY(made->wait_until_open());
  return made;
}

/// An append to every shard, from every node.
Result<void> ClusterProcesses::wait_until_open() {
  for (auto* store : stores_) {
    std::vector<bool> open(cluster_shards, false);
    for (int n = 0; std::ranges::find(open, false) != open.end(); ++n) {
      const AggregateId aggregate{"warm", std::to_string(n)};
      const auto shard = sharding::shard_of(sharding::stream_hash(aggregate.text()), cluster_shards).value;
      if (open[shard]) continue;
      Result<Appended> done = refuse(ErrorCode::unavailable, "not tried");
      for (int tries = 0; tries != 600 && !done; ++tries) {
        Append append;
        append.event(aggregate.text(), "Warm", "{}");
        done = store->append(std::move(append));
        if (!done) std::this_thread::sleep_for(std::chrono::milliseconds(50));
      }
      if (!done) return refuse(std::move(done).error());
      open[shard] = true;
    }
  }
  return {};
}

double ClusterProcesses::node_cpu() const {
  double seconds = 0;
  for (const auto& node : nodes_) seconds += node.process.cpu_seconds();
  return seconds;
}

Result<void> ClusterProcesses::kill_and_restart(std::uint32_t number) {
  nodes_[number - 1].process = {};
  auto node = start(words_[number - 1], folder_ / ("node-" + std::to_string(number) + ".log"));
  if (!node) return refuse(std::move(node).error());
  nodes_[number - 1] = std::move(*node);
  return {};
}

Result<Remote> ClusterProcesses::client_of(std::uint32_t node, std::chrono::milliseconds timeout) const {
  return Remote::connect({.server = nodes_[node - 1].address, .timeout = timeout});
}

std::uint32_t ClusterProcesses::node_of(const AggregateId& aggregate, std::uint32_t nodes) {
  return 1 + sharding::shard_of(sharding::stream_hash(aggregate.text()), cluster_shards).value % nodes;
}

Event ClusterProcesses::event_on(Workload& workload, std::uint32_t node, std::uint32_t nodes) {
  auto event = workload.event();
  while (node_of(*event.aggregate, nodes) != node)
    event.aggregate->value = std::to_string(workload.random().below(workload.shape().aggregates));
  return event;
}

}  // namespace evershard::bench
