// Moment: the point in an aggregate's life that is looked at; and how the snapshot it is seen from looks in JSON.

#pragma once

#include <cstdint>
#include <optional>

#include "evershard/api/event_store.hpp"
#include "evershard/api/json/json_text.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard {

struct Moment {
  SeqNr version;
  GlobalPosition position;
};

/// At a version, or as of a position, or the latest; not both.
/// Errors: not_found (the aggregate, or a version it does not have yet), those of reading
[[nodiscard]] Result<Moment> moment_of(EventStore& store, const AggregateId& aggregate,
                                       std::optional<std::uint64_t> version, std::optional<GlobalPosition> up_to);

/// One object about the snapshot without its state, or null.
/// Source: docs/types.md, "An aggregate's state"
void write_snapshot_facts(JsonText& json, const std::optional<RecordedSnapshot>& snapshot);

}  // namespace evershard
