#include "evershard/compat/kurrent/dotnet_pattern.hpp"

#include <optional>
#include <utility>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard::kurrent {
namespace {

constexpr std::string_view word = R"(\p{L}\p{Mn}\p{Nd}\p{Pc})";
constexpr std::string_view digit = R"(\p{Nd})";
constexpr std::string_view space = R"(\f\n\r\t\v\x{85}\p{Z})";
constexpr std::string_view any_character = "(?s:.)";
/// Letters that mean the same behind a backslash in .NET and in RE2.
constexpr std::string_view letters_alike = "afnrtvpPxAz";

class DotnetPattern {
 public:
  explicit DotnetPattern(std::string_view pattern) : pattern_(pattern) {}

  Result<std::string> translated() {
    while (at_ != pattern_.size()) {
      const char c = pattern_[at_++];
      if (c == '\\')
        escape();
      else if (c == '[')
        set();
      else if (c == '$')
        end_of_text();
      else if (c == '(')
        group();
      else
        out_ += c;
      if (!why_.empty())
        return refuse(ErrorCode::invalid_argument,
                      "pattern " + in_quotes(pattern_, 300) + " has " + why_ + ", which is not understood here");
    }
    if (lines_ && ends_)
      return refuse(ErrorCode::invalid_argument,
                    "pattern " + in_quotes(pattern_, 300) + " has $ beside the option m, which is not understood here");
    return std::move(out_);
  }

 private:
  [[nodiscard]] bool next_is(char c) const { return at_ != pattern_.size() && pattern_[at_] == c; }
  [[nodiscard]] bool next_are(std::string_view text) const { return pattern_.substr(at_).starts_with(text); }
  static bool is_letter_or_digit(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  }
  void not_understood(std::string what) {
    if (why_.empty()) why_ = std::move(what);
  }

  void end_of_text() {
    ends_ = true;
    out_ += R"((?:\n?\z))";
  }

  /// What stands behind a backslash, in a class or not. Absent: it is none that both know.
  std::optional<std::string> character(char c) {
    if (!is_letter_or_digit(c)) return std::string("\\") + c;
    if (c == 'e') return R"(\x1b)";
    if (c == 'u') {
      const auto digits = pattern_.substr(at_, 4);
      at_ += digits.size();
      return R"(\x{)" + std::string(digits) + '}';
    }
    if (letters_alike.find(c) != std::string_view::npos) return std::string("\\") + c;
    not_understood(std::string("\\") + c);
    return std::nullopt;
  }

  void escape() {
    if (at_ == pattern_.size()) {
      out_ += '\\';
      return;
    }
    const auto in_set = [this](const char* opens, std::string_view what) { out_.append(opens).append(what) += ']'; };
    switch (const char c = pattern_[at_++]; c) {
      case 'w':
        return in_set("[", word);
      case 'W':
        return in_set("[^", word);
      case 'd':
        return in_set("[", digit);
      case 'D':
        return in_set("[^", digit);
      case 's':
        return in_set("[", space);
      case 'S':
        return in_set("[^", space);
      case 'Z':
        return end_of_text();
      default:
        if (const auto same = character(c)) out_ += *same;
    }
  }

  /// A character class, behind its bracket.
  void set() {
    std::string taken;
    bool negated = false;
    std::string words;  // the letters of the classes in it
    if (next_is('^')) {
      negated = true;
      ++at_;
    }
    for (bool first = true; at_ != pattern_.size(); first = false) {
      const char c = pattern_[at_++];
      if (c == ']' && !first) return put_set(negated, taken, words);
      if (c == '-' && next_is('[')) return not_understood("a class that is subtracted from another");
      if (c == '[') {
        taken += R"(\[)";
      } else if (c != '\\' || at_ == pattern_.size()) {
        taken += c == ']' ? R"(\])" : std::string(1, c);
      } else {
        const char letter = pattern_[at_++];
        if (letter == 'w') taken += word;
        if (letter == 'd') taken += digit;
        if (letter == 's') taken += space;
        if (letter == 'D') taken += R"(\P{Nd})";
        if (letter == 'b') taken += R"(\x08)";
        if (std::string_view("wWdDsS").find(letter) != std::string_view::npos)
          words += letter;
        else if (letter == 'A' || letter == 'z')
          return not_understood(std::string("\\") + letter + " in a class");
        else if (letter != 'b')
          taken += character(letter).value_or("");
        if (!why_.empty()) return;
      }
    }
    out_.append(negated ? "[^" : "[") += taken;  // RE2 says that its end is missing
  }

  void put_set(bool negated, const std::string& taken, const std::string& words) {
    const auto has = [&](char letter) { return words.find(letter) != std::string::npos; };
    if (!negated && ((has('w') && has('W')) || (has('d') && has('D')) || (has('s') && has('S')))) {
      out_ += any_character;
      return;
    }
    // Inside of a class, \W and \S cannot be expressed beside other characters.
    if (has('W') || has('S')) {
      if (!taken.empty() || words.size() != 1) return not_understood(R"(\W or \S in a class)");
      out_.append(negated ? "[" : "[^").append(has('W') ? word : space) += ']';
      return;
    }
    out_.append(negated ? "[^" : "[").append(taken) += ']';
  }

  /// Behind `(`.
  void group() {
    out_ += '(';
    if (!next_is('?')) return;
    if (next_are("?<") && !next_are("?<=") && !next_are("?<!")) {
      at_ += 2;
      out_ += "?P<";
      return;
    }
    for (auto at = at_ + 1; at < pattern_.size() && pattern_[at] != ')' && pattern_[at] != ':'; ++at) {
      if (pattern_[at] == '-') break;  // what follows is switched off
      if (pattern_[at] == 'U') return not_understood("(?U");
      lines_ = lines_ || pattern_[at] == 'm';
      if (!is_letter_or_digit(pattern_[at])) break;
    }
  }

  const std::string_view pattern_;
  std::size_t at_ = 0;
  std::string out_;
  std::string why_;
  bool lines_ = false, ends_ = false;
};

}  // namespace

Result<std::string> re2_pattern_of(std::string_view dotnet) { return DotnetPattern(dotnet).translated(); }

}  // namespace evershard::kurrent
