// The values of the service's own messages: directory, snapshots, members.

#pragma once

#include "evershard/api/membership.hpp"
#include "evershard/protocol/messages.hpp"
#include "evershard/v1/service.pb.h"

namespace evershard::messages {

void put(const AggregateInfo& from, pb::AggregateInfo& to);
void put(const Membership& from, pb::MembersResponse& to);

[[nodiscard]] Result<void> get(const pb::AggregateInfo& from, AggregateInfo& to);
/// Errors: invalid_argument: owners and epochs are not one a shard
[[nodiscard]] Result<void> get(const pb::MembersResponse& from, Membership& to);
/// Malformed ones are refused by the store.
[[nodiscard]] AggregateId aggregate_of(const pb::AggregateId& from);

}  // namespace evershard::messages
