// Scheduled appends as they are stored: `$schedule-ID` has an event that schedules, perhaps others that replace it, and
// one that says what came of it.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/append.hpp"
#include "evershard/protocol/error.hpp"
#include "evershard/protocol/limits.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard {

inline constexpr std::string_view schedule_type = "$schedule";  ///< of aggregates
inline constexpr std::string_view append_scheduled_type = "$AppendScheduled";
inline constexpr std::string_view schedule_settled_type = "$ScheduleSettled";
inline constexpr std::size_t schedule_id_bytes_max = 200;

enum class ScheduledState : std::uint8_t { pending = 1, appended = 2, refused = 3, cancelled = 4 };
/// `pending` etc., as in documents and JSON.
[[nodiscard]] std::string_view name_of(ScheduledState state);

/// What an event schedules.
struct ScheduledAt {
  Timestamp due;
  Append append;
  friend bool operator==(const ScheduledAt&, const ScheduledAt&) = default;
};
/// What an event says came of it: not `pending`.
struct ScheduleSettled {
  ScheduledState state = ScheduledState::appended;
  std::optional<Error> refusal{};
  friend bool operator==(const ScheduleSettled&, const ScheduleSettled&) = default;
};

/// `$schedule-ID`. Errors: invalid_argument, too_large: the id
[[nodiscard]] Result<AggregateId> schedule_of(std::string_view id);

/// Whether it can be stored later: it has events, expectations and conditions and nothing else, none of them the
/// store's own, its events are at most one subject's, and there is room for one more event in it.
/// Errors: invalid_argument, too_large, and those of check(Append)
[[nodiscard]] Result<void> check(const ScheduledAt& scheduled, const Limits& limits);
/// Of a checked one: whose data it is; empty: nobody's.
[[nodiscard]] std::string subject_of(const Append& append);

[[nodiscard]] std::string encode(const ScheduledAt& scheduled);
[[nodiscard]] std::string encode(const ScheduleSettled& settled);
/// Errors: corruption
[[nodiscard]] Result<ScheduledAt> decode_scheduled(std::string_view bytes);
[[nodiscard]] Result<ScheduleSettled> decode_settled(std::string_view bytes);

}  // namespace evershard
