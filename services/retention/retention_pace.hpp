// Pace: how far an operation of retention is, whether it is to stop, and how fast it may go.

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "evershard/services/retention/store_retention.hpp"
#include "evershard/storage/journal/record_rewrite.hpp"
#include "evershard/storage/progress.hpp"

namespace evershard::cluster {

/// While it is there, a write that waits asks it too.
struct StoreRetention::Pace {
  Pace(RetentionWriter& asks, const Progress& told, std::uint64_t most = 0)
      : writer(asks), progress(told), bytes_per_second(most) {
    writer.while_waiting([this] { return storage::report(progress, reached, of); });
  }
  Pace(const Pace&) = delete;
  ~Pace() { writer.while_waiting({}); }

  RetentionWriter& writer;
  const Progress& progress;
  std::uint64_t bytes_per_second = 0;
  std::uint64_t reached = 0, of = 0;  ///< as it was told last
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  std::uint64_t bytes = 0;
  /// While a policy goes over aggregates: how many aggregates were looked at so far. Progress then tells this number,
  /// not how far the work is within one aggregate. How many aggregates there are is not known.
  std::optional<std::uint64_t> aggregates{};

  /// Of a dry run: what is left of each record so far. Another's events in it are taken from that: it is one record.
  std::map<std::pair<ShardId, ShardOffset>, std::uint64_t> left_of_record{};

  Result<void> report(std::uint64_t done, std::uint64_t total) {
    reached = aggregates.value_or(done);
    of = aggregates ? 0 : total;
    return storage::report(progress, reached, of);
  }

  /// As if these were written: each record counts once, however many operations of the run take something out of it.
  storage::RewriteFigures counted_once(const std::vector<storage::RecordRewrite>& records, std::uint64_t events) {
    storage::RewriteFigures figures;
    figures.events = events;
    for (const auto& record : records) {
      const auto [known, first] = left_of_record.try_emplace({record.shard, record.record}, record.bytes.size());
      if (first) {
        ++figures.records;
        figures.bytes_before += record.bytes_before;
        figures.bytes_after += record.bytes.size();
        continue;
      }
      const auto less = std::min<std::uint64_t>(
          known->second, record.bytes_before - std::min<std::uint64_t>(record.bytes_before, record.bytes.size()));
      known->second -= less;
      figures.bytes_after -= less;  // of what it was counted with: the sum of all of them is right
    }
    return figures;
  }

  /// After `more` bytes: waits until they were due; asks meanwhile whether it is to go on.
  Result<void> passed(std::uint64_t more, std::uint64_t done, std::uint64_t total) {
    bytes += more;
    EVERSHARD_TRY(report(done, total));
    if (bytes_per_second == 0) return {};
    const auto due = begin + std::chrono::microseconds(static_cast<std::int64_t>(
                                 1e6 * static_cast<double>(bytes) / static_cast<double>(bytes_per_second)));
    for (auto now = std::chrono::steady_clock::now(); now < due; now = std::chrono::steady_clock::now()) {
      std::this_thread::sleep_for(
          std::min<std::chrono::steady_clock::duration>(due - now, std::chrono::milliseconds(50)));
      EVERSHARD_TRY(report(done, total));
    }
    return {};
  }
};

}  // namespace evershard::cluster
