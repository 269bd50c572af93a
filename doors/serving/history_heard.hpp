// Whether who calls may go on at this server, by what other servers told it before: of which fork, by whose order.

#pragma once

#include <string>
#include <string_view>

#include "evershard/protocol/result.hpp"

namespace evershard::serving {

/// What every answer names, and a caller may say again: metadata of gRPC, headers of HTTP.
inline constexpr std::string_view fork_name = "evershard-fork";
inline constexpr std::string_view led_name = "evershard-led";  ///< sharding::text_of

/// `said_fork`, `said_led`: of the caller; empty: it says nothing. `own_led`: absent: the store is one process.
/// Errors: invalid_argument: another fork, or no leaderships; fenced, unavailable: sharding::check_heard
[[nodiscard]] Result<void> goes_on(std::string_view said_fork, std::string_view said_led, std::string_view own_fork,
                                   const std::string* own_led);

}  // namespace evershard::serving
