#include "evershard/doors/serving/log_line.hpp"

#include <algorithm>
#include <utility>

#include "evershard/api/json/json_text.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::serving {
namespace {

constexpr std::size_t value_bytes_max = 400;

bool stands_bare(std::string_view value) {
  return !value.empty() && value.size() <= value_bytes_max && std::all_of(value.begin(), value.end(), [](char c) {
    return c > ' ' && c < 127 && c != '"' && c != '\\' && c != '=';
  });
}

}  // namespace

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
  }
  return "unknown";
}

std::string log_text(std::optional<Timestamp> at, LogLevel level, std::string_view what, const LogFields& fields) {
  std::string line;
  if (at) line += at->text() + ' ';
  line += name_of(level);
  line += ' ';
  line += what;
  for (const auto& [key, value, bare] : fields) {
    line += ' ';
    line += key;
    line += '=';
    line += bare || stands_bare(value) ? value : in_quotes(value, value_bytes_max);
  }
  return line;
}

std::string log_json(Timestamp at, LogLevel level, std::string_view what, const LogFields& fields) {
  JsonText json;
  json.begin_object().key("at").string(at.text()).key("level").string(name_of(level)).key("what").string(what);
  for (const auto& [key, value, bare] : fields) {
    json.key(key);
    if (bare)
      json.raw(value);
    else
      json.string(value);
  }
  return json.end_object().take();
}

std::optional<std::uint64_t> Repeats::admit(std::string_view kind, Clock::time_point now) {
  auto seen = kinds_.find(kind);
  if (seen == kinds_.end()) {
    if (kinds_.size() >= kinds_max) kinds_.clear();
    seen = kinds_.emplace(std::string(kind), Seen{now}).first;
  }
  auto& [since, lines, left_out] = seen->second;
  if (now - since >= a_while) {
    since = now;
    lines = 0;
  }
  if (lines == lines_max) {
    ++left_out;
    return std::nullopt;
  }
  ++lines;
  return std::exchange(left_out, 0);
}

std::vector<std::pair<std::string, std::uint64_t>> Repeats::unsaid() const {
  std::vector<std::pair<std::string, std::uint64_t>> kinds;
  for (const auto& [kind, seen] : kinds_) {
    if (seen.left_out > 0) kinds.emplace_back(kind, seen.left_out);
  }
  return kinds;
}

}  // namespace evershard::serving
