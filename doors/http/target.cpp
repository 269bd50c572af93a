#include "evershard/doors/http/target.hpp"

#include <algorithm>
#include <charconv>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/percent.hpp"
#include "evershard/protocol/utf8.hpp"

namespace evershard::http {
namespace {

Result<std::string> decoded_part(std::string_view text, bool plus_is_space) {
  auto decoded = percent_decoded(text, plus_is_space);
  if (!decoded)
    return refuse(ErrorCode::invalid_argument, in_quotes(text, 100) + ": a % stands before two hexadecimal digits");
  if (!is_utf8(*decoded) || decoded->find('\0') != std::string::npos) {
    return refuse(ErrorCode::invalid_argument, in_quotes(text, 100) + " does not stand for UTF-8 without NUL");
  }
  return *std::move(decoded);
}

/// Calls `see` with each part; of an empty text with one empty part.
template <class See>
Result<void> for_each_part(std::string_view text, char separator, See see) {
  while (true) {
    const auto end = text.find(separator);
    EVERSHARD_TRY(see(text.substr(0, end)));
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
}

}  // namespace

Result<Target> read_target(std::string_view target) {
  if (!target.starts_with('/')) return refuse(ErrorCode::invalid_argument, "a request's target begins with /");
  Target read;
  const auto question = std::min(target.find('?'), target.size());
  const auto path = target.substr(1, question - 1);
  if (!path.empty()) {
    EVERSHARD_TRY(for_each_part(path, '/', [&](std::string_view part) -> Result<void> {
      auto segment = decoded_part(part, false);
      if (!segment) return refuse(std::move(segment).error());
      read.segments.push_back(*std::move(segment));
      return {};
    }));
  }
  if (question == target.size()) return read;
  EVERSHARD_TRY(for_each_part(target.substr(question + 1), '&', [&](std::string_view part) -> Result<void> {
    if (part.empty()) return {};
    const auto equals = std::min(part.find('='), part.size());
    auto name = decoded_part(part.substr(0, equals), true);
    if (!name) return refuse(std::move(name).error());
    auto value = decoded_part(part.substr(std::min(equals + 1, part.size())), true);
    if (!value) return refuse(std::move(value).error());
    read.parameters.add(*std::move(name), *std::move(value));
    return {};
  }));
  return read;
}

Result<std::uint64_t> read_number(std::string_view text, std::string_view name) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) {
    return refuse(ErrorCode::invalid_argument, std::string(name) + ": " + in_quotes(text, 40) +
                                                   " is no whole number from 0 to 18446744073709551615");
  }
  return value;
}

std::vector<std::string> Parameters::values(std::string_view name) const {
  std::vector<std::string> values;
  for (const auto& [known, value] : all_) {
    if (known == name) values.push_back(value);
  }
  return values;
}

Result<void> Parameters::only(std::span<const std::string_view> known) const {
  for (const auto& [name, value] : all_) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string list;
    for (const auto one : known) list += (list.empty() ? "" : ", ") + std::string(one);
    return refuse(ErrorCode::invalid_argument, "unknown parameter " + in_quotes(name, 60) +
                                                   (list.empty() ? "; there are none" : "; known are " + list));
  }
  return {};
}

Result<std::optional<std::string>> Parameters::text(std::string_view name) const {
  auto all = values(name);
  if (all.size() > 1) return refuse(ErrorCode::invalid_argument, std::string(name) + " comes twice");
  if (all.empty()) return std::nullopt;
  return std::move(all.front());
}

Result<std::optional<std::uint64_t>> Parameters::number(std::string_view name) const {
  auto given = text(name);
  if (!given) return refuse(std::move(given).error());
  if (!*given) return std::nullopt;
  auto value = read_number(**given, name);
  if (!value) return refuse(std::move(value).error());
  return *value;
}

Result<std::optional<GlobalPosition>> Parameters::position(std::string_view name) const {
  auto value = number(name);
  if (!value) return refuse(std::move(value).error());
  if (!*value) return std::nullopt;
  return GlobalPosition{**value};
}

}  // namespace evershard::http
