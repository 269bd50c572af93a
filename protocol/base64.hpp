// Base64: bytes that are no JSON, inside JSON. RFC 4648, section 4.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace evershard {

[[nodiscard]] std::string to_base64(std::string_view bytes);
/// Strict: padded, no white space, no bits left over: one text for the same bytes.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace evershard
