// The events by which a history says what of it is gone. Names that begin with '$' are the store's own.

#pragma once

#include <string_view>

namespace evershard::retention {

/// In the aggregate's own stream: everything before it is gone, and the state begins anew. Whoever decided on the state
/// before is refused by its expected version.
inline constexpr std::string_view aggregate_removed = "$AggregateRemoved";
/// A member of its payload: true: the stream's last event was that it had ended (stream_ended_type). That holds on.
inline constexpr std::string_view stream_had_ended = "stream_had_ended";

/// The log of what was done: an aggregate of its own, one event a step. Payloads are JSON: docs/removal.md.
inline constexpr std::string_view log_type = "$retention";
inline constexpr std::string_view log_value = "log";
inline constexpr std::string_view truncation_ordered = "$TruncationOrdered";
inline constexpr std::string_view truncation_done = "$TruncationDone";
inline constexpr std::string_view removal_ordered = "$RemovalOrdered";
inline constexpr std::string_view removal_done = "$RemovalDone";
inline constexpr std::string_view truncation_dropped = "$TruncationDropped";
inline constexpr std::string_view removal_dropped = "$RemovalDropped";
inline constexpr std::string_view events_removed = "$EventsRemoved";
inline constexpr std::string_view erasure_ordered = "$ErasureOrdered";
inline constexpr std::string_view erasure_done = "$ErasureDone";
inline constexpr std::string_view policies_applied = "$PoliciesApplied";

/// Definitions of policies: `$policy-NAME`.
inline constexpr std::string_view policy_type = "$policy";
inline constexpr std::string_view policy_created = "$PolicyCreated";
inline constexpr std::string_view policy_dropped = "$PolicyDropped";

}  // namespace evershard::retention
