// Whether bytes are UTF-8.

#pragma once

#include <string_view>

namespace evershard {

/// Strict: no overlong forms, no surrogates, nothing above U+10FFFF, nothing cut short. NUL is UTF-8.
/// Source: Unicode 15, table 3-7.
[[nodiscard]] bool is_utf8(std::string_view bytes);

}  // namespace evershard
