#include "evershard/api/json/json_indent.hpp"

namespace evershard {
namespace {

/// Behind the string that begins at `at`.
std::size_t end_of_string(std::string_view json, std::size_t at) {
  for (++at; at < json.size() && json[at] != '"'; ++at) {
    if (json[at] == '\\') ++at;
  }
  return at + 1;
}

}  // namespace

std::string indented(std::string_view json) {
  std::string text;
  std::size_t depth = 0;
  bool opened = false;  // just now: an empty object or list stays as it is
  const auto new_line = [&] { text += '\n' + std::string(2 * depth, ' '); };
  for (std::size_t at = 0; at < json.size();) {
    const char c = json[at];
    if (c == ' ' || c == '\t') {
      ++at;
      continue;
    }
    const bool closes = c == '}' || c == ']';
    if (closes) --depth;
    if (opened != closes) new_line();
    opened = c == '{' || c == '[';
    if (c == '"') {
      const std::size_t end = end_of_string(json, at);
      text += json.substr(at, end - at);
      at = end;
      continue;
    }
    text += c;
    ++at;
    if (opened) ++depth;
    if (c == ',') new_line();
    if (c == ':') text += ' ';
  }
  return text;
}

}  // namespace evershard
