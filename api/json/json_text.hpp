// JsonText: writes one JSON value member by member, in the order given.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace evershard {

/// Quoted and escaped. What is not UTF-8 comes out with U+FFFD in its place: it can only be a foreign message.
void append_json_string(std::string& out, std::string_view text);

/// JSON without blanks around it, and on one line: it has line ends between its values only, a string has them escaped.
[[nodiscard]] std::string json_on_one_line(std::string_view json);

class JsonText {
 public:
  JsonText& begin_object() { return open('{'); }
  JsonText& end_object() { return close('}'); }
  JsonText& begin_array() { return open('['); }
  JsonText& end_array() { return close(']'); }
  JsonText& key(std::string_view name);
  JsonText& string(std::string_view text);
  JsonText& number(std::uint64_t value) { return raw(std::to_string(value)); }
  JsonText& boolean(bool value) { return raw(value ? "true" : "false"); }
  /// Bytes that are JSON already.
  JsonText& raw(std::string_view json);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::string take() { return std::move(text_); }
  /// Begins the next value; keeps the memory.
  void clear() {
    text_.clear();
    comma_ = false;
  }

 private:
  JsonText& open(char bracket);
  JsonText& close(char bracket);
  void separate();

  std::string text_;
  bool comma_ = false;  ///< the next value follows another one
};

}  // namespace evershard
