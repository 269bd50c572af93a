// What the store's own events say: those that stand in streams of users' aggregates, of processes, of schedules.

#pragma once

#include <optional>

#include "evershard/protocol/event.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/store/json/payload_types.hpp"

namespace evershard {

/// `$ProcessReacted`, `$TimersChanged`, `$CommandPrepared`, ...: whatever is registered. What is text in them is shown
/// as text; what users gave (a payload, an answer) as JSON where it is, else as base64.
///
/// Returns: absent: it is none of them, or its payload is JSON anyway. Errors: invalid_argument: the bytes are not of
/// it
[[nodiscard]] std::optional<Result<ShownMessage>> decoded_own(const RecordedEvent& event);

}  // namespace evershard
