// How deeply JSON is nested, before it is read: what is parsed without recursion is copied and written with it.

#pragma once

#include <cstddef>
#include <string_view>

namespace evershard::actors {

inline constexpr std::size_t json_depth_max = 512;

/// Brackets outside of texts; of what is no JSON anything.
[[nodiscard]] inline bool is_nested_too_deeply(std::string_view json) {
  std::size_t depth = 0;
  bool text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (text) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        text = false;
    } else if (c == '"') {
      text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > json_depth_max) return true;
    } else if ((c == ']' || c == '}') && depth != 0) {
      --depth;
    }
  }
  return false;
}

}  // namespace evershard::actors
