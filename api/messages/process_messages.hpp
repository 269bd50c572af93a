// The values of the service Processes.

#pragma once

#include "evershard/api/processes.hpp"
#include "evershard/protocol/messages.hpp"
#include "evershard/v1/process_service.pb.h"

namespace evershard::messages {

void put(const ProcessInfo& from, pb::ProcessInfo& to);
void put(const ProcessInstance& from, pb::ProcessInstance& to);
void put(const ParkedEffect& from, pb::ParkedEffect& to);
void put(const PendingTimer& from, pb::PendingTimer& to);
void put(const ProcessControl& from, pb::ProcessControl& to);

/// Errors: invalid_argument
[[nodiscard]] Result<void> get(const pb::ProcessInfo& from, ProcessInfo& to);
[[nodiscard]] Result<void> get(const pb::ProcessInstance& from, ProcessInstance& to);
[[nodiscard]] Result<void> get(const pb::ParkedEffect& from, ParkedEffect& to);
[[nodiscard]] Result<void> get(const pb::PendingTimer& from, PendingTimer& to);
[[nodiscard]] Result<void> get(const pb::ProcessControl& from, ProcessControl& to);

}  // namespace evershard::messages
