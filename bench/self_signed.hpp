// self_signed(): a certificate for loopback, and its key, made for a benchmark.

#pragma once

#include <filesystem>

#include "evershard/protocol/result.hpp"

namespace evershard::bench {

/// Writes `certificate.pem`, which is its own authority, and `key.pem` into a folder. Errors: io
[[nodiscard]] Result<void> self_signed(const std::filesystem::path& folder);

}  // namespace evershard::bench
