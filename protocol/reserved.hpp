// Names that begin with `$` are the store's own: definitions, and what belongs to them.

#pragma once

#include <string>
#include <string_view>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/snapshot.hpp"

namespace evershard {

inline constexpr char reserved_mark = '$';

[[nodiscard]] inline bool is_reserved(std::string_view name) { return !name.empty() && name.front() == reserved_mark; }

/// What a user may not write: events of reserved aggregates or types, their snapshots. Errors: invalid_argument,
/// "reserved"
[[nodiscard]] Result<void> check_reserved(const Append& append);
[[nodiscard]] Result<void> check_reserved(const Snapshot& snapshot);

}  // namespace evershard
