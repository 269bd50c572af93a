#include "evershard/api/json/json_value.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "evershard/protocol/check.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/utf8.hpp"

namespace evershard {
namespace {

using nlohmann::json;

/// Builds nothing, remembers where the text stopped being JSON.
class GrammarCheck final : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t at, const std::string& token, const nlohmann::detail::exception& error) override {
    position = at;
    last_token = token;
    out_of_range = error.id == 406;
    return false;
  }

  std::size_t position = 0;
  std::string last_token;
  bool out_of_range = false;  ///< a number no double can hold
};

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Walks text that is known to be JSON.
class Walk {
 public:
  explicit Walk(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  void spaces() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  [[nodiscard]] char peek() const { return text_[at_]; }
  void step() { ++at_; }

  std::string_view value() {
    const std::size_t begin = at_;
    std::size_t depth = 0;
    do {
      const char c = text_[at_];
      if (c == '"') {
        string();
        continue;
      }
      if (c == '{' || c == '[') ++depth;
      if (c == '}' || c == ']') --depth;
      ++at_;
      if (depth == 0 && c != '}' && c != ']') {
        while (at_ < text_.size() && !is_space(text_[at_]) &&
               std::string_view(",}]").find(text_[at_]) == std::string_view::npos)
          ++at_;
      }
    } while (depth != 0);
    return text_.substr(begin, at_ - begin);
  }

 private:
  void string() {
    for (++at_; text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
  }

  std::string_view text_;
  std::size_t at_;
};

std::string_view kind_name(JsonValue::Kind kind) {
  switch (kind) {
    case JsonValue::Kind::object:
      return "an object";
    case JsonValue::Kind::array:
      return "an array";
    case JsonValue::Kind::string:
      return "a string";
    case JsonValue::Kind::number:
      return "a number";
    case JsonValue::Kind::boolean:
      return "true or false";
    case JsonValue::Kind::null:
      return "null";
  }
  return "something else";
}

std::string unquoted(std::string_view raw) {
  if (raw.find('\\') == std::string_view::npos) return std::string(raw.substr(1, raw.size() - 2));
  auto parsed = json::parse(raw, nullptr, false);
  EVERSHARD_CHECK(parsed.is_string(), "the whole text was checked");
  return std::move(parsed.get_ref<std::string&>());
}

/// The keys of one object: a few, or as many as somebody thought would keep us busy.
class KeysSeen {
 public:
  /// Returns: false: it was there.
  bool add(const std::string& key) {
    if (few_.size() < few_max) {
      if (std::find(few_.begin(), few_.end(), key) != few_.end()) return false;
      few_.push_back(key);
      return true;
    }
    if (many_.empty()) many_.insert(few_.begin(), few_.end());
    return many_.insert(key).second;
  }

 private:
  static constexpr std::size_t few_max = 16;
  std::vector<std::string> few_;
  std::unordered_set<std::string> many_;
};

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// As JSON writes a number: std::from_chars takes `01` and `1.` too.
bool is_number(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const auto begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at - begin;
  };
  const bool zero = at < text.size() && text[at] == '0';
  if (const auto whole = digits(); whole == 0 || (zero && whole > 1)) return false;
  if (at < text.size() && text[at] == '.' && (++at, digits() == 0)) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    if (digits() == 0) return false;
  }
  return at == text.size();
}

bool is_of_number(char c) { return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E'; }

/// The text with 0.00.. of the same length for each number that no double can hold.
std::string with_numbers_in_range(std::string_view text) {
  std::string changed(text);
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') {
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\') ++at;
      }
      continue;
    }
    const std::size_t begin = at;
    while (at < text.size() && is_of_number(text[at])) ++at;
    if (at == begin) continue;
    double value = 0;
    const auto [end, error] = std::from_chars(text.data() + begin, text.data() + at, value);
    if (error == std::errc::result_out_of_range && is_number(text.substr(begin, at - begin))) {
      std::fill(changed.begin() + static_cast<std::ptrdiff_t>(begin), changed.begin() + static_cast<std::ptrdiff_t>(at),
                '0');
      changed[begin + 1] = '.';
    }
    --at;
  }
  return changed;
}

/// nlohmann takes a NUL for the end of the text, skips a byte order mark, and ends at a number that no double can hold:
/// JSON has no such bound.
bool checked(std::string_view text, GrammarCheck& check) {
  check.position = std::min(text.find('\0'), text.size() + 1);
  if (check.position <= text.size() || text.starts_with(byte_order_mark)) return false;
  if (json::sax_parse(text.begin(), text.end(), &check)) return true;
  if (!std::exchange(check.out_of_range, false)) return false;
  const auto changed = with_numbers_in_range(text);
  return json::sax_parse(changed.begin(), changed.end(), &check);
}

}  // namespace

bool is_json(std::string_view bytes) {
  GrammarCheck check;
  return !bytes.empty() && checked(bytes, check);
}

Result<JsonValue> JsonValue::parse(std::string_view text, std::string_view name) {
  const std::string before = name.empty() ? "" : std::string(name) + ": ";
  GrammarCheck check;
  if (!checked(text, check)) {
    if (!is_utf8(text)) return refuse(ErrorCode::invalid_argument, before + "not UTF-8: " + in_quotes(text));
    if (std::all_of(text.begin(), text.end(), is_space))
      return refuse(ErrorCode::invalid_argument, before + "empty, not JSON");
    if (text.starts_with(byte_order_mark))
      return refuse(ErrorCode::invalid_argument, before + "not JSON: it begins with a byte order mark");
    if (check.position > text.size()) {
      return refuse(ErrorCode::invalid_argument,
                    before + "not JSON: it ends too early, after " + std::to_string(text.size()) + " bytes");
    }
    return refuse(ErrorCode::invalid_argument, before + "not JSON: at byte " + std::to_string(check.position) +
                                                   ", near " + in_quotes(check.last_token, 40));
  }
  Walk walk(text);
  walk.spaces();
  return JsonValue(walk.value(), nullptr, name, 0);
}

JsonValue::Kind JsonValue::kind() const {
  switch (raw_.front()) {
    case '{':
      return Kind::object;
    case '[':
      return Kind::array;
    case '"':
      return Kind::string;
    case 't':
    case 'f':
      return Kind::boolean;
    case 'n':
      return Kind::null;
    default:
      return Kind::number;
  }
}

std::string JsonValue::path() const {
  if (parent_ == nullptr) return std::string(key_);
  std::string path = parent_->path();
  if (parent_->kind() == Kind::array) return path + '[' + std::to_string(index_) + ']';
  if (parent_->parent_ == nullptr) return path.empty() ? std::string(key_) : path + ": " + std::string(key_);
  return path + '.' + std::string(key_);
}

Refused JsonValue::wrong(const std::string& what) const {
  const std::string where = path();
  return refuse(ErrorCode::invalid_argument, where.empty() ? what : where + ": " + what);
}

Refused JsonValue::not_a(std::string_view wanted) const {
  return wrong("must be " + std::string(wanted) + ", is " + std::string(kind_name(kind())) +
               (raw_.size() <= 40 && kind() == Kind::number ? " (" + std::string(raw_) + ")" : ""));
}

Refused JsonValue::unknown_key(std::string_view key, std::span<const std::string_view> known) const {
  std::string list;
  for (const auto name : known) list += (list.empty() ? "" : ", ") + std::string(name);
  return wrong("unknown key " + in_quotes(key) + (list.empty() ? "; there are none" : "; known are " + list));
}

Result<std::string> JsonValue::string() const {
  if (kind() != Kind::string) return not_a("a string");
  return unquoted(raw_);
}

Result<std::uint64_t> JsonValue::number() const {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(raw_.data(), raw_.data() + raw_.size(), value);
  if (kind() != Kind::number || error != std::errc{} || end != raw_.data() + raw_.size()) {
    return not_a("a whole number from 0 to 18446744073709551615");
  }
  return value;
}

Result<void> JsonValue::for_each_member(const OnMember& see) const {
  if (kind() != Kind::object) return not_a("an object");
  KeysSeen seen;
  Walk walk(raw_, 1);
  for (walk.spaces(); walk.peek() != '}'; walk.spaces()) {
    if (walk.peek() == ',') {
      walk.step();
      walk.spaces();
    }
    const std::string_view quoted_key = walk.value();
    const std::string key = unquoted(quoted_key);
    walk.spaces();
    walk.step();  // the colon
    walk.spaces();
    const JsonValue member(walk.value(), this, quoted_key.substr(1, quoted_key.size() - 2), 0);
    if (!seen.add(key)) return wrong("key " + in_quotes(key) + " comes twice");
    EVERSHARD_TRY(see(key, member));
  }
  return {};
}

Result<void> JsonValue::for_each_element(const OnElement& see) const {
  if (kind() != Kind::array) return not_a("an array");
  Walk walk(raw_, 1);
  std::size_t index = 0;
  for (walk.spaces(); walk.peek() != ']'; walk.spaces()) {
    if (walk.peek() == ',') {
      walk.step();
      walk.spaces();
    }
    const JsonValue element(walk.value(), this, {}, index++);
    EVERSHARD_TRY(see(element));
  }
  return {};
}

}  // namespace evershard
