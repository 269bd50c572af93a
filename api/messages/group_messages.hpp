// The values of the service Groups.

#pragma once

#include "evershard/api/groups.hpp"
#include "evershard/protocol/messages.hpp"
#include "evershard/v1/groups.pb.h"

namespace evershard::messages {

void put(const GroupSettings& from, pb::GroupSettings& to);
void put(const GroupSettingsChange& from, pb::GroupSettings& to);
void put(const GroupInfo& from, pb::GroupInfo& to);
void put(const ParkedEvent& from, pb::ParkedEvent& to);
void put(const GroupDelivery& from, pb::WorkResponse::Delivery& to);
void put(const GroupSettlement& from, pb::WorkRequest::Settlement& to);

/// What is absent stays as it is in `to`. Errors: invalid_argument: an unknown enumerator
[[nodiscard]] Result<void> get(const pb::GroupSettings& from, GroupSettingsChange& to);
[[nodiscard]] Result<void> get(const pb::GroupSettings& from, GroupSettings& to);
[[nodiscard]] Result<void> get(pb::GroupInfo& from, GroupInfo& to);
void get(pb::ParkedEvent& from, ParkedEvent& to);
[[nodiscard]] Result<void> get(pb::WorkResponse::Delivery& from, GroupDelivery& to);
[[nodiscard]] Result<void> get(pb::WorkRequest::Settlement& from, GroupSettlement& to);

}  // namespace evershard::messages
