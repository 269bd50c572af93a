// Names that begin with `$` are the store's own: definitions, and what belongs to them.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard {

inline constexpr char reserved_mark = '$';

[[nodiscard]] inline bool is_reserved(std::string_view name) { return !name.empty() && name.front() == reserved_mark; }

/// Aggregates of users' under reserved names: streams of KurrentDB's clients whose names are no `type-value`, and the
/// metadata of any stream of theirs.
inline constexpr std::string_view plain_stream_type = "$stream";
inline constexpr std::string_view stream_metadata_type = "$metastream";
/// The last event of a stream of KurrentDB's clients that is gone for good.
inline constexpr std::string_view stream_ended_type = "$streamDeleted";

/// Whether the store itself keeps aggregates of this type.
[[nodiscard]] inline bool is_own_aggregate(std::string_view type) {
  return is_reserved(type) && type != plain_stream_type && type != stream_metadata_type;
}
/// Whether only the store itself writes events of this type, in any aggregate. Others that begin with `$` come from
/// clients of KurrentDB's: `$metadata`, `$>`, `$mine`.
[[nodiscard]] bool is_own_type(std::string_view event_type);
/// Whether only the store itself writes it: a user's handler is not given it.
///
/// Shape: Of: Event, RecordedEvent
template <class Of>
[[nodiscard]] bool is_own(const Of& event) {
  return (event.aggregate && is_own_aggregate(event.aggregate->type)) || is_own_type(event.type);
}
/// Whether it is history, which exports, imports and copies carry: all events but the store's own; and of those the
/// ones that stand in users' aggregates, whose numbers count them.
[[nodiscard]] bool is_history(const std::optional<AggregateId>& aggregate, std::string_view event_type);
/// Shape: Of: Event, RecordedEvent
template <class Of>
[[nodiscard]] bool is_history(const Of& event) {
  return is_history(event.aggregate, event.type);
}

/// Whether it has what is taken only from another store (Append::from_export). A server that is older takes the rest as
/// ever.
[[nodiscard]] bool needs_export(const Append& append);

/// What comes from another store and says of an aggregate that it was removed there: which one, and the event that says
/// so. Whoever stores such an append hides it behind that event.
[[nodiscard]] std::vector<std::pair<AggregateId, EventId>> removals_of(const Append& append);

/// What a user may not write: events of reserved aggregates or types, their snapshots. What comes from another store
/// may have everything that is history there. Errors: invalid_argument, "reserved"
[[nodiscard]] Result<void> check_reserved(const Append& append);
[[nodiscard]] Result<void> check_reserved(const Snapshot& snapshot);

}  // namespace evershard
