// Foreign bytes in a sentence: quoted, escaped, cut.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace evershard {

/// `"order-1"`; what is not printable UTF-8 as `\xNN`, what is longer than `bytes_max` cut with `...`.
/// So an error's text is one line of UTF-8, whatever it speaks of.
[[nodiscard]] std::string in_quotes(std::string_view bytes, std::size_t bytes_max = 80);

}  // namespace evershard
