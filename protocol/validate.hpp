// What is wrong with an append or an event on its own, before anything is looked up. What is wrong at any limits is
// found first, sizes after it: who checks against other limits beforehand (a client that does not know the store's)
// finds the same fault.

#pragma once

#include <cstddef>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

/// Type, tags, aggregates, sizes, format and time of one event.
///
/// Shape:  tags and `also` are sets: repetitions are harmless and count once.
/// Errors: invalid_argument, too_large
[[nodiscard]] Result<void> check(const Event& event, const Limits& limits);

/// A snapshot's aggregate, size, format and time to live. Whether its version exists is the store's to say.
///
/// Errors: invalid_argument, too_large
[[nodiscard]] Result<void> check(const Snapshot& snapshot, const Limits& limits);

/// Everything that can be said of an append without looking at the store; one that passes can be encoded and stored.
///
/// Shape:  at least one event, no event id twice; at most one expectation an aggregate (also of one it does not write
///         to); at most one snapshot an aggregate, of those it writes to; the command's aggregate is one of those too.
/// Errors: what the builder kept; invalid_argument, invalid_query, too_large
[[nodiscard]] Result<void> check(const Append& append, const Limits& limits);

/// Whether the limits themselves can be used: none is 0, none beyond Limits::most().
///
/// Errors: invalid_argument
[[nodiscard]] Result<void> check(const Limits& limits);

/// Sorts tags and `also`, and keeps each once: the form in which events are stored and compared.
void normalise(Event& event);

/// What an event, a snapshot, an append counts for, against `append_bytes_max` and in queues: every variable part, and
/// 16 bytes an event for its id.
[[nodiscard]] std::size_t bytes_of(const Event& event);
[[nodiscard]] std::size_t bytes_of(const Snapshot& snapshot);
[[nodiscard]] std::size_t bytes_of(const Append& append);

}  // namespace evershard
