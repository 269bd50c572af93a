// LaunchedCluster: `evershard cluster launch` as a process of the benchmark: nodes, coordinators, and etcd where it is
// asked for.

#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "evershard/bench/parts.hpp"
#include "evershard/cli/child/child_process.hpp"
#include "evershard/doors/remote/remote.hpp"

namespace evershard::bench {

class LaunchedCluster {
 public:
  struct Options {
    std::uint32_t nodes = 3;
    std::uint32_t replicas = 3;
    bool etcd = false;
    std::uint32_t gone_after_s = 0;  ///< a node that is away for so long is gone for good; 0: as usual
  };
  /// It takes appends to every shard on return. Errors: io, unavailable; not_found: there is no etcd on this machine
  [[nodiscard]] static Result<std::unique_ptr<LaunchedCluster>> start(const std::filesystem::path& folder,
                                                                      const Options& options);
  ~LaunchedCluster();

  /// A client of each node.
  [[nodiscard]] const std::vector<EventStore*>& stores() const { return stores_; }
  /// Of these nodes.
  [[nodiscard]] Result<Remote> client(const std::vector<std::uint32_t>& nodes, std::chrono::milliseconds timeout) const;
  [[nodiscard]] Remote& remote(std::uint32_t node) const { return *clients_[node - 1]; }

  /// "node 2", "coordinator", "coordinator 2", "etcd 3".
  [[nodiscard]] std::vector<std::string> names(const std::string& of) const;
  void signal(const std::string& name, int number) const;
  /// Waits until it was started again after it was killed.
  [[nodiscard]] Result<void> wait_started(const std::string& name);
  [[nodiscard]] std::filesystem::path data_of(std::uint32_t node) const;
  /// As node 1 sees it.
  [[nodiscard]] Result<ClusterStatus> status() const { return remote(1).cluster_status(); }
  /// Waits until every node is there and has everything, and every shard takes appends.
  [[nodiscard]] Result<void> wait_whole() const;
  /// User and system time of all of them whose names begin so, in seconds.
  [[nodiscard]] double cpu_seconds(const std::string& of) const;

 private:
  LaunchedCluster() = default;
  [[nodiscard]] Result<void> wait_until_open();

  std::filesystem::path folder_;
  cli::ChildProcess launch_;
  std::map<std::string, pid_t> pids_;
  std::vector<std::string> addresses_;
  std::vector<std::unique_ptr<Remote>> clients_;
  std::vector<EventStore*> stores_;
};

}  // namespace evershard::bench
