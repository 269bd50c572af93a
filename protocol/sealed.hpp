// What sealed payloads begin with: known here, so that who has no keys can tell what claims to be one.

#pragma once

#include <string_view>

#include "evershard/protocol/event.hpp"

namespace evershard {

/// Source: docs/internals/on-disk-format.md, "Sealed payloads"
inline constexpr std::string_view sealed_mark = "ESK1";

/// Whether who has keys would try to open it. Who has none must not store it as it comes: anybody could write what
/// nobody can read later.
[[nodiscard]] constexpr bool looks_sealed(PayloadFormat format, std::string_view payload) {
  return format == PayloadFormat::encrypted && payload.starts_with(sealed_mark);
}

}  // namespace evershard
