// Percent encoding, as in addresses (RFC 3986).

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace evershard {

/// All but letters, digits and `-_.~`.
[[nodiscard]] std::string percent_encoded(std::string_view text);
/// Absent: a % without two hexadecimal digits.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_space);

}  // namespace evershard
