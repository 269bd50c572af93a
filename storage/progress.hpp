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

/// A part of long work, from `begin` to `end` of a hundred. Shape: `progress` outlives it.
inline Progress part_of(const Progress& progress, std::uint64_t begin, std::uint64_t end) {
  if (!progress) return {};
  return [&progress, begin, end](std::uint64_t done, std::uint64_t total) {
    auto share = total == 0 ? 1.0 : static_cast<double>(done) / static_cast<double>(total);
    return progress(begin + static_cast<std::uint64_t>(share * static_cast<double>(end - begin)), 100);
  };
}

}  // namespace evershard::storage
