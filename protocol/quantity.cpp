#include "evershard/protocol/quantity.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <initializer_list>
#include <optional>
#include <span>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard {
namespace {

using std::chrono::milliseconds;

struct QuantityUnit {
  std::string_view name;
  std::uint64_t worth;
  bool printed = true;  ///< the others are only read
};
// The largest first: printing takes the first that fits.
constexpr QuantityUnit duration_units[] = {{"d", 86'400'000},    {"h", 3'600'000}, {"min", 60'000},
                                           {"m", 60'000, false}, {"s", 1'000},     {"ms", 1}};
constexpr QuantityUnit size_units[] = {{"TiB", 1ull << 40},  {"TB", 1'000'000'000'000, false},
                                       {"GiB", 1ull << 30},  {"GB", 1'000'000'000, false},
                                       {"MiB", 1ull << 20},  {"MB", 1'000'000, false},
                                       {"KiB", 1ull << 10},  {"KB", 1'000, false},
                                       {"kB", 1'000, false}, {"B", 1}};

constexpr std::string_view quantity_blanks = " \t";

struct Quantity {
  std::uint64_t number = 0;
  std::string_view unit;
};

/// Absent: there is no whole number in front, or one that 64 bits do not hold.
std::optional<Quantity> quantity_in(std::string_view text) {
  Quantity quantity;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), quantity.number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  text.remove_prefix(std::min(text.find_first_not_of(quantity_blanks), text.size()));
  quantity.unit = text;
  return quantity;
}

/// `bare`: what one is worth without a unit; 0: only 0 may have none.
std::optional<std::uint64_t> in_units(std::string_view text, std::span<const QuantityUnit> units, std::uint64_t bare) {
  const auto quantity = quantity_in(text);
  if (!quantity) return std::nullopt;
  const auto times = [&](std::uint64_t worth) -> std::optional<std::uint64_t> {
    std::uint64_t whole = 0;
    if (__builtin_mul_overflow(quantity->number, worth, &whole)) return std::nullopt;
    return whole;
  };
  if (quantity->unit.empty()) return bare == 0 && quantity->number != 0 ? std::nullopt : times(bare);
  for (const auto& unit : units) {
    if (unit.name == quantity->unit) return times(unit.worth);
  }
  return std::nullopt;
}

std::string in_largest_unit(std::uint64_t number, std::span<const QuantityUnit> units) {
  for (const auto& unit : units) {
    if (unit.printed && number != 0 && number % unit.worth == 0)
      return std::to_string(number / unit.worth) + std::string(unit.name);
  }
  return "0";
}

Refused not_this(std::string_view name, const std::string& must_be, std::string_view text) {
  return refuse(ErrorCode::invalid_argument,
                std::string(name) + " must be " + must_be + ", is " + in_quotes(std::string(text)));
}

std::uint64_t worth_of_bare(BareNumber bare) {
  return bare == BareNumber::seconds ? 1'000 : bare == BareNumber::milliseconds ? 1 : 0;
}

}  // namespace

Result<milliseconds> duration_from(std::string_view text, std::string_view name, const DurationRule& rule) {
  const auto number = in_units(text, duration_units, worth_of_bare(rule.bare));
  if (!number) {
    std::string must_be = "a duration such as 500ms, 12s, 5min, 2h or 90d";
    if (rule.bare != BareNumber::refused)
      must_be += rule.bare == BareNumber::seconds ? " (a bare number is seconds)" : " (a bare number is milliseconds)";
    return not_this(name, must_be, text);
  }
  const auto as_number = [](milliseconds time) { return static_cast<std::uint64_t>(time.count()); };
  if (*number < as_number(rule.least)) return not_this(name, "at least " + text_of_duration(rule.least), text);
  if (*number > as_number(rule.most)) return not_this(name, "at most " + text_of_duration(rule.most), text);
  if (*number % as_number(rule.step) != 0) return not_this(name, "a multiple of " + text_of_duration(rule.step), text);
  return milliseconds(*number);
}

Result<std::uint64_t> size_from(std::string_view text, std::string_view name, const SizeRule& rule) {
  const auto number = in_units(text, size_units, 1);
  if (!number) return not_this(name, "a size such as 4096, 64KiB, 16MiB or 1GB", text);
  if (*number < rule.least) return not_this(name, "at least " + text_of_size(rule.least), text);
  if (*number > rule.most) return not_this(name, "at most " + text_of_size(rule.most), text);
  return *number;
}

std::string text_of_duration(milliseconds duration) {
  return in_largest_unit(static_cast<std::uint64_t>(duration.count()), duration_units);
}

std::string text_of_size(std::uint64_t bytes) { return in_largest_unit(bytes, size_units); }

std::string rounded_size(std::uint64_t bytes) {
  constexpr const char* units[] = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return std::to_string(bytes) + "B";
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit < 3; ++unit) value /= 1024;
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, 1);  // in any locale
  return std::string(text, end.ptr) + units[unit];
}

}  // namespace evershard
