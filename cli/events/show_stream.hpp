// Showing what a read gives, event by event, until the end, Ctrl-C, or a reader that has seen enough.

#pragma once

#include "evershard/api/event_stream.hpp"
#include "evershard/api/json/payload_types.hpp"
#include "evershard/cli/command.hpp"

namespace evershard::cli {

Outcome show_stream(const Invocation& invocation, EventStream stream, const PayloadTypes& types);
/// An aggregate's events; one that does not exist is not_found, never an empty list.
Outcome show_aggregate(const Invocation& invocation, EventStore& store, const AggregateId& aggregate,
                       const PayloadTypes& types);
/// --skip-removed: stubs are left out, and standard error says how many.
void add_removed_flag(Options& options);
[[nodiscard]] bool skips(const Invocation& invocation, const RecordedEvent& event);
void say_skipped(std::uint64_t events);
/// --from, --limit, --backwards, --up-to.
void add_stream_flags(Options& options);

}  // namespace evershard::cli
