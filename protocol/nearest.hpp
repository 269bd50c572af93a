// nearest: the name that was probably meant.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace evershard {

/// The name among `names` that was probably meant; empty: none is near.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& names);

/// The names that are equally near, at most `most`; empty: none is near.
[[nodiscard]] std::vector<std::string> near_ones(std::string_view word, const std::vector<std::string>& names,
                                                 std::size_t most);

/// The `most` names that are nearest, the nearest first.
[[nodiscard]] std::vector<std::string> nearest_first(std::string_view word, std::vector<std::string> names,
                                                     std::size_t most);

}  // namespace evershard
