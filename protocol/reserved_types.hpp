// The event types of the store's own, by name: what a definition may ask for beside the users'.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/query.hpp"
#include "evershard/protocol/result.hpp"

namespace evershard {

/// In order. What copies and sinks write (`$Copy..`, `$Sink..`) is their programs' to name, and not among them.
[[nodiscard]] const std::vector<std::string>& reserved_event_types();

/// Whether what is asked for can come: a name that begins with `$` is one that the store, a copy or a sink writes, or
/// that KurrentDB's clients give a meaning (`$metadata`, `$streamDeleted`, `$>`). A
/// definition that is stored is not asked again: it may be a newer program's.
///
/// Errors: invalid_argument, with the nearest names that there are
[[nodiscard]] Result<void> check_known_type(std::string_view type);
[[nodiscard]] Result<void> check_known_types(const Query& query);

}  // namespace evershard
