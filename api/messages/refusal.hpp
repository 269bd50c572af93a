// A refusal as a message: the error, when to try again, and as many of the conflicting events as have room.

#pragma once

#include <chrono>
#include <vector>

#include "evershard/protocol/messages.hpp"

namespace evershard::messages {

/// How long a client waits where a bounded queue of the store was full: about what it takes to write a good part of it.
inline constexpr auto retry_after_full_queue = std::chrono::milliseconds(20);

/// `bytes_max`: of the message; conflicts that do not fit, and all behind them, are left out. `retry_after`: of
/// `overloaded`.
void put_refusal(const Error& error, const std::vector<RecordedEvent>& conflicts, std::size_t bytes_max, pb::Error& to,
                 std::chrono::milliseconds retry_after = retry_after_full_queue);

}  // namespace evershard::messages
