#include "evershard/services/tables/filter.hpp"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstring>
#include <set>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/services/tables/like_pattern.hpp"
#include "evershard/storage/index/read_work.hpp"

namespace evershard::actors {

struct Filter::Term {
  FilterNode::Kind kind{};
  std::vector<std::unique_ptr<Term>> children{};
  std::size_t field = 0;
  FieldType type{};
  CompareOp op{};
  bool null = false;  ///< it is compared with null, a parameter's; of a list: one of its values is null
  std::vector<TableValue> values{};
  std::optional<std::size_t> other{};  ///< it is compared with that field
  FieldType other_type{};
  std::optional<LikePattern> like{};
  std::unique_ptr<re2::RE2> pattern{};
  std::size_t pattern_size = 0;
  std::vector<std::pair<std::string, std::size_t>> row_key{};  ///< of a pattern: names and fields, for errors
  std::string name{};                                          ///< of a pattern: the field's
};

namespace {

using Term = Filter::Term;

constexpr std::int64_t pattern_memory_max = 4 << 20;
constexpr std::uint64_t steps_of_a_nanosecond = 4;  ///< of a usual match; the worst take 50 times as long
constexpr std::uint64_t nanoseconds_of_a_step_at_worst = 12;
constexpr std::size_t match_steps_usual = 4'000'000;  ///< up to which even the worst take no more than some 50 ms

/// Of how many steps a regular expression is. In Latin-1 a class of all letters is a few ranges; in UTF-8 it is a
/// thousand byte sequences, of which a text can be in a few only. So this says what a match can cost, and RE2's size in
/// UTF-8 does not.
std::size_t size_of_pattern(const std::string& text) {
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_log_errors(false);
  options.set_max_mem(pattern_memory_max);
  const re2::RE2 pattern(text, options);
  return pattern.ok() ? static_cast<std::size_t>(pattern.ProgramSize()) : pattern_size_max + 1;
}

Truth truth(bool holds) { return holds ? Truth::yes : Truth::no; }
bool is_numeric(FieldType type) { return type == FieldType::integer || type == FieldType::number; }
bool is_textual(FieldType type) { return type == FieldType::text || type == FieldType::json; }

/// Exact, whatever the size of either.
std::strong_ordering exact_order(std::int64_t whole, double number) {
  if (number >= 9223372036854775808.0) return std::strong_ordering::less;
  if (number < -9223372036854775808.0) return std::strong_ordering::greater;
  const double below = std::floor(number);
  if (const auto order = whole <=> static_cast<std::int64_t>(below); order != 0) return order;
  return below < number ? std::strong_ordering::less : std::strong_ordering::equal;
}
std::strong_ordering exact_order(double a, double b) {
  return a < b ? std::strong_ordering::less : a > b ? std::strong_ordering::greater : std::strong_ordering::equal;
}
std::strong_ordering turned_round(std::strong_ordering order) { return 0 <=> order; }

bool holds(CompareOp op, std::strong_ordering order) {
  switch (op) {
    case CompareOp::equal:
      return order == 0;
    case CompareOp::not_equal:
      return order != 0;
    case CompareOp::less:
      return order < 0;
    case CompareOp::less_equal:
      return order <= 0;
    case CompareOp::greater:
      return order > 0;
    case CompareOp::greater_equal:
      break;
  }
  return order >= 0;
}

/// A field that is not null with a value that was made for its type.
std::strong_ordering order_of(const RowView& row, std::size_t field, FieldType type, const TableValue& value) {
  switch (type) {
    case FieldType::boolean:
      return row.boolean(field) <=> *value.as<bool>();
    case FieldType::time:
      return row.integer(field) <=> value.as<Timestamp>()->micros;
    case FieldType::integer:
      if (const auto* whole = value.as<std::int64_t>()) [[likely]]
        return row.integer(field) <=> *whole;
      return exact_order(row.integer(field), *value.as<double>());
    case FieldType::number:
      if (const auto* number = value.as<double>()) [[likely]]
        return exact_order(row.number(field), *number);
      return turned_round(exact_order(*value.as<std::int64_t>(), row.number(field)));
    default:
      return row.string(field) <=> std::string_view(*value.as<std::string>());
  }
}

std::strong_ordering order_of(const RowView& row, std::size_t a, FieldType type_a, std::size_t b, FieldType type_b) {
  if (is_string(type_a)) return row.string(a) <=> row.string(b);
  if (type_a == FieldType::boolean) return row.boolean(a) <=> row.boolean(b);
  if (type_a == type_b)
    return type_a == FieldType::number ? exact_order(row.number(a), row.number(b)) : row.integer(a) <=> row.integer(b);
  if (type_a == FieldType::integer) return exact_order(row.integer(a), row.number(b));
  return turned_round(exact_order(row.integer(b), row.number(a)));
}

/// Builds terms; notes which parameters are used.
class FilterBinding {
 public:
  FilterBinding(const TableSchema& schema, const std::map<std::string, TableValue>& parameters)
      : schema_(schema), parameters_(parameters) {}

  Result<std::unique_ptr<Term>> term(const FilterNode& node) {
    auto made = std::make_unique<Term>();
    made->kind = node.kind;
    for (const FilterNode& child : node.children) {
      auto inner = term(child);
      if (!inner) return inner;
      made->children.push_back(std::move(*inner));
    }
    if (!node.children.empty()) return made;
    const auto field = schema_.at(node.field);
    if (!field) return wrong(node.at, field.error().what);
    made->field = *field;
    made->type = schema_.fields[*field].type;
    made->op = node.op;
    if (auto bound = bind(node, *made); !bound) return refuse(std::move(bound).error());
    return made;
  }

  Result<void> all_used() const {
    for (const auto& [name, value] : parameters_) {
      if (!used_.contains(name))
        return refuse(ErrorCode::invalid_argument, "the filter has no parameter " + in_quotes(name));
    }
    return {};
  }

 private:
  static Refused wrong(std::size_t at, const std::string& what) {
    return refuse(ErrorCode::invalid_argument, "filter, at byte " + std::to_string(at) + ": " + what);
  }
  std::string field_text(const Term& term) const {
    return "field " + in_quotes(schema_.fields[term.field].name) + " is of type " + std::string(name_of(term.type));
  }

  Result<void> bind(const FilterNode& node, Term& term) {
    switch (node.kind) {
      case FilterNode::Kind::holds:
        if (term.type != FieldType::boolean)
          return wrong(node.at, field_text(term) + ": a comparison is missing behind it");
        return {};
      case FilterNode::Kind::compare:
        return compare(node, term);
      case FilterNode::Kind::in:
        return in_list(node, term);
      case FilterNode::Kind::like:
      case FilterNode::Kind::contains:
      case FilterNode::Kind::matches:
        return pattern(node, term);
      default:
        return {};
    }
  }

  Result<void> compare(const FilterNode& node, Term& term) {
    const FilterOperand& operand = node.operands[0];
    if (term.type == FieldType::json && node.op != CompareOp::equal && node.op != CompareOp::not_equal)
      return wrong(node.at, field_text(term) + ", which has no order");
    if (operand.kind == FilterOperand::Kind::field) {
      const auto other = schema_.at(operand.name);
      if (!other) return wrong(operand.at, other.error().what);
      term.other = *other;
      term.other_type = schema_.fields[*other].type;
      if (term.type != term.other_type && !(is_numeric(term.type) && is_numeric(term.other_type))) {
        return wrong(operand.at, field_text(term) + ", and field " + in_quotes(operand.name) + " of type " +
                                     std::string(name_of(term.other_type)));
      }
      return {};
    }
    auto value = value_of(operand, term);
    if (!value) return refuse(std::move(value).error());
    term.null = value->is_null();
    term.values.push_back(std::move(*value));
    return {};
  }

  Result<void> in_list(const FilterNode& node, Term& term) {
    for (const FilterOperand& operand : node.operands) {
      if (operand.kind == FilterOperand::Kind::field) return wrong(operand.at, "a list is of values, not of fields");
      auto value = value_of(operand, term);
      if (!value) return refuse(std::move(value).error());
      if (value->is_null())
        term.null = true;
      else
        term.values.push_back(std::move(*value));
    }
    return {};
  }

  Result<void> pattern(const FilterNode& node, Term& term) {
    const FilterOperand& operand = node.operands[0];
    if (operand.kind == FilterOperand::Kind::field) return wrong(operand.at, "a pattern is a text, not a field");
    if (!is_textual(term.type) && !(term.type == FieldType::bytes && node.kind == FilterNode::Kind::contains))
      return wrong(node.at, field_text(term) + ", which has no patterns");
    auto value = value_of(operand, term);
    if (!value) return refuse(std::move(value).error());
    term.null = value->is_null();
    if (term.null) return {};
    const std::string& text = *value->as<std::string>();
    if (text.size() > pattern_bytes_max)
      return refuse(ErrorCode::too_large, "filter, at byte " + std::to_string(operand.at) + ": a pattern has at most " +
                                              std::to_string(pattern_bytes_max) + " bytes");
    if (node.kind == FilterNode::Kind::like) {
      auto like = LikePattern::make(text);
      if (!like) return wrong(operand.at, like.error().what);
      term.like = std::move(*like);
    } else if (node.kind == FilterNode::Kind::matches) {
      re2::RE2::Options options;
      options.set_log_errors(false);
      options.set_max_mem(pattern_memory_max);
      term.pattern = std::make_unique<re2::RE2>(text, options);
      if (!term.pattern->ok())
        return wrong(operand.at, in_quotes(text) + " is no regular expression: " + term.pattern->error());
      term.pattern_size = size_of_pattern(text);
      term.name = schema_.fields[term.field].name;
      for (std::size_t i = 0; i < schema_.fields.size(); ++i)
        if (schema_.fields[i].role == FieldRole::key) term.row_key.emplace_back(schema_.fields[i].name, i);
      if (term.pattern_size > pattern_size_max) {
        return refuse(ErrorCode::too_large,
                      "filter, at byte " + std::to_string(operand.at) + ": " + in_quotes(text, 40) +
                          " is too large a regular expression: it has " +
                          (term.pattern_size > pattern_size_max + 1 ? std::to_string(term.pattern_size) : "too many") +
                          " steps of at most " + std::to_string(pattern_size_max) +
                          ", each repetition {n} counted n times");
      }
    }
    term.values.push_back(std::move(*value));
    return {};
  }

  /// Of the type that the field is compared with, or null.
  Result<TableValue> value_of(const FilterOperand& operand, const Term& term) {
    TableValue value = operand.value;
    if (operand.kind == FilterOperand::Kind::parameter) {
      const auto given = parameters_.find(operand.name);
      if (given == parameters_.end())
        return wrong(operand.at, "the parameter " + in_quotes(operand.name) + " is not given");
      used_.insert(operand.name);
      value = given->second;
      if (value.is_null()) return value;
    }
    const auto* text = value.as<std::string>();
    // A number that was meant as a text is what is met most: a parameter's text on a command line is JSON where it can
    // be.
    const auto refused = [&] {
      const std::string given = operand_name(operand, value);
      return wrong(operand.at,
                   field_text(term) + ", and is not compared with " + given +
                       (is_textual(term.type) && text == nullptr ? ": a text stands in quotes, \"" + given + '"'
                                                                 : std::string()));
    };
    switch (term.type) {
      case FieldType::text:
      case FieldType::json:
        if (text == nullptr || operand.kind == FilterOperand::Kind::bytes) return refused();
        return value;
      case FieldType::bytes:
        if (text == nullptr || operand.kind == FilterOperand::Kind::value) return refused();
        return value;
      case FieldType::boolean:
        if (value.as<bool>() == nullptr) return refused();
        return value;
      case FieldType::time: {
        if (value.as<Timestamp>() != nullptr) return value;
        if (text == nullptr || operand.kind == FilterOperand::Kind::bytes) return refused();
        const auto time = Timestamp::parse(*text);
        if (!time) return wrong(operand.at, in_quotes(*text) + " is no time, as '2026-01-31T12:00:00Z' is");
        return TableValue(*time);
      }
      case FieldType::integer:
      case FieldType::number:
        break;
    }
    if (const auto* whole = value.as<std::int64_t>()) {
      const auto number = static_cast<double>(*whole);
      if (term.type == FieldType::number && exact_order(*whole, number) == 0) return TableValue(number);
      return value;
    }
    const auto* number = value.as<double>();
    if (number == nullptr) return refused();
    if (std::isnan(*number)) return wrong(operand.at, "NaN is no number");
    if (term.type == FieldType::integer && *number == std::floor(*number) && *number >= -9223372036854775808.0 &&
        *number < 9223372036854775808.0) {
      return TableValue(static_cast<std::int64_t>(*number));
    }
    return *number == 0 ? TableValue(0.0) : value;
  }

  static std::string operand_name(const FilterOperand& operand, const TableValue& value) {
    return operand.kind == FilterOperand::Kind::bytes ? "bytes" : value.text();
  }

  const TableSchema& schema_;
  const std::map<std::string, TableValue>& parameters_;
  std::set<std::string> used_;
};

Result<Truth> evaluate_pattern(const Term& term, const RowView& row);

Result<Truth> evaluate_term(const Term& term, const RowView& row) {
  switch (term.kind) {
    case FilterNode::Kind::all_of: {
      Truth least = Truth::yes;
      for (const auto& child : term.children) {
        const auto one = evaluate_term(*child, row);
        if (!one) return one;
        least = std::min(least, *one);
        if (least == Truth::no) break;
      }
      return least;
    }
    case FilterNode::Kind::any_of: {
      Truth most = Truth::no;
      for (const auto& child : term.children) {
        const auto one = evaluate_term(*child, row);
        if (!one) return one;
        most = std::max(most, *one);
        if (most == Truth::yes) break;
      }
      return most;
    }
    case FilterNode::Kind::negated: {
      const auto inner = evaluate_term(*term.children[0], row);
      if (!inner) return inner;
      return static_cast<Truth>(2 - static_cast<int>(*inner));
    }
    case FilterNode::Kind::is_null:
      return truth(row.is_null(term.field));
    default:
      break;
  }
  if (row.is_null(term.field)) return Truth::unknown;
  switch (term.kind) {
    case FilterNode::Kind::holds:
      return truth(row.boolean(term.field));
    case FilterNode::Kind::compare:
      if (term.other) {
        if (row.is_null(*term.other)) return Truth::unknown;
        return truth(holds(term.op, order_of(row, term.field, term.type, *term.other, term.other_type)));
      }
      if (term.null) return Truth::unknown;
      return truth(holds(term.op, order_of(row, term.field, term.type, term.values[0])));
    case FilterNode::Kind::in:
      EVERSHARD_TRY(storage::spend(4 * term.values.size()));
      for (const TableValue& value : term.values) {
        if (order_of(row, term.field, term.type, value) == 0) return Truth::yes;
      }
      return term.null ? Truth::unknown : Truth::no;
    default:
      break;
  }
  if (term.null) return Truth::unknown;
  return evaluate_pattern(term, row);
}

/// With how the others are found all the same: a filter is looked at from left to right, until it is decided.
Refused text_is_too_long(const Term& term, const RowView& row, std::size_t bytes) {
  constexpr std::size_t key_text_max = 200;
  std::string is, is_not;
  for (const auto& [name, field] : term.row_key) {
    const auto value = row.value(field);
    const auto text =
        value.as<std::string>() != nullptr ? in_quotes(*value.as<std::string>(), key_text_max) : value.text();
    is += (is.empty() ? "" : ", ") + name + " " + text;
    is_not += (is_not.empty() ? "" : " OR ") + name + " != " + text;
  }
  return refuse(ErrorCode::too_large,
                "filter: field " + in_quotes(term.name) + " of the row with " + is + " has " + std::to_string(bytes) +
                    " bytes, too many for the regular expression " + in_quotes(term.pattern->pattern(), 40) +
                    ": bytes times its " + std::to_string(term.pattern_size) + " steps are at most " +
                    std::to_string(match_steps_max) + ". The other rows are found with this in front of the filter: (" +
                    is_not + ") AND ...; CONTAINS and LIKE have no such limit");
}

Result<Truth> evaluate_pattern(const Term& term, const RowView& row) {
  const std::string_view text = row.string(term.field);
  if (term.kind == FilterNode::Kind::like) {
    const auto matches = term.like->matches(text);
    if (!matches) return refuse(matches.error());
    return truth(*matches);
  }
  EVERSHARD_TRY(storage::spend(text.size()));
  if (term.kind == FilterNode::Kind::contains) {
    const std::string& part = *term.values[0].as<std::string>();
    return truth(::memmem(text.data(), text.size(), part.data(), part.size()) !=
                 nullptr);  // in linear time, which string_view::find does not promise
  }
  const std::size_t steps = text.size() * term.pattern_size;
  if (steps > match_steps_max) return text_is_too_long(term, row, text.size());
  EVERSHARD_TRY(steps > match_steps_usual ? storage::spend_at_once(steps * nanoseconds_of_a_step_at_worst)
                                          : storage::spend(steps / steps_of_a_nanosecond));
  return truth(re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *term.pattern));
}

void add_needed(const Term& term, std::vector<Filter::Needed>& needed) {
  if (term.kind == FilterNode::Kind::all_of) {
    for (const auto& child : term.children) add_needed(*child, needed);
    return;
  }
  if (term.kind == FilterNode::Kind::holds) needed.push_back({term.field, CompareOp::equal, TableValue(true)});
  const bool one = term.kind == FilterNode::Kind::in && term.values.size() == 1 && !term.null;
  if (term.kind == FilterNode::Kind::compare || one) {
    if (term.other || term.null || term.op == CompareOp::not_equal || term.type == FieldType::json) return;
    // A whole number for a field of doubles, or a fraction for one of whole numbers, has no entry of its own.
    if (term.type == FieldType::integer && term.values[0].as<std::int64_t>() == nullptr) return;
    if (term.type == FieldType::number && term.values[0].as<double>() == nullptr) return;
    needed.push_back({term.field, one ? CompareOp::equal : term.op, term.values[0]});
  }
}

}  // namespace

Filter::Filter(std::unique_ptr<Term> root) : root_(std::move(root)) {}
Filter::Filter(Filter&&) noexcept = default;
Filter& Filter::operator=(Filter&&) noexcept = default;
Filter::~Filter() = default;

Result<Filter> Filter::bind(const FilterNode& tree, const TableSchema& schema,
                            const std::map<std::string, TableValue>& parameters) {
  FilterBinding binding(schema, parameters);
  auto root = binding.term(tree);
  if (!root) return refuse(std::move(root).error());
  EVERSHARD_TRY(binding.all_used());
  return Filter(std::move(*root));
}

Result<Truth> Filter::evaluate(const RowView& row) const { return evaluate_term(*root_, row); }

Result<bool> Filter::finds(const RowView& row) const {
  const auto found = evaluate_term(*root_, row);
  if (!found) return refuse(found.error());
  return *found == Truth::yes;
}

std::vector<Filter::Needed> Filter::needed() const {
  std::vector<Needed> needed;
  add_needed(*root_, needed);
  return needed;
}

}  // namespace evershard::actors
