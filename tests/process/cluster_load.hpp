// ClusterLoad: clients of a cluster that append, read and follow at once, and remember what they asked and were told.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/history/history.hpp"
#include "tests/process/cluster_processes.hpp"

namespace evershard::testing {

/// Appends of all sorts: plain, versioned, conditional, over several shards. One whose outcome is unknown is sent
/// again, with its request id, to any node. Runs from construction to stop().
class ClusterLoad {
 public:
  ClusterLoad(const ClusterProcesses& cluster, std::uint64_t seed, int clients = 4);
  ~ClusterLoad();

  [[nodiscard]] std::uint64_t acknowledged() const { return acknowledged_; }
  /// Waits until so many more have been acknowledged than were when it was called. Returns: whether they came.
  [[nodiscard]] bool goes_on(std::uint64_t more = 20,
                             std::chrono::milliseconds deadline = std::chrono::seconds(120)) const;
  /// Of a node whose number is named nothing is asked from here on, until it is named again with `yes`.
  void ask(std::uint32_t node, bool yes);
  /// An event in each of these shards, to an aggregate that nobody else appends to, asked of this node: fails the test
  /// where it is not taken.
  void fill(std::uint32_t node, const std::set<std::uint32_t>& shards);
  /// An event in this shard, asked of this node once; from any thread. Returns: whether it was acknowledged. Where it
  /// was not, it may be stored yet.
  bool put(std::uint32_t node, std::uint32_t shard, std::chrono::milliseconds timeout);
  /// Others append to aggregates of this type, and remove what they have. Before the first of them.
  void leave_out(const std::string& type) {
    const std::lock_guard lock(mutex_);
    history_.others.insert(type);
  }
  void stop();
  /// After stop(): reads everything at every node, which must be the same, and checks the whole history against it.
  void check();

 private:
  void append(int client);
  void read(int reader);
  void follow(int follower);
  [[nodiscard]] Append make(int client, int number, std::mt19937_64& random);
  [[nodiscard]] std::uint32_t any_node(std::mt19937_64& random);
  void note(HistoryAppend asked);

  const ClusterProcesses& cluster_;
  const std::uint64_t seed_;
  std::atomic<bool> over_{false};
  std::atomic<Moment> now_{0};
  std::atomic<std::uint64_t> acknowledged_{0};
  std::atomic<std::uint64_t> tried_again_{0};
  std::mutex mutex_;
  std::set<std::uint32_t> asked_;
  std::map<std::string, SeqNr> versions_;  ///< the newest that anybody was told
  GlobalPosition newest_;
  History history_;
  std::vector<std::thread> threads_;
};

/// All goes on, and nothing was lost, doubled or given another place meanwhile. Ends the cluster.
void finish(ClusterProcesses& cluster, ClusterLoad& load);

}  // namespace evershard::testing
