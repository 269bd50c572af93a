// JSON on several lines, for people; every token as it was.

#pragma once

#include <string>
#include <string_view>

namespace evershard {

/// `json` is JSON on one line. No line break at the end.
[[nodiscard]] std::string indented(std::string_view json);

}  // namespace evershard
