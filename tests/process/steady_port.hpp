// A port that a process can listen at, end, and listen at again.

#pragma once

#include <cstdint>

namespace evershard::testing {

/// Free now, and none that the system gives to connections: while its process is away, nobody else's takes it.
[[nodiscard]] std::uint16_t steady_port();

}  // namespace evershard::testing
