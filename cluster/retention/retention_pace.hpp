// Pace: how far an operation of retention is, whether it is to stop, and how fast it may go.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>

#include "evershard/cluster/retention/store_retention.hpp"
#include "evershard/storage/progress.hpp"

namespace evershard::cluster {

struct StoreRetention::Pace {
  const Progress& progress;
  std::uint64_t bytes_per_second = 0;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  std::uint64_t bytes = 0;
  /// While a policy goes over aggregates: looked at so far, which is what is told then, not how far it is within each. How many there are is not known.
  std::optional<std::uint64_t> aggregates{};

  Result<void> report(std::uint64_t done, std::uint64_t total) const { return aggregates ? storage::report(progress, *aggregates, 0) : storage::report(progress, done, total); }

  /// After `more` bytes: waits until they were due; asks meanwhile whether it is to go on.
  Result<void> passed(std::uint64_t more, std::uint64_t done, std::uint64_t total) {
    bytes += more;
    EVERSHARD_TRY(report(done, total));
    if (bytes_per_second == 0) return {};
    const auto due = begin + std::chrono::microseconds(static_cast<std::int64_t>(1e6 * static_cast<double>(bytes) / static_cast<double>(bytes_per_second)));
    for (auto now = std::chrono::steady_clock::now(); now < due; now = std::chrono::steady_clock::now()) {
      std::this_thread::sleep_for(std::min<std::chrono::steady_clock::duration>(due - now, std::chrono::milliseconds(50)));
      EVERSHARD_TRY(report(done, total));
    }
    return {};
  }
};

}  // namespace evershard::cluster
