// Bytes as hex: for errors and for `evershard inspect`.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace evershard::storage {

/// `00ff1a`; what is longer than `bytes_max` is cut with `...`.
[[nodiscard]] std::string hex(std::string_view bytes, std::size_t bytes_max = std::string_view::npos);

}  // namespace evershard::storage
