// Calendar: times as crontab(5) writes them, on the clocks of a time zone.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>

#include "evershard/protocol/result.hpp"
#include "evershard/protocol/timestamp.hpp"

namespace evershard {

inline constexpr std::size_t calendar_bytes_max = 256;

/// Five fields, between blanks: minute (0-59), hour (0-23), day of the month (1-31), month (1-12 or JAN-DEC), day of
/// the week (0-7 or SUN-SAT; 0 and 7 are Sunday). A field is a list, `1,15`, of values, ranges `9-17` and `*`; the
/// latter two may have a step, `*/5`. Or one of @hourly, @daily, @weekly, @monthly, @yearly. Where neither field of
/// days has a `*`, a day of either is one; else it must be one of both.
///
/// Where clocks are set forward or back, as Vixie's cron:
/// - of a calendar without `*` in minute and hour, a time that is skipped comes at the moment the clocks are set, and
/// one
///   that comes twice counts the first time;
/// - one with `*` there comes whenever the clocks show its times: not what is skipped, and twice what comes twice. So
///   `*/5 * * * *` and `0 * * * *` go on evenly.
///
/// Owner:  a value; any number of threads read it.
/// Source: the zone as the machine's tzdata has it when the program first asks for it.
class Calendar {
 public:
  /// `zone`: a name of IANA's database, as `Europe/Berlin`; `UTC` needs no database.
  /// Errors: invalid_argument: a field says what it must not, all of it says a day that never comes, the zone is
  /// unknown
  [[nodiscard]] static Result<Calendar> parse(std::string_view text, std::string_view zone);

  /// The first of its times behind `after`, on a whole minute of the zone's clocks or when they are set. Returns:
  /// nothing: none before Timestamp::last()
  /// Cost: some microseconds
  [[nodiscard]] std::optional<Timestamp> next(Timestamp after) const;

 private:
  struct Rules;
  explicit Calendar(std::shared_ptr<const Rules> rules) : rules_(std::move(rules)) {}

  std::shared_ptr<const Rules> rules_;
};

}  // namespace evershard
