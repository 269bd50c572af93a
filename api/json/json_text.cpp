#include "evershard/api/json/json_text.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace evershard {
namespace {

/// Printable ASCII but for the two that are escaped; or part of a longer character.
bool goes_as_it_is(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x20 && byte < 0x7F && byte != '"' && byte != '\\';
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  bool plain = true;
  for (const char c : text) plain = plain && goes_as_it_is(c);
  if (plain) {
    out += '"';
    out += text;
    out += '"';
    return;
  }
  out += nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_on_one_line(std::string_view json) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto from = std::min(json.find_first_not_of(blanks), json.size());
  std::string line(json.substr(from, json.find_last_not_of(blanks) + 1 - from));
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return line;
}

void JsonText::separate() {
  if (comma_) text_ += ',';
  comma_ = true;
}

JsonText& JsonText::open(char bracket) {
  separate();
  text_ += bracket;
  comma_ = false;
  return *this;
}

JsonText& JsonText::close(char bracket) {
  text_ += bracket;
  comma_ = true;
  return *this;
}

JsonText& JsonText::key(std::string_view name) {
  separate();
  append_json_string(text_, name);
  text_ += ':';
  comma_ = false;
  return *this;
}

JsonText& JsonText::string(std::string_view text) {
  separate();
  append_json_string(text_, text);
  return *this;
}

JsonText& JsonText::raw(std::string_view json) {
  separate();
  text_ += json;
  return *this;
}

}  // namespace evershard
