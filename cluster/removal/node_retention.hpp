// NodeRetention: retention of the shards of one node of a cluster, for whoever asks, on any node.
//
// Source: docs/removal.md, "On a cluster".

#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "evershard/cluster/homes/home_calls.hpp"
#include "evershard/cluster/removal/node_writer.hpp"
#include "evershard/cluster/removal/retention_jobs.hpp"
#include "evershard/services/retention/store_retention.hpp"
#include "evershard/v1/retention_homes.pb.h"

namespace evershard::cluster {

struct NodeRetentionOptions {
  StoreRetention::Touched touched{};           ///< whose live aggregates are not what they were
  std::function<void()> heard{};               ///< something was removed or erased, here or elsewhere: quick
  std::function<void(const char*)> at_step{};  ///< of crash tests
  std::chrono::milliseconds settle_every = std::chrono::seconds(1);
  std::shared_ptr<SubjectKeys> keys{};  ///< of the cluster's coordinator; null: nothing can be erased
};

/// What hangs between an append and its rows is finished by itself, as soon as its shards are open; what was ordered
/// and not done yet, by the next operation, as in one process.
///
/// Shape: before the node joins. Owner: all outlive it; close() while the node still answers.
class NodeRetention {
 public:
  NodeRetention(ClusterNode& node, storage::NodeStore& store, HomeCalls& homes, NodeRetentionOptions options);
  ~NodeRetention() { close(); }
  NodeRetention(const NodeRetention&) = delete;

  /// Of all shards that are open here: what was broken off. Errors: as StoreRetention::finish
  [[nodiscard]] Result<void> finish(const Progress& progress);
  /// The same shards. Errors: as StoreRetention::apply
  [[nodiscard]] Result<PoliciesApplied> apply(const std::vector<RetentionPolicy>& policies, const RetentionOrder& order,
                                              const Progress& progress);

  /// The same shards. Errors: as StoreRetention::remove_settled_schedules
  [[nodiscard]] Result<RetentionResult> remove_settled_schedules(std::chrono::milliseconds keep,
                                                                 const RetentionOrder& order, const Progress& progress);

  /// Who has read something before looks at it again.
  void heard() const {
    if (options_.heard) options_.heard();
  }
  /// As StoreRetention::damaged
  [[nodiscard]] std::uint64_t damaged() const { return retention_.damaged(); }

  /// Stops what is under way at its next safe point. Any number of times.
  void close();

 private:
  [[nodiscard]] Result<v1::PoliciesThere> policies_here() const;
  [[nodiscard]] Result<std::string> carry_out(const v1::BeginRetention& asked, const Progress& progress);
  void settle_left();
  [[nodiscard]] Progress until_closed(const Progress& progress) const;

  ClusterNode& node_;
  storage::NodeStore& store_;
  HomeCalls& homes_;
  const NodeRetentionOptions options_;
  const storage::Reader reader_;
  NodeWriter writer_;
  StoreRetention retention_;
  RetentionJobs jobs_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  std::once_flag closed_;
  std::thread settling_;
};

}  // namespace evershard::cluster
