// Inspect: any stored key and row as JSON, for `evershard inspect`: for people, not for programs to stand on.

#pragma once

#include <string>
#include <string_view>

#include "evershard/storage/journal/rows.hpp"

namespace evershard::storage {

/// Shape:  one line of JSON; numbers as numbers, terms and hashes as 16 hex digits, bytes that are no UTF-8 as
/// {"hex":...}. Errors: none: bytes that cannot be decoded give {"error":...,"hex":...}; an event that is damaged does
/// so in its place.
[[nodiscard]] std::string describe_key(Family family, std::string_view key);
[[nodiscard]] std::string describe_value(Family family, std::string_view key, std::string_view value);

}  // namespace evershard::storage
