// A cluster's status and an operator's placement as messages: the same between nodes and at their doors.

#pragma once

#include "evershard/api/cluster_status.hpp"
#include "evershard/v1/service.pb.h"

namespace evershard::messages {

void put(const ClusterStatus& from, v1::ClusterStatusResponse& to);
void put(const ShardAssignment& from, v1::ClusterAssignRequest& to);
void put(const ShardsAssigned& from, v1::ClusterAssignResponse& to);

/// Errors of each: corruption: a shard number that is none
[[nodiscard]] Result<void> get(const v1::ClusterStatusResponse& from, ClusterStatus& to);
[[nodiscard]] Result<void> get(const v1::ClusterAssignRequest& from, ShardAssignment& to);
[[nodiscard]] Result<void> get(const v1::ClusterAssignResponse& from, ShardsAssigned& to);

}  // namespace evershard::messages
