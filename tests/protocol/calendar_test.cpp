// When a calendar comes: examples, clocks that are set, and against a clock that is looked at minute by minute, with
// the C library's zones.

#include "evershard/protocol/calendar.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdlib>
#include <ctime>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace evershard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Timestamp utc(const std::string& text) {
  const auto time = Timestamp::parse(text);
  EXPECT_TRUE(time) << text;
  return time.value_or(Timestamp{});
}

/// The times that follow, without seconds.
std::vector<std::string> times(const std::string& text, const std::string& zone, const std::string& after,
                               std::size_t count) {
  const auto calendar = Calendar::parse(text, zone);
  EXPECT_TRUE(calendar) << calendar.error().what;
  std::vector<std::string> found;
  for (auto time = utc(after); calendar && found.size() != count;) {
    const auto next = calendar->next(time);
    if (!next) break;
    EXPECT_GT(*next, time);
    time = *next;
    EXPECT_EQ(time.micros % 1'000'000, 0);
    found.push_back(time.text().substr(0, 16));
  }
  return found;
}

std::string why(const std::string& text, const std::string& zone = "UTC") {
  const auto calendar = Calendar::parse(text, zone);
  if (calendar) return "fine";
  EXPECT_EQ(calendar.error().code, ErrorCode::invalid_argument);
  return calendar.error().what;
}

TEST(Calendars, ComeWhenTheirFieldsSay) {
  EXPECT_THAT(times("* * * * *", "UTC", "2026-01-01T00:00:59Z", 2),
              ElementsAre("2026-01-01T00:01", "2026-01-01T00:02"));
  EXPECT_THAT(times("0 9 * * MON-FRI", "UTC", "2026-01-01T09:00:00Z", 3),
              ElementsAre("2026-01-02T09:00", "2026-01-05T09:00", "2026-01-06T09:00"));
  EXPECT_THAT(
      times("*/20 8-9 * * *", "UTC", "2026-01-01T08:30:00Z", 5),
      ElementsAre("2026-01-01T08:40", "2026-01-01T09:00", "2026-01-01T09:20", "2026-01-01T09:40", "2026-01-02T08:00"));
  EXPECT_THAT(times("5,3 1-5/2 1 jan,Jul *", "UTC", "2026-01-01T04:00:00Z", 4),
              ElementsAre("2026-01-01T05:03", "2026-01-01T05:05", "2026-07-01T01:03", "2026-07-01T01:05"));
  EXPECT_THAT(times("59 23 31 * *", "UTC", "2026-01-31T23:59:00Z", 3),
              ElementsAre("2026-03-31T23:59", "2026-05-31T23:59", "2026-07-31T23:59"));
  EXPECT_THAT(times("0 0 * * 7", "UTC", "2026-01-01T00:00:00Z", 2),
              ElementsAre("2026-01-04T00:00", "2026-01-11T00:00"));
  EXPECT_THAT(times("0 0 * * FRI-SUN/2", "UTC", "2026-01-01T00:00:00Z", 3),
              ElementsAre("2026-01-02T00:00", "2026-01-04T00:00", "2026-01-09T00:00"));
  EXPECT_THAT(times("  0\t12  *\t* * ", "UTC", "2026-01-01T00:00:00Z", 1), ElementsAre("2026-01-01T12:00"));
}

TEST(Calendars, HaveShortForms) {
  const auto after = "2026-01-01T00:00:00.000001Z";
  EXPECT_THAT(times("@hourly", "UTC", after, 2), ElementsAre("2026-01-01T01:00", "2026-01-01T02:00"));
  EXPECT_THAT(times("@daily", "UTC", after, 2), ElementsAre("2026-01-02T00:00", "2026-01-03T00:00"));
  EXPECT_THAT(times("@weekly", "UTC", after, 2), ElementsAre("2026-01-04T00:00", "2026-01-11T00:00"));
  EXPECT_THAT(times("@monthly", "UTC", after, 2), ElementsAre("2026-02-01T00:00", "2026-03-01T00:00"));
  EXPECT_THAT(times("@yearly", "UTC", after, 2), ElementsAre("2027-01-01T00:00", "2028-01-01T00:00"));
}

TEST(Calendars, AreOfEitherDayWhereBothAreGiven) {
  EXPECT_THAT(
      times("0 0 13 * FRI", "UTC", "2026-01-01T00:00:00Z", 5),
      ElementsAre("2026-01-02T00:00", "2026-01-09T00:00", "2026-01-13T00:00", "2026-01-16T00:00", "2026-01-23T00:00"));
  EXPECT_THAT(times("0 0 30 2 MON", "UTC", "2026-01-01T00:00:00Z", 2),
              ElementsAre("2026-02-02T00:00", "2026-02-09T00:00"));
  EXPECT_THAT(times("0 0 */2 * FRI", "UTC", "2026-01-01T00:00:00Z", 3),
              ElementsAre("2026-01-09T00:00", "2026-01-23T00:00", "2026-02-13T00:00"))
      << "with a * both must hold";
}

TEST(Calendars, KnowLeapYears) {
  EXPECT_THAT(times("0 0 29 2 *", "UTC", "2026-01-01T00:00:00Z", 3),
              ElementsAre("2028-02-29T00:00", "2032-02-29T00:00", "2036-02-29T00:00"));
  EXPECT_THAT(times("0 0 29 2 *", "UTC", "2096-03-01T00:00:00Z", 1), ElementsAre("2104-02-29T00:00"));
  EXPECT_THAT(times("0 0 29 2 */7", "UTC", "2076-01-01T00:00:00Z", 2),
              ElementsAre("2088-02-29T00:00", "2128-02-29T00:00"));  // Sundays
}

TEST(Calendars, EndWithTheYear9999) {
  EXPECT_THAT(times("0 0 31 12 *", "UTC", "9998-06-01T00:00:00Z", 3),
              ElementsAre("9998-12-31T00:00", "9999-12-31T00:00"));
  EXPECT_THAT(times("30 23 31 12 *", "America/New_York", "9999-06-01T00:00:00Z", 1), ElementsAre());
  EXPECT_THAT(times("*/59 * * * *", "Pacific/Kiritimati", "9999-12-31T23:58:00Z", 2), ElementsAre("9999-12-31T23:59"));
  const auto calendar = Calendar::parse("* * * * *", "America/New_York").value();
  EXPECT_FALSE(calendar.next(Timestamp::last()));
  EXPECT_FALSE(calendar.next(Timestamp{std::numeric_limits<std::int64_t>::max()}));
  EXPECT_GT(calendar.next(Timestamp{std::numeric_limits<std::int64_t>::min()}), Timestamp::first());
}

TEST(Calendars, ComeByTheClocksOfTheirZone) {
  EXPECT_THAT(times("0 9 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", 4),
              ElementsAre("2026-03-28T08:00", "2026-03-29T07:00", "2026-03-30T07:00", "2026-03-31T07:00"));
  EXPECT_THAT(times("0 9 * * *", "Asia/Kathmandu", "2026-03-27T12:00:00Z", 1), ElementsAre("2026-03-28T03:15"));
  EXPECT_THAT(times("0 0 1 1 *", "Pacific/Kiritimati", "2026-06-01T00:00:00Z", 1), ElementsAre("2026-12-31T10:00"));
}

// On 2026-03-29 at 01:00 UTC Berlin's clocks go from 02:00 to 03:00; on 2026-10-25 at 01:00 UTC from 03:00 to 02:00.
TEST(Calendars, ComeAsTheClocksAreSetWhereTheirTimeIsSkipped) {
  EXPECT_THAT(times("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00Z", 3),
              ElementsAre("2026-03-28T01:30", "2026-03-29T01:00", "2026-03-30T00:30"));
  EXPECT_THAT(times("10,20,30 2,3 * * *", "Europe/Berlin", "2026-03-29T00:59:59Z", 3),
              ElementsAre("2026-03-29T01:00", "2026-03-29T01:10", "2026-03-29T01:20"))
      << "several that are skipped come together";
  EXPECT_THAT(times("0 2,3 * * *", "Europe/Berlin", "2026-03-29T00:59:59Z", 2),
              ElementsAre("2026-03-29T01:00", "2026-03-30T00:00"));
  EXPECT_THAT(times("30 2 29 3 *", "Europe/Berlin", "2026-03-28T00:00:00Z", 1), ElementsAre("2026-03-29T01:00"));
  EXPECT_THAT(times("30 2 * * *", "America/New_York", "2026-03-08T00:00:00Z", 2),
              ElementsAre("2026-03-08T07:00", "2026-03-09T06:30"));
  EXPECT_THAT(times("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", 2),  // 02:00 to 02:30
              ElementsAre("2026-10-03T15:30", "2026-10-04T15:15"));
  EXPECT_THAT(times("0 9 30 12 *", "Pacific/Apia", "2011-12-29T00:00:00Z", 1), ElementsAre("2011-12-30T10:00"))
      << "a day that there was not";
}

TEST(Calendars, ComeOnceWhereTheirTimeComesTwice) {
  EXPECT_THAT(times("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2),
              ElementsAre("2026-10-25T00:30", "2026-10-26T01:30"));
  EXPECT_THAT(times("30 2 * * *", "Europe/Berlin", "2026-10-25T01:10:00Z", 1), ElementsAre("2026-10-26T01:30"))
      << "asked while 02:10 is there for the second time";
  EXPECT_THAT(times("0,30 1-3 * * *", "Europe/Berlin", "2026-10-25T00:10:00Z", 3),
              ElementsAre("2026-10-25T00:30", "2026-10-25T02:00", "2026-10-25T02:30"));
  EXPECT_THAT(times("30 1 * * *", "America/New_York", "2026-11-01T00:00:00Z", 2),
              ElementsAre("2026-11-01T05:30", "2026-11-02T06:30"));
  EXPECT_THAT(times("45 1 * * *", "Australia/Lord_Howe", "2026-04-04T12:00:00Z", 2),  // 02:00 to 01:30
              ElementsAre("2026-04-04T14:45", "2026-04-05T15:15"));
}

TEST(Calendars, WithAStarGoOnEvenly) {
  EXPECT_THAT(times("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:10:00Z", 3),
              ElementsAre("2026-03-29T00:30", "2026-03-29T01:00", "2026-03-29T01:30"));
  EXPECT_THAT(times("0 * * * *", "Europe/Berlin", "2026-10-24T23:10:00Z", 4),
              ElementsAre("2026-10-25T00:00", "2026-10-25T01:00", "2026-10-25T02:00", "2026-10-25T03:00"));
  EXPECT_THAT(times("*/20 * * * *", "Australia/Lord_Howe", "2026-04-04T14:35:00Z", 4),
              ElementsAre("2026-04-04T14:40", "2026-04-04T15:10", "2026-04-04T15:30", "2026-04-04T15:50"))
      << "01:40, and again 01:40, then 02:00";
  EXPECT_THAT(
      times("*/30 2 * * *", "Europe/Berlin", "2026-10-24T23:00:00Z", 5),
      ElementsAre("2026-10-25T00:00", "2026-10-25T00:30", "2026-10-25T01:00", "2026-10-25T01:30", "2026-10-26T01:00"));
  EXPECT_THAT(times("*/30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 1), ElementsAre("2026-03-30T00:00"))
      << "never shown on that day";
  // At 00:01 back to 23:01: midnight comes twice.
  EXPECT_THAT(times("* 0 1 11 *", "America/St_Johns", "2009-10-31T12:00:00Z", 3),
              ElementsAre("2009-11-01T02:30", "2009-11-01T03:30", "2009-11-01T03:31"));
  EXPECT_THAT(times("0 0 1 11 *", "America/St_Johns", "2009-10-31T12:00:00Z", 2),
              ElementsAre("2009-11-01T02:30", "2010-11-01T02:30"));
  EXPECT_THAT(times("1 * * * SAT", "America/St_Johns", "2009-11-01T00:00:00Z", 4),
              ElementsAre("2009-11-01T00:31", "2009-11-01T01:31", "2009-11-01T02:31", "2009-11-07T03:31"))
      << "23:01 on Saturday comes twice, with a minute of Sunday between";
}

TEST(Calendars, SayWhichFieldIsWrong) {
  EXPECT_THAT(why("0 9 * * MON-FRY"),
              HasSubstr("calendar \"0 9 * * MON-FRY\": day of the week: \"FRY\" is no number from 0 to 7, and none of "
                        "SUN to SAT"));
  EXPECT_THAT(why("60 * * * *"), HasSubstr("minute: \"60\" is no number from 0 to 59"));
  EXPECT_THAT(why("0 24 * * *"), HasSubstr("hour: \"24\" is no number from 0 to 23"));
  EXPECT_THAT(why("0 0 0 * *"), HasSubstr("day of the month: \"0\" is no number from 1 to 31"));
  EXPECT_THAT(why("0 0 L * *"), HasSubstr("day of the month: \"L\""));
  EXPECT_THAT(why("0 0 1 13 *"), HasSubstr("month: \"13\" is no number from 1 to 12, and none of JAN to DEC"));
  EXPECT_THAT(why("0 0 1 JANUARY *"), HasSubstr("month: \"JANUARY\""));
  EXPECT_THAT(why("0 0 * * 8"), HasSubstr("day of the week: \"8\""));
  EXPECT_THAT(why("0 0 * JAN-DEC FRI-MON"), HasSubstr("\"FRI-MON\" ends before it begins"));
  EXPECT_THAT(why("5-1 * * * *"), HasSubstr("\"5-1\" ends before it begins"));
  EXPECT_THAT(why("1-2-3 * * * *"), HasSubstr("\"1-2-3\" is no range"));
  EXPECT_THAT(why("5/10 * * * *"), HasSubstr("\"5/10\" has a step, and is neither * nor a range"));
  EXPECT_THAT(why("*/0 * * * *"), HasSubstr("the step of \"*/0\" is no number from 1 to 59"));
  EXPECT_THAT(why("*/60 * * * *"), HasSubstr("the step of \"*/60\""));
  EXPECT_THAT(why("*/2/3 * * * *"), HasSubstr("two steps"));
  for (const auto* minute : {"1,", ",1", "1,,2", "-1", "1-", "+1", "0x1", "**", "*1", "?", "99999999999999999999", "-"})
    EXPECT_THAT(why(minute + std::string(" * * * *")), HasSubstr("minute: ")) << minute;
  EXPECT_THAT(why(""), HasSubstr("it has 0 fields"));
  EXPECT_THAT(why("0 9 * *"), HasSubstr("it has 4 fields; the five are minute, hour,"));
  EXPECT_THAT(why("0 0 9 * * *"), HasSubstr("it has 6 fields"));
  EXPECT_THAT(why("0\n9 * * * *"), HasSubstr("minute"));
  EXPECT_THAT(why("@midday"), HasSubstr("@hourly, @daily"));
  EXPECT_THAT(why("0 0 1 1 *" + std::string(256, ' ')), HasSubstr("at most 256"));
}

TEST(Calendars, ThatNeverComeAreRefused) {
  for (const auto* text : {"0 0 30 2 *", "0 0 31 2,4,JUN,9,11 *", "0 0 30-31 2 *", "0 0 31 2 */2"})
    EXPECT_THAT(why(text), HasSubstr("never comes")) << text;
  for (const auto* text : {"0 0 29 2 *", "0 0 31 2,3 *", "0 0 30 2 MON", "0 0 */30 2 *", "0 0 29-31 2 *"})
    EXPECT_EQ(why(text), "fine") << text;
}

TEST(Calendars, OfZonesThatAreNotKnownAreRefused) {
  for (const auto* zone : {"UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "GMT", "EST5EDT"})
    EXPECT_EQ(why("@daily", zone), "fine") << zone;
  EXPECT_THAT(why("@daily", "Europe/Berln"),
              HasSubstr("time zone \"Europe/Berln\" is not known to this machine's tzdata"));
  EXPECT_THAT(why("@daily", "Europe"), HasSubstr("is not known"));
  for (const auto* zone : {"", "localtime", "posix/Europe/Berlin", "../zoneinfo/UTC", "/usr/share/zoneinfo/UTC",
                           "Fixed/UTC+01:00:00", "file:UTC", "Europe/", "/", "Europe//Berlin", "Europe/../UTC"})
    EXPECT_THAT(why("@daily", zone), HasSubstr("is not written as Europe/Berlin and UTC are")) << zone;
}

// -- against a clock that is looked at

/// Whatever the case's size is.
template <class T>
T between(T least, T end) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(least, end));
}

/// A field, as text and as the values that it means.
struct Drawn {
  std::string text;
  std::set<int> values;
  bool starred = false;
};

/// `last_most`: how far a range or a value goes.
Drawn drawn_item(int least, int most, int last_most) {
  const int span = most - least + 1;
  Drawn item;
  const int first = between(least, last_most + 1);
  const int last = between(first, last_most + 1);
  int step = 1;
  if (between(0, 3) == 0) {
    item.text = std::to_string(first);
    item.values = {first};
    return item;
  }
  item.starred = between(0, 6) == 0;
  item.text = item.starred ? "*" : std::to_string(first) + "-" + std::to_string(last);
  if (between(0, 2) == 0) {
    step = between(1, span);
    item.text += "/" + std::to_string(step);
  }
  for (int value = item.starred ? least : first; value <= (item.starred ? most : last); value += step)
    item.values.insert(value);
  return item;
}

Drawn drawn_field(int least, int most, bool wild, int last_most) {
  Drawn field;
  if (wild) {
    field.text = "*";
    field.starred = true;
    for (int value = least; value <= most; ++value) field.values.insert(value);
    return field;
  }
  for (int items = between(1, 3); items != 0; --items) {
    const auto item = drawn_item(least, most, last_most);
    field.text += (field.text.empty() ? "" : ",") + item.text;
    field.values.insert(item.values.begin(), item.values.end());
    field.starred = field.starred || item.starred;
  }
  return field;
}

struct DrawnCalendar {
  Drawn minute, hour, day, month, weekday;
  [[nodiscard]] std::string text() const {
    return minute.text + ' ' + hour.text + ' ' + day.text + ' ' + month.text + ' ' + weekday.text;
  }
  [[nodiscard]] bool has(const std::tm& face) const {
    const bool of_month = day.values.contains(face.tm_mday);
    const bool of_week = weekday.values.contains(face.tm_wday);
    return minute.values.contains(face.tm_min) && hour.values.contains(face.tm_hour) &&
           month.values.contains(face.tm_mon + 1) &&
           (day.starred || weekday.starred ? of_month && of_week : of_month || of_week);
  }
};

constexpr std::time_t minute_s = 60;
constexpr std::time_t day_s = 86'400;

/// The process's zone, for the C library.
class ZoneOfC {
 public:
  explicit ZoneOfC(const std::string& zone) {
    if (const char* const was = std::getenv("TZ")) was_ = was;
    setenv("TZ", zone.c_str(), 1);
    tzset();
  }
  ~ZoneOfC() {
    if (was_)
      setenv("TZ", was_->c_str(), 1);
    else
      unsetenv("TZ");
    tzset();
  }
  ZoneOfC(const ZoneOfC&) = delete;
  ZoneOfC& operator=(const ZoneOfC&) = delete;

  static std::tm shown(std::time_t time) {
    std::tm face{};
    localtime_r(&time, &face);
    return face;
  }
  /// About when the clocks are set next, within some years.
  static std::time_t next_set(std::time_t from) {
    const auto offset = shown(from).tm_gmtoff;
    auto step = day_s;
    for (int steps = 0; step != minute_s && steps != 2'000; ++steps)
      if (shown(from + step).tm_gmtoff == offset)
        from += step;
      else
        step = std::max<std::time_t>(step / 2, minute_s);
    return from + step;
  }
  /// What the clock shows, as a number that counts minutes: as if it were UTC.
  static std::time_t minutes(std::tm face) { return timegm(&face) / 60; }

 private:
  std::optional<std::string> was_;
};

/// Minute by minute: what is shown now for the first time comes, with all that was skipped; with a star, what is shown.
std::optional<std::time_t> next_seen(const DrawnCalendar& calendar, std::time_t after, std::time_t until) {
  constexpr std::time_t hours_before = 26;
  const bool starred = calendar.minute.starred || calendar.hour.starred;
  auto time = after / 60 * 60 - hours_before * 3600;
  auto high = ZoneOfC::minutes(ZoneOfC::shown(time));
  while ((time += 60) <= until) {
    const auto face = ZoneOfC::shown(time);
    const auto shown = ZoneOfC::minutes(face);
    bool comes = starred && calendar.has(face);
    for (; high < shown; ++high) {
      const auto of = (high + 1) * 60;
      std::tm passed{};
      gmtime_r(&of, &passed);
      comes = comes || (!starred && calendar.has(passed));
    }
    if (comes && time > after) return time;
  }
  return std::nullopt;
}

RC_GTEST_PROP(CalendarProperties, NextIsTheFirstThatAClockShows, ()) {
  const auto zone = *rc::gen::element<std::string>("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe",
                                                   "America/St_Johns", "America/Havana", "Africa/Casablanca",
                                                   "Pacific/Apia", "Asia/Kathmandu", "America/Sao_Paulo");
  const auto one_of = [](int of) { return between(0, of) == 0; };
  const bool any_day = !one_of(3);
  const DrawnCalendar drawn{drawn_field(0, 59, one_of(5), 59), drawn_field(0, 23, one_of(5), one_of(2) ? 23 : 3),
                            drawn_field(1, 31, any_day || one_of(2), 31), drawn_field(1, 12, any_day || one_of(2), 12),
                            drawn_field(0, 6, any_day || one_of(2), 6)};
  const auto calendar = Calendar::parse(drawn.text(), zone);
  if (!calendar) {
    RC_ASSERT(calendar.error().what.find("never comes") != std::string::npos);
    return;
  }
  const ZoneOfC of_c(zone);
  const auto from = between(30 * 365 * day_s, 60 * 365 * day_s);
  const auto set = ZoneOfC::next_set(from);
  for (int times = 0; times != 12; ++times) {
    const auto after = times == 0 ? from : set + between<std::time_t>(-6 * 3600, 3 * 3600);
    const auto next = calendar->next({after * 1'000'000 + between<std::int64_t>(0, 1'000'000)});
    RC_ASSERT(next.has_value());
    RC_ASSERT(next->micros % 1'000'000 == 0);
    const auto seen_until = after + 2 * day_s;
    const auto seen = next_seen(drawn, after, seen_until);
    RC_LOG() << drawn.text() << " in " << zone << " after " << Timestamp{after * 1'000'000}.text() << ": "
             << next->text() << '\n';
    if (seen)
      RC_ASSERT(*seen * 1'000'000 == next->micros);
    else
      RC_ASSERT(next->micros / 1'000'000 > seen_until - minute_s);
  }
}

RC_GTEST_PROP(CalendarProperties, AnyTextIsReadOrRefused, ()) {
  const auto text = *rc::gen::container<std::string>(rc::gen::elementOf(std::string("0123456789*-/, @SUNMONjan\t")));
  const auto calendar = Calendar::parse(text, "Europe/Berlin");
  if (!calendar) {
    RC_ASSERT(calendar.error().code == ErrorCode::invalid_argument);
    return;
  }
  const auto first = calendar->next({0});
  RC_ASSERT(first.has_value() && first->micros > 0);
}

}  // namespace
}  // namespace evershard
