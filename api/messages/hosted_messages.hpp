// What is hosted, as messages.

#pragma once

#include "evershard/api/hosted_kinds.hpp"
#include "evershard/v1/asks.pb.h"

namespace evershard::messages {

namespace pb = evershard::v1;

void put(const HostedKinds& from, pb::ListKindsResponse& to);
/// Strings are moved out of the message.
void get(pb::ListKindsResponse& from, HostedKinds& to);

}  // namespace evershard::messages
