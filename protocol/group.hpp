// GroupSettings: how a consumer group gives its events out: order, retries, leases, bounds.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>

#include "evershard/protocol/result.hpp"

namespace evershard {

enum class GroupOrder : std::uint8_t {
  aggregate = 0,  ///< one aggregate's events in order, one at a time; aggregates side by side, over all workers
  global = 1,     ///< all events in order, one at a time, to one worker; another one takes over when it goes
};

/// What becomes of an aggregate's later events when one of them is parked.
enum class AfterParked : std::uint8_t {
  go_on = 0,  ///< they are given out as if nothing had been
  block = 1,  ///< they are parked behind it, in order; replaying it replays them too
};

/// As in documents, JSON and flags: `aggregate`, `global`; `go_on`, `block`.
[[nodiscard]] std::string_view name_of(GroupOrder order);
[[nodiscard]] std::string_view name_of(AfterParked after);
[[nodiscard]] std::optional<GroupOrder> group_order_of(std::string_view name);
[[nodiscard]] std::optional<AfterParked> after_parked_of(std::string_view name);

struct GroupSettings {
  GroupOrder order = GroupOrder::aggregate;
  AfterParked after_parked = AfterParked::go_on;
  std::uint32_t attempts_max = 3;                                   ///< then an event is parked; from 1 to 1,000
  std::chrono::milliseconds retry_first = std::chrono::minutes(1);  ///< before the second attempt; up to 7 days
  std::uint32_t retry_factor = 5;  ///< each further one waits so many times as long; from 1 to 100
  std::chrono::milliseconds retry_most = std::chrono::hours(24);  ///< and never longer; up to 7 days
  std::uint32_t retry_jitter_percent = 20;                        ///< of each wait, more or less; up to 100
  std::chrono::milliseconds lease =
      std::chrono::seconds(30);  ///< how long an event may stay with a worker that says nothing; 100 ms to 1 day
  std::uint32_t window = 1'000;  ///< events that are read and not settled; then nothing is read on; from 1 to 10,000
  std::uint32_t parked_max = 10'000;  ///< then nothing more is parked; from 1 to 10,000

  /// Errors: invalid_argument, naming the field and its range.
  [[nodiscard]] Result<void> check() const;
  friend bool operator==(const GroupSettings&, const GroupSettings&) = default;
};

/// What of the settings is to be another; absent: it stays as it is, also where somebody else changes it at the same
/// time.
struct GroupSettingsChange {
  std::optional<GroupOrder> order{};
  std::optional<AfterParked> after_parked{};
  std::optional<std::uint32_t> attempts_max{};
  std::optional<std::chrono::milliseconds> retry_first{};
  std::optional<std::uint32_t> retry_factor{};
  std::optional<std::chrono::milliseconds> retry_most{};
  std::optional<std::uint32_t> retry_jitter_percent{};
  std::optional<std::chrono::milliseconds> lease{};
  std::optional<std::uint32_t> window{};
  std::optional<std::uint32_t> parked_max{};

  void apply(GroupSettings& settings) const;
  /// Errors: as of GroupSettings
  [[nodiscard]] Result<void> check() const;
};

}  // namespace evershard
