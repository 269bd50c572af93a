// Progress: how far long work is, and whether it should go on.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "evershard/protocol/result.hpp"

namespace evershard::storage {

/// In the work's own unit, now and then; false stops it at the next safe point (`cancelled`). Empty: nobody asks.
using Progress = std::function<bool(std::uint64_t done, std::uint64_t total)>;

/// Errors: cancelled
inline Result<void> report(const Progress& progress, std::uint64_t done, std::uint64_t total) {
  if (!progress || progress(done, total)) return {};
  return refuse(ErrorCode::cancelled, "stopped after " + std::to_string(done) + " of " + std::to_string(total));
}

}  // namespace evershard::storage
