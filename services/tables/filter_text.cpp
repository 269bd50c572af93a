#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/table_schema.hpp"
#include "evershard/protocol/utf8.hpp"
#include "evershard/services/tables/filter_tree.hpp"

namespace evershard::actors {
namespace {

enum class FilterToken : std::uint8_t { end, word, keyword, text, bytes, number, parameter, symbol };

bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_filter_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_word_start(c) || is_filter_digit(c); }

Refused no_filter(std::size_t at, const std::string& what) {
  return refuse(ErrorCode::invalid_argument, "filter, at byte " + std::to_string(at) + ": " + what);
}

/// One token ahead.
class FilterLexer {
 public:
  explicit FilterLexer(std::string_view text) : text_(text) {}

  [[nodiscard]] FilterToken kind() const { return kind_; }
  [[nodiscard]] const std::string& text() const {
    return value_;
  }  ///< keywords in upper case; strings without their quotes
  [[nodiscard]] std::size_t at() const { return begin_; }
  [[nodiscard]] bool is(FilterToken kind, std::string_view text) const { return kind_ == kind && value_ == text; }
  [[nodiscard]] std::string found() const {
    return kind_ == FilterToken::end ? "the end" : in_quotes(text_.substr(begin_, next_ - begin_), 40);
  }

  Result<void> step() {
    while (next_ < text_.size() &&
           (text_[next_] == ' ' || text_[next_] == '\t' || text_[next_] == '\n' || text_[next_] == '\r'))
      ++next_;
    begin_ = next_;
    value_.clear();
    if (next_ == text_.size()) return set(FilterToken::end);
    const char c = text_[next_];
    if ((c == 'x' || c == 'X') && next_ + 1 < text_.size() && text_[next_ + 1] == '\'') return hex_bytes();
    if (is_word_start(c)) return word();
    if (c == '\'' || c == '"') return quoted(FilterToken::text);
    if (is_filter_digit(c) || c == '-' || c == '+' || c == '.') return number();
    if (c == ':' || c == '?') return parameter(c);
    return symbol();
  }

 private:
  Result<void> set(FilterToken kind) {
    kind_ = kind;
    return {};
  }

  Result<void> word() {
    while (next_ < text_.size() && is_word(text_[next_])) value_ += text_[next_++];
    std::string lower = value_;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    const auto reserved = reserved_field_names();
    if (std::find(reserved.begin(), reserved.end(), lower) == reserved.end()) return set(FilterToken::word);
    std::transform(lower.begin(), lower.end(), value_.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return set(FilterToken::keyword);
  }

  /// A quotation mark inside is written twice.
  Result<void> quoted(FilterToken kind) {
    const char quote = text_[next_++];
    for (; next_ < text_.size(); ++next_) {
      if (text_[next_] == quote && (next_ + 1 == text_.size() || text_[next_ + 1] != quote)) {
        ++next_;
        return set(kind);
      }
      if (text_[next_] == quote) ++next_;
      value_ += text_[next_];
    }
    return no_filter(begin_, std::string("the text that begins here has no end: ") + quote + " is missing");
  }

  Result<void> hex_bytes() {
    ++next_;
    EVERSHARD_TRY(quoted(FilterToken::bytes));
    std::string bytes;
    for (std::size_t i = 0; i < value_.size(); i += 2) {
      unsigned byte = 0;
      const char* digits = value_.data() + i;
      if (value_.size() % 2 != 0 || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2)
        return no_filter(begin_, "bytes are two hex digits each: x'00ff'");
      bytes += static_cast<char>(byte);
    }
    value_ = std::move(bytes);
    return {};
  }

  Result<void> number() {
    while (next_ < text_.size() &&
           (is_word(text_[next_]) || text_[next_] == '.' || text_[next_] == '-' || text_[next_] == '+')) {
      const bool sign = text_[next_] == '-' || text_[next_] == '+';
      if (sign && next_ != begin_ && text_[next_ - 1] != 'e' && text_[next_ - 1] != 'E') break;
      value_ += text_[next_++];
    }
    return set(FilterToken::number);
  }

  Result<void> parameter(char mark) {
    ++next_;
    while (next_ < text_.size() && is_word(text_[next_])) value_ += text_[next_++];
    const bool digits = !value_.empty() && std::all_of(value_.begin(), value_.end(), is_filter_digit);
    if (value_.empty() || digits != (mark == '?') || value_.size() > field_name_bytes_max)
      return no_filter(begin_, "a parameter is :name or ?1");
    return set(FilterToken::parameter);
  }

  Result<void> symbol() {
    constexpr std::array<std::string_view, 11> symbols{"=~", "!=", "<>", "<=", ">=", "=", "<", ">", "(", ")", ","};
    const auto found = std::find_if(symbols.begin(), symbols.end(),
                                    [&](std::string_view each) { return text_.substr(next_).starts_with(each); });
    if (found == symbols.end()) return no_filter(begin_, in_quotes(character()) + " means nothing here");
    next_ += found->size();
    value_ = *found;
    return set(FilterToken::symbol);
  }

  /// What stands next, of several bytes where it is not ASCII.
  [[nodiscard]] std::string_view character() const {
    std::size_t end = next_ + 1;
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0) == 0x80) ++end;
    return text_.substr(next_, end - next_);
  }

  std::string_view text_;
  std::size_t begin_ = 0;
  std::size_t next_ = 0;
  FilterToken kind_ = FilterToken::end;
  std::string value_;
};

class FilterParser {
 public:
  explicit FilterParser(std::string_view text) : token_(text) {}

  Result<FilterNode> run() {
    EVERSHARD_TRY(token_.step());
    auto node = disjunction(0);
    if (node && token_.kind() != FilterToken::end)
      return no_filter(token_.at(), "expected AND, OR or the end, found " + token_.found());
    return node;
  }

 private:
  bool keyword(std::string_view word) const { return token_.is(FilterToken::keyword, word); }
  bool symbol(std::string_view text) const { return token_.is(FilterToken::symbol, text); }

  Result<FilterNode> chain(FilterNode::Kind kind, std::string_view word, std::size_t depth) {
    const auto one = [&] {
      return kind == FilterNode::Kind::any_of ? chain(FilterNode::Kind::all_of, "AND", depth) : negation(depth);
    };
    auto first = one();
    if (!first || !keyword(word)) return first;
    FilterNode node{.kind = kind, .children = {}, .at = first->at};
    node.children.push_back(std::move(*first));
    while (keyword(word)) {
      EVERSHARD_TRY(token_.step());
      auto next = one();
      if (!next) return next;
      node.children.push_back(std::move(*next));
    }
    return node;
  }
  Result<FilterNode> disjunction(std::size_t depth) {
    if (depth > filter_depth_max)
      return refuse(ErrorCode::too_large, "filter, at byte " + std::to_string(token_.at()) + ": more than " +
                                              std::to_string(filter_depth_max) + " levels");
    return chain(FilterNode::Kind::any_of, "OR", depth);
  }

  Result<FilterNode> negation(std::size_t depth) {
    if (depth > filter_depth_max)
      return refuse(ErrorCode::too_large, "filter, at byte " + std::to_string(token_.at()) + ": more than " +
                                              std::to_string(filter_depth_max) + " levels");
    if (!keyword("NOT")) return primary(depth);
    const std::size_t at = token_.at();
    EVERSHARD_TRY(token_.step());
    auto inner = negation(depth + 1);
    if (!inner) return inner;
    FilterNode node{.kind = FilterNode::Kind::negated, .at = at};
    node.children.push_back(std::move(*inner));
    return node;
  }

  Result<FilterNode> primary(std::size_t depth) {
    if (symbol("(")) {
      EVERSHARD_TRY(token_.step());
      auto inner = disjunction(depth + 1);
      if (!inner) return inner;
      if (!symbol(")")) return no_filter(token_.at(), "expected ), AND or OR, found " + token_.found());
      EVERSHARD_TRY(token_.step());
      return inner;
    }
    if (token_.kind() != FilterToken::word)
      return no_filter(token_.at(), "expected a field, NOT or (, found " + token_.found());
    FilterNode node{.kind = FilterNode::Kind::holds, .field = token_.text(), .at = token_.at()};
    EVERSHARD_TRY(token_.step());
    return predicate(std::move(node));
  }

  Result<FilterNode> predicate(FilterNode node) {
    if (token_.kind() == FilterToken::symbol) {
      constexpr std::array<std::pair<std::string_view, CompareOp>, 7> ops{{{"=", CompareOp::equal},
                                                                           {"!=", CompareOp::not_equal},
                                                                           {"<>", CompareOp::not_equal},
                                                                           {"<", CompareOp::less},
                                                                           {"<=", CompareOp::less_equal},
                                                                           {">", CompareOp::greater},
                                                                           {">=", CompareOp::greater_equal}}};
      for (const auto& [text, op] : ops) {
        if (!symbol(text)) continue;
        node.op = op;
        return with_operand(std::move(node), FilterNode::Kind::compare);
      }
      if (symbol("=~")) return with_operand(std::move(node), FilterNode::Kind::matches);
      return counted(std::move(node));
    }
    if (keyword("IS")) return null_test(std::move(node));
    const bool negated = keyword("NOT");
    if (negated) EVERSHARD_TRY(token_.step());
    Result<FilterNode> made = no_filter(token_.at(), "expected IN, LIKE or CONTAINS, found " + token_.found());
    if (keyword("IN"))
      made = list(std::move(node));
    else if (keyword("LIKE"))
      made = with_operand(std::move(node), FilterNode::Kind::like);
    else if (keyword("CONTAINS"))
      made = with_operand(std::move(node), FilterNode::Kind::contains);
    else if (!negated)
      return counted(std::move(node));
    if (!made || !negated) return made;
    FilterNode around{.kind = FilterNode::Kind::negated, .at = made->at};
    around.children.push_back(std::move(*made));
    return around;
  }

  Result<FilterNode> null_test(FilterNode node) {
    EVERSHARD_TRY(token_.step());
    const bool negated = keyword("NOT");
    if (negated) EVERSHARD_TRY(token_.step());
    if (!keyword("NULL")) return no_filter(token_.at(), "expected NULL, found " + token_.found());
    EVERSHARD_TRY(token_.step());
    node.kind = FilterNode::Kind::is_null;
    auto made = counted(std::move(node));
    if (!made || !negated) return made;
    FilterNode around{.kind = FilterNode::Kind::negated, .at = made->at};
    around.children.push_back(std::move(*made));
    return around;
  }

  Result<FilterNode> with_operand(FilterNode node, FilterNode::Kind kind) {
    node.kind = kind;
    EVERSHARD_TRY(token_.step());
    auto right = operand();
    if (!right) return refuse(std::move(right).error());
    node.operands.push_back(std::move(*right));
    return counted(std::move(node));
  }

  Result<FilterNode> list(FilterNode node) {
    node.kind = FilterNode::Kind::in;
    EVERSHARD_TRY(token_.step());
    if (!symbol("(")) return no_filter(token_.at(), "expected ( and a list, found " + token_.found());
    do {
      EVERSHARD_TRY(token_.step());
      auto element = operand();
      if (!element) return refuse(std::move(element).error());
      node.operands.push_back(std::move(*element));
      EVERSHARD_TRY(count());
    } while (symbol(","));
    if (!symbol(")")) return no_filter(token_.at(), "expected , or ), found " + token_.found());
    EVERSHARD_TRY(token_.step());
    return node;
  }

  Result<FilterOperand> operand() {
    FilterOperand operand{.value = {}, .name = {}, .at = token_.at()};
    switch (token_.kind()) {
      case FilterToken::text:
        operand.value = TableValue(token_.text());
        break;
      case FilterToken::bytes:
        operand.kind = FilterOperand::Kind::bytes;
        operand.value = TableValue(token_.text());
        break;
      case FilterToken::number: {
        auto number = number_of(token_.text());
        if (!number) return no_filter(token_.at(), token_.found() + " is no number");
        operand.value = std::move(*number);
        break;
      }
      case FilterToken::parameter:
        operand.kind = FilterOperand::Kind::parameter;
        operand.name = token_.text();
        break;
      case FilterToken::word:
        operand.kind = FilterOperand::Kind::field;
        operand.name = token_.text();
        break;
      case FilterToken::keyword:
        if (keyword("TRUE") || keyword("FALSE")) {
          operand.value = TableValue(keyword("TRUE"));
          break;
        }
        if (keyword("NULL")) return no_filter(token_.at(), "nothing is equal to NULL: write IS NULL or IS NOT NULL");
        [[fallthrough]];
      default:
        return no_filter(token_.at(), "expected a value, found " + token_.found());
    }
    EVERSHARD_TRY(token_.step());
    return operand;
  }

  static std::optional<TableValue> number_of(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    const char* end = text.data() + text.size();
    std::int64_t whole = 0;
    if (const auto read = std::from_chars(text.data(), end, whole); read.ec == std::errc{} && read.ptr == end)
      return TableValue(whole);
    if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string_view::npos) return {};
    double number = 0;
    if (const auto read = std::from_chars(text.data(), end, number); read.ec != std::errc{} || read.ptr != end)
      return {};
    return TableValue(number == 0 ? 0.0 : number);
  }

  Result<void> count() {
    if (++terms_ > filter_terms_max)
      return refuse(ErrorCode::too_large,
                    "filter: more than " + std::to_string(filter_terms_max) + " comparisons and elements of lists");
    return {};
  }
  Result<FilterNode> counted(FilterNode node) {
    EVERSHARD_TRY(count());
    return node;
  }

  FilterLexer token_;
  std::size_t terms_ = 0;
};

std::string quoted_text(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') quoted += '\'';
    quoted += c;
  }
  return quoted + '\'';
}

std::string operand_text(const FilterOperand& operand) {
  if (operand.kind == FilterOperand::Kind::field) return operand.name;
  if (operand.kind == FilterOperand::Kind::parameter)
    return (std::ranges::all_of(operand.name, is_filter_digit) ? '?' : ':') + operand.name;
  if (operand.kind == FilterOperand::Kind::bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex = "x'";
    for (const char c : *operand.value.as<std::string>()) {
      hex += digits[static_cast<unsigned char>(c) >> 4];
      hex += digits[static_cast<unsigned char>(c) & 15];
    }
    return hex + '\'';
  }
  if (const auto* text = operand.value.as<std::string>()) return quoted_text(*text);
  std::string text = operand.value.text();
  // A double that looks like a whole number is to be read as a double again.
  if (operand.value.as<double>() != nullptr && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string_view op_text(CompareOp op) {
  constexpr std::array<std::string_view, 6> texts{" = ", " != ", " < ", " <= ", " > ", " >= "};
  return texts[static_cast<std::size_t>(op)];
}

/// `around`: how strongly what stands around it binds.
std::string node_text(const FilterNode& node, int around) {
  const auto joined = [&](std::string_view word, int strength) {
    std::string text;
    for (const FilterNode& child : node.children)
      text += (text.empty() ? "" : std::string(word)) + node_text(child, strength);
    return around >= strength ? '(' + text + ')' : text;
  };
  switch (node.kind) {
    case FilterNode::Kind::any_of:
      return joined(" OR ", 1);
    case FilterNode::Kind::all_of:
      return joined(" AND ", 2);
    case FilterNode::Kind::negated:
      return "NOT " + node_text(node.children[0], 2);
    case FilterNode::Kind::compare:
      return node.field + std::string(op_text(node.op)) + operand_text(node.operands[0]);
    case FilterNode::Kind::like:
      return node.field + " LIKE " + operand_text(node.operands[0]);
    case FilterNode::Kind::contains:
      return node.field + " CONTAINS " + operand_text(node.operands[0]);
    case FilterNode::Kind::matches:
      return node.field + " =~ " + operand_text(node.operands[0]);
    case FilterNode::Kind::is_null:
      return node.field + " IS NULL";
    case FilterNode::Kind::holds:
      return node.field;
    case FilterNode::Kind::in:
      break;
  }
  std::string list;
  for (const FilterOperand& operand : node.operands) list += (list.empty() ? "" : ", ") + operand_text(operand);
  return node.field + " IN (" + list + ')';
}

}  // namespace

Result<FilterNode> parse_filter(std::string_view text) {
  if (text.size() > filter_bytes_max)
    return refuse(ErrorCode::too_large, "a filter has at most " + std::to_string(filter_bytes_max) +
                                            " bytes, this one has " + std::to_string(text.size()));
  if (!is_utf8(text)) return refuse(ErrorCode::invalid_argument, "filter: not UTF-8: " + in_quotes(text));
  return FilterParser(text).run();
}

std::string text_of(const FilterNode& node) { return node_text(node, 0); }

}  // namespace evershard::actors
