// How far sources were tracked: what the newest event of each says.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "evershard/api/event_store.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard::umadb {

/// The place of the newest event that a source was tracked with, and how far. Absent: it never was.
/// Cost: a read of one event.
[[nodiscard]] Result<std::optional<std::pair<GlobalPosition, std::uint64_t>>> newest_tracked(EventStore& store,
                                                                                             const std::string& source);

}  // namespace evershard::umadb
