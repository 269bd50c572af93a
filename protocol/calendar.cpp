#include "evershard/protocol/calendar.hpp"

#include <absl/time/civil_time.h>
#include <absl/time/time.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard {
namespace {

constexpr int minutes_a_day = 24 * 60;
constexpr int year_max = 10'000;  // clocks in the east show it while it is 9999 in UTC
constexpr std::size_t zone_bytes_max = 64;

constexpr std::array<std::string_view, 12> months{"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                  "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<std::string_view, 7> weekdays{"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"};
constexpr std::array<int, 13> days_most{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

/// What a field may say.
struct FieldRule {
  std::string_view name;
  int least;
  int most;
  std::span<const std::string_view> names;  ///< of the values from `least` on
};
constexpr std::array<FieldRule, 5> field_rules{{
    {"minute", 0, 59, {}},
    {"hour", 0, 23, {}},
    {"day of the month", 1, 31, {}},
    {"month", 1, 12, months},
    {"day of the week", 0, 7, weekdays},
}};

/// And what it says.
struct CalendarField {
  std::uint64_t values = 0;  ///< a bit each
  bool starred = false;
  [[nodiscard]] bool has(int value) const { return (values >> value & 1) != 0; }
};

constexpr std::array<std::array<std::string_view, 2>, 5> short_forms{{{"@hourly", "0 * * * *"},
                                                                      {"@daily", "0 0 * * *"},
                                                                      {"@weekly", "0 0 * * 0"},
                                                                      {"@monthly", "0 0 1 * *"},
                                                                      {"@yearly", "0 0 1 1 *"}}};

std::vector<std::string_view> split_at(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  for (;;) {
    const auto end = std::min(text.find_first_of(separators), text.size());
    parts.push_back(text.substr(0, end));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

bool is_same_word(std::string_view text, std::string_view upper) {
  return std::ranges::equal(text, upper,
                            [](char a, char b) { return std::toupper(static_cast<unsigned char>(a)) == b; });
}

std::optional<int> number_of(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || text.front() == '-') return std::nullopt;
  return number;
}

/// Reads one field. Errors: of invalid_argument, and which field it is.
class FieldReader {
 public:
  explicit FieldReader(const FieldRule& rule) : rule_(rule) {}

  Result<CalendarField> read(std::string_view text) {
    for (const auto item : split_at(text, ",")) EVERSHARD_TRY(add(item));
    if (rule_.most == 7 && field_.has(7)) field_.values |= 1;
    return field_;
  }

 private:
  Result<void> add(std::string_view item) {
    const auto parts = split_at(item, "/");
    if (parts.size() > 2) return refused(in_quotes(item) + " has two steps");
    int first = rule_.least;
    int last = rule_.most == 7 ? 6 : rule_.most;
    if (parts[0] == "*") {
      field_.starred = true;
    } else {
      const auto ends = split_at(parts[0], "-");
      if (ends.size() > 2) return refused(in_quotes(item) + " is no range");
      if (ends.size() == 1 && parts.size() == 2)
        return refused(in_quotes(item) + " has a step, and is neither * nor a range");
      const auto begin = value_of(ends.front());
      if (!begin) return refuse(begin.error());
      const auto end = value_of(ends.back());
      if (!end) return refuse(end.error());
      first = *begin;
      last = *end;
      if (rule_.most == 7 && last == 0 && first > 0) last = 7;  // FRI-SUN
      if (first > last) return refused(in_quotes(item) + " ends before it begins");
    }
    int step = 1;
    if (parts.size() == 2) {
      const auto given = number_of(parts[1]);
      if (!given || *given < 1 || *given > rule_.most)
        return refused("the step of " + in_quotes(item) + " is no number from 1 to " + std::to_string(rule_.most));
      step = *given;
    }
    for (int value = first; value <= last; value += step) field_.values |= std::uint64_t{1} << value;
    return {};
  }

  [[nodiscard]] Result<int> value_of(std::string_view text) const {
    const auto name = std::ranges::find_if(rule_.names, [&](std::string_view one) { return is_same_word(text, one); });
    if (name != rule_.names.end()) return rule_.least + static_cast<int>(name - rule_.names.begin());
    const auto number = number_of(text);
    if (number && *number >= rule_.least && *number <= rule_.most) return *number;
    return refused(
        in_quotes(text) + " is no number from " + std::to_string(rule_.least) + " to " + std::to_string(rule_.most) +
        (rule_.names.empty()
             ? ""
             : ", and none of " + std::string(rule_.names.front()) + " to " + std::string(rule_.names.back())));
  }

  [[nodiscard]] Refused refused(const std::string& why) const {
    return refuse(ErrorCode::invalid_argument, std::string(rule_.name) + ": " + why);
  }

  const FieldRule& rule_;
  CalendarField field_;
};

/// Whether it may be one of IANA's: others are files of the machine's, as `localtime` and `posix/...`, or mean
/// something to absl.
bool is_zone_name(std::string_view name) {
  const auto is_part = [](std::string_view part) {
    return !part.empty() && std::ranges::all_of(part, [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '-' || c == '+';
    });
  };
  return name.size() <= zone_bytes_max && std::ranges::all_of(split_at(name, "/"), is_part) && name.front() >= 'A' &&
         name.front() <= 'Z';
}

// absl keeps every name that it did not find, for good: it is not asked for those.
bool is_in_database(std::string_view name) {
  const char* const given = std::getenv("TZDIR");
  std::error_code error;
  return std::filesystem::is_regular_file(
      std::filesystem::path(given != nullptr && *given != '\0' ? given : "/usr/share/zoneinfo") / name, error);
}

Result<absl::TimeZone> zone_of(std::string_view name) {
  if (name == "UTC") return absl::UTCTimeZone();
  const auto unknown = [&](const std::string& why) {
    return refuse(ErrorCode::invalid_argument, "time zone " + in_quotes(name) + " " + why);
  };
  if (!is_zone_name(name)) return unknown("is not written as Europe/Berlin and UTC are");
  absl::TimeZone zone;
  if (!is_in_database(name) || !absl::LoadTimeZone(std::string(name), &zone))
    return unknown("is not known to this machine's tzdata");
  return zone;
}

}  // namespace

struct Calendar::Rules {
  CalendarField minute, hour, day, month, weekday;
  absl::TimeZone zone;

  [[nodiscard]] bool is_day(absl::CivilDay of) const {
    const bool of_month = day.has(of.day());
    const bool of_week = weekday.has((static_cast<int>(absl::GetWeekday(of)) + 1) % 7);  // absl's begins with Monday
    return day.starred || weekday.starred ? of_month && of_week : of_month || of_week;
  }
  /// Whether there is a year in which one comes.
  [[nodiscard]] bool has_days() const {
    if (!day.starred && !weekday.starred) return true;
    for (int m = 1; m <= 12; ++m)
      if (month.has(m) && std::countr_zero(day.values) <= days_most[static_cast<std::size_t>(m)]) return true;
    return false;
  }
  /// The first day of the calendar, from `first` on. Returns: nothing: none by year_max
  [[nodiscard]] std::optional<absl::CivilDay> day_from(absl::CivilDay first) const {
    while (first.year() <= year_max) {
      if (!month.has(first.month()))
        first = absl::CivilDay(absl::CivilMonth(first) + 1);
      else if (!is_day(first))
        ++first;
      else
        return first;
    }
    return std::nullopt;
  }
  /// The same, of the minutes of a day. Returns: minutes_a_day: none
  [[nodiscard]] int minute_from(int first) const {
    for (int h = first / 60; h != 24; ++h) {
      if (!hour.has(h)) continue;
      const auto from = minute.values >> (h == first / 60 ? first % 60 : 0) << (h == first / 60 ? first % 60 : 0);
      if (from != 0) return h * 60 + std::countr_zero(from);
    }
    return minutes_a_day;
  }

  /// Times are decided on the clock's face: as many as are skipped come together, and what comes twice counts once.
  [[nodiscard]] std::optional<absl::Time> next_on_the_face(absl::Time after) const {
    auto face = absl::ToCivilMinute(after, zone) + 1;
    for (;;) {
      const auto on = day_from(absl::CivilDay(face));
      if (!on) return std::nullopt;
      const int of_day = minute_from(*on == absl::CivilDay(face) ? face.hour() * 60 + face.minute() : 0);
      face = absl::CivilMinute(*on) + of_day;
      if (of_day == minutes_a_day) continue;
      // Once it comes twice, the face shows it again behind `after`: it has been.
      if (const auto time = absl::FromCivil(face, zone); time > after) return time;
      ++face;
    }
  }

  /// Time goes on evenly, and is asked what the clocks show.
  [[nodiscard]] std::optional<absl::Time> next_by_time(absl::Time after) const {
    auto time = absl::FromUnixSeconds(absl::ToUnixSeconds(after) + 1);
    for (;;) {
      const auto shown = zone.At(time);
      if (const int second = shown.cs.second(); second != 0) {
        time += absl::Seconds(60 - second);
        continue;
      }
      const absl::CivilDay today(shown.cs);
      const auto on = day_from(today);
      if (!on) return std::nullopt;
      if (*on != today) {
        // Set back soon after midnight, the clocks show the day before again: St John's did so until 2011.
        const auto before = zone.At(absl::CivilSecond(today) - 1);
        if (before.kind == absl::TimeZone::TimeInfo::REPEATED && before.trans > time && day_from(today - 1) != on) {
          time = before.trans;
          continue;
        }
        const auto midnight = zone.At(absl::CivilSecond(*on));  // may itself come twice
        time = midnight.kind == absl::TimeZone::TimeInfo::SKIPPED ? midnight.trans
               : midnight.pre > time                              ? midnight.pre
                                                                  : midnight.post;
        continue;
      }
      const int now = shown.cs.hour() * 60 + shown.cs.minute();
      const int next = minute_from(now);
      if (next == now) return time;
      // No zone of the database ever set its clocks twice within three days.
      const auto there = time + absl::Minutes(next - now);
      time = zone.At(there).offset == shown.offset ? there : time + absl::Minutes(1);
    }
  }
};

Result<Calendar> Calendar::parse(std::string_view text, std::string_view zone) {
  const auto refused = [&](const std::string& why) {
    return refuse(ErrorCode::invalid_argument, "calendar " + in_quotes(text) + ": " + why);
  };
  if (text.size() > calendar_bytes_max)
    return refused("it has " + std::to_string(text.size()) + " bytes, at most " + std::to_string(calendar_bytes_max) +
                   " are allowed");
  auto fields = split_at(text, " \t");
  std::erase(fields, "");
  if (fields.size() == 1 && fields[0].front() == '@') {
    const auto* const found = std::ranges::find_if(short_forms, [&](const auto& form) { return form[0] == fields[0]; });
    if (found == short_forms.end())
      return refused("there are @hourly, @daily, @weekly, @monthly and @yearly, and five fields");
    fields = split_at((*found)[1], " ");
  }
  if (fields.size() != field_rules.size())
    return refused("it has " + std::to_string(fields.size()) +
                   " fields; the five are minute, hour, day of the month, month, day of the week");
  auto rules = std::make_shared<Rules>();
  const std::array into{&rules->minute, &rules->hour, &rules->day, &rules->month, &rules->weekday};
  for (std::size_t n = 0; n != fields.size(); ++n) {
    const auto field = FieldReader(field_rules[n]).read(fields[n]);
    if (!field) return refused(field.error().what);
    *into[n] = *field;
  }
  if (!rules->has_days()) return refused("it never comes: none of its months has such a day");
  const auto known = zone_of(zone);
  if (!known) return refuse(known.error());
  rules->zone = *known;
  return Calendar(std::move(rules));
}

std::optional<Timestamp> Calendar::next(Timestamp after) const {
  if (after >= Timestamp::last()) return std::nullopt;
  const auto from = absl::FromUnixMicros(std::max(after, Timestamp::first()).micros);
  const auto next =
      rules_->minute.starred || rules_->hour.starred ? rules_->next_by_time(from) : rules_->next_on_the_face(from);
  if (!next) return std::nullopt;
  const Timestamp time{absl::ToUnixMicros(*next)};
  return time > Timestamp::last() ? std::nullopt : std::optional(time);
}

}  // namespace evershard
