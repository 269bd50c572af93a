// The values of the service ScheduledAppends.

#pragma once

#include "evershard/api/scheduled_appends.hpp"
#include "evershard/protocol/messages.hpp"
#include "evershard/v1/scheduled.pb.h"

namespace evershard::messages {

void put(const ScheduleOrder& from, pb::ScheduleRequest& to);
void put(const ScheduledAppend& from, pb::ScheduledAppend& to);

/// Errors: invalid_argument, as codec::decode
[[nodiscard]] Result<void> get(pb::ScheduleRequest& from, ScheduleOrder& to);
[[nodiscard]] Result<void> get(pb::ScheduledAppend& from, ScheduledAppend& to);

}  // namespace evershard::messages
