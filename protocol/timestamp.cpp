#include "evershard/protocol/timestamp.hpp"

#include <chrono>
#include <cstdio>

namespace evershard {
namespace {

using std::chrono::days;
using std::chrono::microseconds;
using std::chrono::sys_days;
using std::chrono::year_month_day;

/// Takes digits and signs off the front of a text.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool take(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool take_letter(char upper) { return take(upper) || take(static_cast<char>(upper - 'A' + 'a')); }

  /// Exactly `count` digits; absent: there are fewer.
  std::optional<int> digits(int count) {
    int number = 0;
    for (int i = 0; i < count; ++i) {
      const auto d = digit();
      if (!d) return std::nullopt;
      number = number * 10 + *d;
    }
    return number;
  }
  std::optional<int> digit() {
    if (rest_.empty() || rest_[0] < '0' || rest_[0] > '9') return std::nullopt;
    const int d = rest_[0] - '0';
    rest_.remove_prefix(1);
    return d;
  }
  [[nodiscard]] bool empty() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::optional<sys_days> date(Cursor& in) {
  const auto year = in.digits(4);
  if (!year || !in.take('-')) return std::nullopt;
  const auto month = in.digits(2);
  if (!month || !in.take('-')) return std::nullopt;
  const auto day = in.digits(2);
  if (!day) return std::nullopt;
  const year_month_day ymd{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                           std::chrono::day(static_cast<unsigned>(*day))};
  if (!ymd.ok()) return std::nullopt;
  return sys_days(ymd);
}

/// `HH:MM`, in minutes.
std::optional<int> hours_and_minutes(Cursor& in) {
  const auto hour = in.digits(2);
  if (!hour || *hour > 23 || !in.take(':')) return std::nullopt;
  const auto minute = in.digits(2);
  if (!minute || *minute > 59) return std::nullopt;
  return *hour * 60 + *minute;
}

std::optional<std::int64_t> fraction_us(Cursor& in) {
  if (!in.take('.')) return 0;
  std::int64_t us = 0;
  int count = 0;
  while (const auto d = in.digit()) {
    if (++count > 9) return std::nullopt;
    if (count <= 6) us = us * 10 + *d;
  }
  if (count == 0) return std::nullopt;
  for (; count < 6; ++count) us *= 10;
  return us;
}

std::optional<int> offset_minutes(Cursor& in) {
  if (in.take_letter('Z')) return 0;
  const bool east = in.take('+');
  if (!east && !in.take('-')) return std::nullopt;
  const auto minutes = hours_and_minutes(in);
  if (!minutes) return std::nullopt;
  return east ? *minutes : -*minutes;
}

}  // namespace

Timestamp Timestamp::now() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::duration_cast<microseconds>(since).count()};
}

std::optional<Timestamp> Timestamp::parse(std::string_view text) {
  Cursor in(text);
  const auto day = date(in);
  if (!day || !in.take_letter('T')) return std::nullopt;
  const auto minutes = hours_and_minutes(in);
  if (!minutes || !in.take(':')) return std::nullopt;
  const auto second = in.digits(2);
  if (!second || *second > 59) return std::nullopt;  // a leap second has no place in a count of microseconds
  const auto fraction = fraction_us(in);
  if (!fraction) return std::nullopt;
  const auto offset = offset_minutes(in);
  if (!offset || !in.empty()) return std::nullopt;

  const auto since = microseconds(day->time_since_epoch()) + std::chrono::minutes(*minutes - *offset) +
                     std::chrono::seconds(*second) + microseconds(*fraction);
  const Timestamp result{since.count()};
  if (result < first() || result > last()) return std::nullopt;
  return result;
}

std::string Timestamp::text() const {
  if (*this < first() || *this > last()) return std::to_string(micros) + "us";

  const std::chrono::sys_time<microseconds> time{microseconds(micros)};
  const auto day = std::chrono::floor<days>(time);
  const year_month_day ymd{day};
  const std::chrono::hh_mm_ss hms{time - day};
  char text[40];
  const int size = std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", static_cast<int>(ymd.year()),
                                 static_cast<unsigned>(ymd.month()), static_cast<unsigned>(ymd.day()),
                                 static_cast<int>(hms.hours().count()), static_cast<int>(hms.minutes().count()),
                                 static_cast<int>(hms.seconds().count()), static_cast<int>(hms.subseconds().count()));
  return std::string(text, static_cast<std::size_t>(size));
}

}  // namespace evershard
