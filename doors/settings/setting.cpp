#include "evershard/doors/settings/setting.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::settings {
namespace {

using Unit = std::pair<std::string_view, std::uint64_t>;
constexpr std::array<Unit, 5> size_units{
    {{"TiB", 1ull << 40}, {"GiB", 1ull << 30}, {"MiB", 1ull << 20}, {"KiB", 1ull << 10}, {"B", 1}}};
constexpr std::array<Unit, 4> duration_units{{{"h", 3'600'000}, {"min", 60'000}, {"s", 1'000}, {"ms", 1}}};

constexpr std::string_view blanks = " \t\r";

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

struct Figure {
  std::uint64_t number = 0;
  std::string_view unit;
};

/// Absent: no whole number in front, or one that 64 bits do not hold.
std::optional<Figure> figure_in(std::string_view text) {
  Figure figure;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), figure.number);
  if (error != std::errc{}) return std::nullopt;
  figure.unit = without_blanks(text.substr(static_cast<std::size_t>(end - text.data())));
  return figure;
}

template <std::size_t N>
std::optional<std::uint64_t> in_units(std::string_view text, const std::array<Unit, N>& units, bool unit_needed) {
  const auto figure = figure_in(text);
  if (!figure) return std::nullopt;
  if (figure->unit.empty()) return unit_needed && figure->number != 0 ? std::nullopt : std::optional(figure->number);
  for (const auto& [name, worth] : units) {
    std::uint64_t whole = 0;
    if (name == figure->unit)
      return __builtin_mul_overflow(figure->number, worth, &whole) ? std::nullopt : std::optional(whole);
  }
  return std::nullopt;
}

template <std::size_t N>
std::string as_text(std::uint64_t number, const std::array<Unit, N>& units) {
  for (const auto& [name, worth] : units) {
    if (number != 0 && number % worth == 0) return std::to_string(number / worth) + std::string(name);
  }
  return "0";
}

std::optional<std::uint64_t> number_of(Kind kind, std::string_view text) {
  if (kind == Kind::size) return in_units(text, size_units, false);
  if (kind == Kind::duration) return in_units(text, duration_units, true);
  const auto figure = figure_in(text);
  return figure && figure->unit.empty() ? std::optional(figure->number) : std::nullopt;
}

std::string text_of(Kind kind, std::uint64_t number) {
  return kind == Kind::size       ? text_of_size(number)
         : kind == Kind::duration ? text_of_duration(number)
                                  : std::to_string(number);
}

std::string_view what_it_must_be(Kind kind) {
  switch (kind) {
    case Kind::size:
      return "a size such as 4096, 64KiB, 128MiB or 2GiB";
    case Kind::duration:
      return "a duration such as 500ms, 30s, 5min or 24h";
    case Kind::number:
      return "a whole number, not negative";
    case Kind::yes_no:
      return "yes or no";
    default:
      return "a text";
  }
}

Refused not_right(const Setting& setting, std::string_view must_be, std::string_view text) {
  return refuse(ErrorCode::invalid_argument, setting.name + " must be " + std::string(must_be) +
                                                 (setting.secret ? std::string() : ", is " + in_quotes(text)));
}

Result<Value> figure_of(const Setting& setting, std::string_view text) {
  const auto number = number_of(setting.kind, text);
  if (!number) return not_right(setting, what_it_must_be(setting.kind), text);
  if (*number < setting.least) return not_right(setting, "at least " + text_of(setting.kind, setting.least), text);
  if (*number > setting.most) return not_right(setting, "at most " + text_of(setting.kind, setting.most), text);
  return Value{text_of(setting.kind, *number), *number, {}};
}

Result<Value> truth_of(const Setting& setting, std::string_view text) {
  for (const auto yes : {"yes", "true", "on", "1"}) {
    if (text == yes) return Value{"yes", 1, {}};
  }
  for (const auto no : {"no", "false", "off", "0"}) {
    if (text == no) return Value{"no", 0, {}};
  }
  return not_right(setting, what_it_must_be(Kind::yes_no), text);
}

Result<Value> choice_of(const Setting& setting, std::string_view text) {
  std::string all;
  for (const auto& choice : setting.choices) {
    if (choice == text) return Value{choice, 0, {}};
    all += (all.empty() ? "" : ", ") + choice;
  }
  return not_right(setting, "one of " + all, text);
}

Result<Value> list_of(const Setting& setting, std::string_view text) {
  Value value;
  for (std::string_view rest = text; !text.empty() && text != "none";) {
    const auto comma = rest.find(',');
    const auto one = without_blanks(rest.substr(0, comma));
    if (one.empty()) return not_right(setting, "a list without empty places", text);
    value.list.emplace_back(one);
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  value.text = text_of_list(value.list);
  return value;
}

}  // namespace

Result<Value> value_of(const Setting& setting, std::string_view given) {
  const auto text = without_blanks(given);
  if (text.find('\0') != std::string_view::npos || text.find('\n') != std::string_view::npos)
    return not_right(setting, "one line of text", text);
  switch (setting.kind) {
    case Kind::number:
    case Kind::size:
    case Kind::duration:
      return figure_of(setting, text);
    case Kind::yes_no:
      return truth_of(setting, text);
    case Kind::choice:
      return choice_of(setting, text);
    case Kind::list:
      return list_of(setting, text);
    case Kind::text:
    case Kind::path:
      break;
  }
  return Value{std::string(text), 0, {}};
}

std::string text_of_size(std::uint64_t bytes) { return as_text(bytes, size_units); }
std::string text_of_duration(std::uint64_t milliseconds) { return as_text(milliseconds, duration_units); }

std::string text_of_list(const std::vector<std::string>& list) {
  std::string text;
  for (const auto& one : list) text += (text.empty() ? "" : ", ") + one;
  return text.empty() ? "none" : text;
}

std::string environment_name(std::string_view name) {
  std::string variable = "EVERSHARD_";
  for (const char c : name) variable += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return variable;
}

std::string placeholder_of(const Setting& setting) {
  switch (setting.kind) {
    case Kind::path:
      return "PATH";
    case Kind::number:
      return "N";
    case Kind::size:
      return "SIZE";
    case Kind::duration:
      return "DURATION";
    case Kind::yes_no:
      return "yes|no";
    case Kind::list:
      return "LIST";
    case Kind::text:
      return "TEXT";
    case Kind::choice:
      break;
  }
  std::string all;
  for (const auto& choice : setting.choices) all += (all.empty() ? "" : "|") + choice;
  return all;
}

}  // namespace evershard::settings
