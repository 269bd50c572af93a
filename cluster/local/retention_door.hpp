// RetentionDoor: HistoryRetention of the store of one process, as long as that is open.

#pragma once

#include <memory>
#include <utility>

#include "evershard/cluster/local/node.hpp"
#include "evershard/cluster/store/retention.hpp"

namespace evershard::cluster {

class RetentionDoor final : public HistoryRetention {
 public:
  explicit RetentionDoor(std::shared_ptr<Node> node) : node_(std::move(node)) {}

  Result<RetentionResult> truncate_aggregate(const AggregateId& aggregate, SeqNr before, TruncateOptions options, Progress progress) override {
    const auto use = node_->enter();
    if (!use) return refuse(use.error());
    return node_->retention().truncate(aggregate, before, options, node_->until_closed(std::move(progress)));
  }
  Result<RetentionResult> remove_aggregate(const AggregateId& aggregate, RetentionOrder order, Progress progress) override {
    const auto use = node_->enter();
    if (!use) return refuse(use.error());
    return node_->retention().remove(aggregate, order, node_->until_closed(std::move(progress)));
  }
  Result<RetentionResult> erase_subject(const std::string& subject, RetentionOrder order, Progress progress) override {
    const auto use = node_->enter();
    if (!use) return refuse(use.error());
    return node_->retention().erase(subject, order, node_->until_closed(std::move(progress)));
  }
  Result<void> set_retention_policy(const RetentionPolicy& policy, RetentionOrder order) override {
    const auto use = node_->enter();
    if (!use) return refuse(use.error());
    return node_->retention().set_policy(policy, order);
  }
  Result<void> drop_retention_policy(const std::string& name, RetentionOrder order) override {
    const auto use = node_->enter();
    if (!use) return refuse(use.error());
    return node_->retention().drop_policy(name, order);
  }
  Result<std::vector<RetentionPolicy>> retention_policies() override {
    const auto use = node_->enter();
    if (!use) return refuse(use.error());
    return node_->retention().policies();
  }
  Result<RetentionResult> apply_retention(RetentionOrder order, Progress progress) override {
    const auto use = node_->enter();
    if (!use) return refuse(use.error());
    return node_->retention().run(order, node_->until_closed(std::move(progress)));
  }
  Result<std::vector<RetentionEntry>> retention_log(SeqNr after, std::size_t limit) override {
    const auto use = node_->enter();
    if (!use) return refuse(use.error());
    return node_->retention().log(after, limit);
  }

 private:
  const std::shared_ptr<Node> node_;
};

}  // namespace evershard::cluster
