#include "evershard/doors/settings/setting.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <optional>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/quantity.hpp"

namespace evershard::settings {
namespace {

constexpr std::string_view blanks = " \t\r";

std::string_view without_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Absent: it is no whole number, or one that 64 bits do not hold.
std::optional<std::uint64_t> whole_number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

std::chrono::milliseconds in_ms(std::uint64_t number) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(number));
}

Refused not_right(const Setting& setting, std::string_view must_be, std::string_view text) {
  return refuse(ErrorCode::invalid_argument, setting.name + " must be " + std::string(must_be) +
                                                 (setting.secret ? std::string() : ", is " + in_quotes(text)));
}

Result<Value> figure_of(const Setting& setting, std::string_view text) {
  const auto number = whole_number_in(text);
  if (!number) return not_right(setting, "a whole number, not negative", text);
  if (*number < setting.least) return not_right(setting, "at least " + std::to_string(setting.least), text);
  if (*number > setting.most) return not_right(setting, "at most " + std::to_string(setting.most), text);
  return Value{std::to_string(*number), *number, {}};
}

Result<Value> size_of(const Setting& setting, std::string_view text) {
  const auto bytes = size_from(text, setting.name, {setting.least, setting.most});
  if (!bytes) return refuse(bytes.error());
  return Value{text_of_size(*bytes), *bytes, {}};
}

Result<Value> duration_of(const Setting& setting, std::string_view text) {
  DurationRule rule;
  rule.least = in_ms(setting.least);
  rule.most = in_ms(setting.most);
  const auto time = duration_from(text, setting.name, rule);
  if (!time) return refuse(time.error());
  return Value{text_of_duration(*time), static_cast<std::uint64_t>(time->count()), {}};
}

Result<Value> truth_of(const Setting& setting, std::string_view text) {
  for (const auto yes : {"yes", "true", "on", "1"}) {
    if (text == yes) return Value{"yes", 1, {}};
  }
  for (const auto no : {"no", "false", "off", "0"}) {
    if (text == no) return Value{"no", 0, {}};
  }
  return not_right(setting, "yes or no", text);
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
      return figure_of(setting, text);
    case Kind::size:
      return size_of(setting, text);
    case Kind::duration:
      return duration_of(setting, text);
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

std::string text_of_figure(Kind kind, std::uint64_t number) {
  return kind == Kind::size       ? text_of_size(number)
         : kind == Kind::duration ? text_of_duration(in_ms(number))
                                  : std::to_string(number);
}

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
