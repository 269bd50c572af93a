// RemoteRetention: the retention of a server's history.

#pragma once

#include <memory>

#include "evershard/api/retention.hpp"
#include "evershard/doors/remote/connection.hpp"

namespace evershard::remote {

class RemoteRetention final : public HistoryRetention {
 public:
  explicit RemoteRetention(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

  Result<RetentionResult> truncate_aggregate(const AggregateId& aggregate, SeqNr before, TruncateOptions options,
                                             Progress progress = {}) override;
  Result<RetentionResult> remove_aggregate(const AggregateId& aggregate, RetentionOrder order,
                                           Progress progress = {}) override;
  Result<RetentionResult> erase_subject(const std::string& subject, RetentionOrder order,
                                        Progress progress = {}) override;
  Result<void> set_retention_policy(const RetentionPolicy& policy, RetentionOrder order) override;
  Result<void> drop_retention_policy(const std::string& name, RetentionOrder order) override;
  Result<std::vector<RetentionPolicy>> retention_policies() override;
  Result<RetentionResult> apply_retention(RetentionOrder order, Progress progress = {}) override;
  Result<std::vector<RetentionEntry>> retention_log(SeqNr after, std::size_t limit) override;

 private:
  const std::shared_ptr<Connection> connection_;
};

}  // namespace evershard::remote
