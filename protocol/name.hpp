// Names: the strings that keys and indexes are made of (aggregate types and values, event types, tags).

#pragma once

#include <cstddef>
#include <string_view>

#include "evershard/protocol/result.hpp"

namespace evershard {

/// Not empty, at most `bytes_max` bytes, UTF-8, no NUL.
///
/// Shape:  `role` says in the error's sentence what the name is of: "event type", "tag".
/// Errors: too_large; `malformed` for everything else
[[nodiscard]] Result<void> check_name(std::string_view role, std::string_view name, std::size_t bytes_max,
                                      ErrorCode malformed = ErrorCode::invalid_argument);

}  // namespace evershard
