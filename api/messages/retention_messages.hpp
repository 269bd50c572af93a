// The values of the service Retention.

#pragma once

#include "evershard/api/retention.hpp"
#include "evershard/protocol/messages.hpp"
#include "evershard/v1/retention.pb.h"

namespace evershard::messages {

void put(const RetentionOrder& from, pb::RetentionOrder& to);
void put(const RetentionResult& from, pb::RetentionResult& to);
void put(const RetentionPolicy& from, pb::RetentionPolicy& to);
void put(RetentionEntry&& from, pb::RetentionEntry& to);

[[nodiscard]] RetentionOrder order_of(const pb::RetentionOrder& from);
[[nodiscard]] RetentionResult result_of(const pb::RetentionResult& from);
/// Errors: invalid_argument: a kind that is not known, a time that no policy takes
[[nodiscard]] Result<RetentionPolicy> policy_of(const pb::RetentionPolicy& from);
[[nodiscard]] RetentionEntry entry_of(pb::RetentionEntry&& from);

}  // namespace evershard::messages
