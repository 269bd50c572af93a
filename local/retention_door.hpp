// RetentionDoor: HistoryRetention of the store of one process, as long as that is open.

#pragma once

#include <memory>
#include <utility>

#include "evershard/api/retention.hpp"
#include "evershard/local/local_events.hpp"
#include "evershard/local/node.hpp"
#include "evershard/services/retention/retention_records.hpp"

namespace evershard::cluster {

class RetentionDoor final : public HistoryRetention {
 public:
  explicit RetentionDoor(std::shared_ptr<Node> node)
      : node_(std::move(node)), events_(std::make_unique<LocalEvents>(node_)), records_(*events_) {}

  Result<RetentionResult> truncate_aggregate(const AggregateId& aggregate, SeqNr before, TruncateOptions options,
                                             Progress progress) override {
    const auto use = node_->enter();
    if (!use) return refuse(use.error());
    return node_->retention().truncate(aggregate, before, options, node_->until_closed(std::move(progress)));
  }
  Result<RetentionResult> remove_aggregate(const AggregateId& aggregate, RetentionOrder order,
                                           Progress progress) override {
    const auto use = node_->enter();
    if (!use) return refuse(use.error());
    return node_->retention().remove(aggregate, order, node_->until_closed(std::move(progress)));
  }
  Result<RetentionResult> erase_subject(const std::string& subject, RetentionOrder order, Progress progress) override {
    const auto use = node_->enter();
    if (!use) return refuse(use.error());
    return node_->retention().erase(subject, order, node_->until_closed(std::move(progress)));
  }
  Result<RetentionResult> remove_settled_schedules(std::chrono::milliseconds keep, const RetentionOrder& order,
                                                   Progress progress) {
    const auto use = node_->enter();
    if (!use) return refuse(use.error());
    return node_->retention().remove_settled_schedules(keep, order, node_->until_closed(std::move(progress)));
  }
  Result<void> set_retention_policy(const RetentionPolicy& policy, RetentionOrder order) override {
    return records_.set_policy(policy, order);
  }
  Result<void> drop_retention_policy(const std::string& name, RetentionOrder order) override {
    return records_.drop_policy(name, order);
  }
  Result<std::vector<RetentionPolicy>> retention_policies() override { return records_.policies(); }
  Result<RetentionResult> apply_retention(RetentionOrder order, Progress progress) override {
    const auto use = node_->enter();
    if (!use) return refuse(use.error());
    const auto policies = records_.policies();
    if (!policies) return refuse(policies.error());
    auto applied = node_->retention().apply(*policies, order, node_->until_closed(std::move(progress)));
    if (!applied) return refuse(std::move(applied).error());
    auto total = records_.run(std::move(applied->total), order);
    if (total && applied->trouble) return refuse(*std::move(applied->trouble));
    return total;
  }
  Result<std::vector<RetentionEntry>> retention_log(SeqNr after, std::size_t limit) override {
    return records_.log(after, limit);
  }

 private:
  const std::shared_ptr<Node> node_;
  std::unique_ptr<LocalEvents> events_;  ///< keeps its address when the door is moved
  RetentionRecords records_;
};

}  // namespace evershard::cluster
