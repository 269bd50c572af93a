// ScheduledAppends: appends that are made at a later time, once, whoever runs by then.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "evershard/protocol/append.hpp"
#include "evershard/protocol/error.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/scheduled.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard {

/// What `after` may be where people write it: more than there is until the year 9999, and what microseconds hold.
inline constexpr std::chrono::milliseconds scheduled_after_most = std::chrono::days(3'000'000);

/// Exactly one of `due` and `after`.
struct ScheduleOrder {
  std::string id{};  ///< names it, for retries and later; at most 200 bytes; empty: one is made
  std::optional<Timestamp> due{};
  std::optional<std::chrono::microseconds> after{};  ///< from now, by the clock of the process that takes the order
  Append append{};  ///< events, expectations, conditions: checked when it is made. No more: no request id, no snapshots
  bool replace = false;  ///< one of this id that still waits is replaced
};

struct ScheduledAppend {
  std::string id{};
  ScheduledState state = ScheduledState::pending;
  Timestamp due{};
  Timestamp scheduled_at{};
  std::optional<Timestamp> settled_at{};  ///< absent: pending
  std::optional<Append> append{};         ///< absent: its subject was erased
  GlobalPosition position{};              ///< of the event that scheduled it
  GlobalPosition first_position{};        ///< appended: where its events stand
  GlobalPosition last_position{};
  std::optional<Error> refusal{};  ///< refused
  bool duplicate = false;          ///< of schedule(): it was scheduled already
  friend bool operator==(const ScheduledAppend&, const ScheduledAppend&) = default;
};

struct ScheduledListing {
  bool all = false;                          ///< in order of id; else those that wait, in order of when they are due
  std::string after{};                       ///< ScheduledPage::next of the page before
  std::size_t limit = 100;                   ///< 1 to 1,000; a page of large ones has fewer
  std::optional<GlobalPosition> at_least{};  ///< all that is scheduled up to there is listed; absent: up to the head
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
};

struct ScheduledPage {
  std::vector<ScheduledAppend> scheduled{};
  std::optional<std::string> next{};  ///< absent: this was the last one
  friend bool operator==(const ScheduledPage&, const ScheduledPage&) = default;
};

/// From any thread. An append is made by a process that has its store open, never before its time by that one's clock,
/// and as soon as there is one where it came due while there was none. What it stores, and that it was made, are
/// durable together.
class ScheduledAppends {
 public:
  virtual ~ScheduledAppends() = default;

  /// The same id and append again is answered as the first time (`duplicate`), whatever became of it.
  ///
  /// Errors: version_conflict: another append has that id, or, with `replace`, it does not wait any more;
  ///         invalid_argument, too_large, and those of EventStore::append
  /// Durable: on return.
  [[nodiscard]] virtual Result<ScheduledAppend> schedule(ScheduleOrder order) = 0;
  /// The append is not made any more. Where it was cancelled before, the answer is the same again.
  /// Errors: not_found; condition_failed: it was made, or refused; those of EventStore::append
  [[nodiscard]] virtual Result<ScheduledAppend> cancel(const std::string& id) = 0;
  /// Errors: not_found
  [[nodiscard]] virtual Result<ScheduledAppend> get(const std::string& id) = 0;
  /// Errors: invalid_argument: limit, after; timeout
  [[nodiscard]] virtual Result<ScheduledPage> list(ScheduledListing listing) = 0;
};

}  // namespace evershard
