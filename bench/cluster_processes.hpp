// ClusterProcesses: a coordinator and nodes as processes on this machine, with clients of each.

#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evershard/bench/parts.hpp"
#include "evershard/bench/workload.hpp"
#include "evershard/cli/child/child_process.hpp"
#include "evershard/doors/remote/remote.hpp"

namespace evershard::bench {

inline constexpr std::uint32_t cluster_shards = 16;

/// A server of one process, or the nodes of a cluster, and a client of each.
class ClusterProcesses {
 public:
  /// `evershard serve`: what the cluster is held against.
  enum class Keys : std::uint8_t { no, yes };
  [[nodiscard]] static Result<std::unique_ptr<ClusterProcesses>> single(const std::filesystem::path& folder,
                                                                        std::uint32_t clients, Keys keys = Keys::no);
  /// A coordinator and so many nodes; it takes appends to every shard on return. Errors: io, unavailable
  [[nodiscard]] static Result<std::unique_ptr<ClusterProcesses>> cluster(const std::filesystem::path& folder,
                                                                         std::uint32_t nodes);
  /// The coordinator alone, which waits for one node that is not a process of its own.
  [[nodiscard]] static Result<std::unique_ptr<ClusterProcesses>> coordinator_alone(const std::filesystem::path& folder);

  [[nodiscard]] const std::vector<EventStore*>& stores() const { return stores_; }
  [[nodiscard]] const cli::ChildProcess& node(std::uint32_t number) const { return nodes_[number - 1].process; }
  [[nodiscard]] const std::string& coordinator_address() const { return coordinator_->address; }
  [[nodiscard]] double node_cpu() const;
  [[nodiscard]] double coordinator_cpu() const { return coordinator_ ? coordinator_->process.cpu_seconds() : 0; }
  /// Ends it by kill -9 and starts it again on the same disk and address; returns when it says that it is ready.
  Result<void> kill_and_restart(std::uint32_t node);
  [[nodiscard]] Result<Remote> client_of(std::uint32_t node,
                                         std::chrono::milliseconds timeout = std::chrono::seconds(30)) const;

  /// Which node is given an event's shard when all of a new cluster's are there: in turn. From 1.
  [[nodiscard]] static std::uint32_t node_of(const AggregateId& aggregate, std::uint32_t nodes);
  /// An event whose aggregate lies on that node's shards.
  [[nodiscard]] static Event event_on(Workload& workload, std::uint32_t node, std::uint32_t nodes);

 private:
  struct Started {
    cli::ChildProcess process;
    std::string address;
  };
  ClusterProcesses() = default;
  /// `words`: behind the program's name. Waits until it is ready. Errors: io: it does not come to that
  static Result<Started> start(std::vector<std::string> words, const std::filesystem::path& log);
  Result<void> start_coordinator(std::uint32_t nodes);
  Result<void> add_client(const std::string& address);
  Result<void> wait_until_open();

  std::filesystem::path folder_;
  std::optional<Started> coordinator_;
  std::vector<std::vector<std::string>> words_;  ///< of each node
  std::vector<Started> nodes_;
  std::vector<std::unique_ptr<Remote>> clients_;
  std::vector<EventStore*> stores_;
};

/// A node is killed and comes back with its events; another is frozen. Parts of measure_cluster().
Result<void> measure_cluster_faults(const BenchOptions& options, Report& report);

}  // namespace evershard::bench
