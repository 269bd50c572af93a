// ClusterRetention: retention of a cluster, from any of its nodes: each part is done by the node that owns the shard.
//
// Source: docs/removal.md, "On a cluster".

#pragma once

#include <string>
#include <vector>

#include "evershard/api/retention.hpp"
#include "evershard/cluster/removal/node_retention.hpp"
#include "evershard/services/retention/cluster_erasure.hpp"
#include "evershard/services/retention/retention_records.hpp"

namespace evershard::cluster {

/// Errors beyond those of HistoryRetention: unavailable: a shard has no node just now, it is named; `timeout`: its node
/// went away meanwhile, and the same again tells what became of it. Owner: all outlive it.
class ClusterRetention final : public HistoryRetention {
 public:
  ClusterRetention(ClusterNode& node, storage::NodeStore& store, HomeCalls& homes, const NodeRetentionOptions& options)
      : here_(node, store, homes, options), node_(node), homes_(homes), records_(node) {
    if (options.keys == nullptr) return;
    const auto taken_out = [this](const KeyId& key, const RetentionOrder& order, const Progress& progress) {
      return take_out(key.text(), order, progress);
    };
    erasure_ = std::make_unique<ClusterErasure>(node, node.limits(), options.keys, taken_out, options.at_step);
  }

  Result<RetentionResult> truncate_aggregate(const AggregateId& aggregate, SeqNr before, TruncateOptions options,
                                             Progress progress = {}) override;
  Result<RetentionResult> remove_aggregate(const AggregateId& aggregate, RetentionOrder order,
                                           Progress progress = {}) override;
  Result<RetentionResult> erase_subject(const std::string& subject, RetentionOrder order,
                                        Progress progress = {}) override;
  Result<void> set_retention_policy(const RetentionPolicy& policy, RetentionOrder order) override {
    return records_.set_policy(policy, order);
  }
  Result<void> drop_retention_policy(const std::string& name, RetentionOrder order) override {
    return records_.drop_policy(name, order);
  }
  Result<std::vector<RetentionPolicy>> retention_policies() override { return records_.policies(); }
  /// Every owner its shards; what is away is named when all others are done.
  Result<RetentionResult> apply_retention(RetentionOrder order, Progress progress = {}) override;
  Result<std::vector<RetentionEntry>> retention_log(SeqNr after, std::size_t limit) override {
    return records_.log(after, limit);
  }

  /// What is sealed with this key is taken out of the records of all shards: the sum. Again: does what is left.
  /// Errors: unavailable: not of all of them, those that are left are named
  Result<RetentionResult> take_out(const std::string& key, const RetentionOrder& order, const Progress& progress);
  /// As StoreRetention::take_over, at the aggregate's home. `at_least`: where the marker stands, or behind it.
  Result<void> take_over(const AggregateId& aggregate, const EventId& marker, GlobalPosition at_least);
  /// The policies, for the shards that are open here.
  Result<RetentionResult> apply_here(const RetentionOrder& order, const Progress& progress);
  /// Of the shards that are open here. Errors: as StoreRetention::remove_settled_schedules
  Result<RetentionResult> remove_settled_schedules_here(std::chrono::milliseconds keep, const RetentionOrder& order,
                                                        const Progress& progress) {
    return here_.remove_settled_schedules(keep, order, progress);
  }
  /// What was broken off, of the shards that are open here; and erasures, of all.
  Result<void> finish_here(const Progress& progress);
  /// Of the shards that are open here: as StoreRetention::damaged
  [[nodiscard]] std::uint64_t damaged_here() const { return here_.damaged(); }

  void close() { here_.close(); }

 private:
  struct Part;
  [[nodiscard]] Result<void> finish_erasures(const Progress& progress) {
    return erasure_ ? erasure_->finish(progress) : Result<void>();
  }
  /// Until it has ended.
  [[nodiscard]] Result<RetentionResult> at_home(const AggregateId& aggregate, v1::BeginRetention asked, bool dry_run,
                                                const Progress& progress);
  /// At every owner. Returns: the sum; `trouble`: of those that could not be done.
  [[nodiscard]] Result<PoliciesApplied> everywhere(const v1::BeginRetention& asked, bool dry_run,
                                                   const Progress& progress);
  [[nodiscard]] AggregateId address_of(ShardId shard) const;
  /// Every owner looks again at what it has read, before this is answered. One that says nothing for a moment is not
  /// waited for: it hears by itself (RemovalWatch).
  void have_all_look_again();
  struct Policies {
    std::vector<RetentionPolicy> found{};
    std::optional<Error> trouble{};  ///< unavailable: those of some shards could not be read
  };
  /// All policies that can be read: each policy says by itself which events go. Errors: corruption, io
  [[nodiscard]] Result<Policies> policies_there();

  NodeRetention here_;
  ClusterNode& node_;
  HomeCalls& homes_;
  RetentionRecords records_;
  std::unique_ptr<ClusterErasure> erasure_;  ///< null: it was made without keys
};

}  // namespace evershard::cluster
