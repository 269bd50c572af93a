// nearest: the name that was probably meant.

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace evershard {

/// The name among `names` that was probably meant; empty: none is near.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& names);

}  // namespace evershard
