// Timers of an aggregate: what sets, cancels and fires them. Events of a type of their own, in the aggregate's stream.

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evershard/protocol/aggregate_id.hpp"
#include "evershard/protocol/event.hpp"
#include "evershard/protocol/numbers.hpp"
#include "evershard/protocol/result.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard {

inline constexpr std::string_view timers_changed_type = "$TimersChanged";
/// The command by which a timer fires. Only the store sends it.
inline constexpr std::string_view fire_timer_type = "$FireTimer";
inline constexpr std::size_t timer_name_bytes_max = 128;
inline constexpr std::size_t timers_changed_max = 64;  ///< by one command

/// A timer of one aggregate, as short as it can be told from all others.
struct TimerKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const TimerKey&, const TimerKey&) = default;
};
[[nodiscard]] TimerKey timer_key(const AggregateId& aggregate, std::string_view name);
/// Every event that changes the timer has it.
[[nodiscard]] Tag timer_tag(const TimerKey& key);

/// When a timer fires, again and again: as Calendar::parse reads it.
struct TimerCalendar {
  std::string times{};
  std::string zone{};
  friend bool operator==(const TimerCalendar&, const TimerCalendar&) = default;
};

/// A command that the aggregate is to be sent.
struct TimerSet {
  std::string name{};
  std::chrono::microseconds after{0};  ///< behind the time of the event that sets it
  std::optional<Timestamp> at{};       ///< in its place
  std::string command{};               ///< logical name
  std::string payload{};
  std::chrono::microseconds every{0};       ///< 0: it fires once, or by calendar
  std::optional<TimerCalendar> calendar{};  ///< first `at`, or at its first time behind that of the event that sets it
  [[nodiscard]] bool repeats() const { return every.count() != 0 || calendar.has_value(); }
  friend bool operator==(const TimerSet&, const TimerSet&) = default;
};
/// A calendar that cannot be read here is due at once: whoever fires it is told why by next_due().
[[nodiscard]] Timestamp due_of(const TimerSet& timer, Timestamp set);
/// Of one that repeats: the first of its times behind `now`; those that were missed are not made up for.
/// Errors: invalid_argument: its calendar cannot be read here, as where the machine does not know its time zone
[[nodiscard]] Result<Timestamp> next_due(const TimerSet& timer, Timestamp due, Timestamp now);

/// The payload of an event that changes timers: cancelled and fired ones go, then others are set.
struct TimersChanged {
  std::vector<TimerSet> set{};
  std::vector<std::string> cancelled{};
  std::string fired{};  ///< the timer whose command the append is of; empty: none
  [[nodiscard]] bool empty() const { return set.empty() && cancelled.empty() && fired.empty(); }
  /// Each once.
  [[nodiscard]] std::vector<std::string> names() const;
  friend bool operator==(const TimersChanged&, const TimersChanged&) = default;
};
/// Errors: invalid_argument: a name is empty or malformed, set twice, or set and cancelled; a time is before 1970, or
/// out of range; a calendar cannot be read; too_large: names, their number
[[nodiscard]] Result<void> check(const TimersChanged& changed);
[[nodiscard]] std::string encode(const TimersChanged& changed);
/// Errors: corruption
[[nodiscard]] Result<TimersChanged> decode_timers_changed(std::string_view bytes);

struct FireTimer {
  TimerSet timer;
  GlobalPosition set_at;  ///< of the event that set it
  Tag tag;
  std::optional<Timestamp> next{};  ///< of one that repeats
  std::string subject{};            ///< whose the event is that set it
  friend bool operator==(const FireTimer&, const FireTimer&) = default;
};
[[nodiscard]] std::string encode(const FireTimer& fire);
/// Errors: corruption
[[nodiscard]] Result<FireTimer> decode_fire_timer(std::string_view bytes);

}  // namespace evershard

template <>
struct std::hash<evershard::TimerKey> {
  std::size_t operator()(const evershard::TimerKey& key) const noexcept { return key.low; }
};
