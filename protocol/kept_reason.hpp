// Why an event was rejected or parked, as a consumer group keeps it.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace evershard {

inline constexpr std::size_t reason_bytes_max = 500;
/// Whole characters, and no more than is kept; what is no text is shown as such, since whoever says it may have it from
/// anywhere (an exception's what()).
[[nodiscard]] std::string kept_reason(std::string_view reason);

}  // namespace evershard
