// Random filters against a naive reading of them: values, not bytes; the tree, not what was bound.

#include <gtest/gtest.h>

#include <random>

#include "evershard/services/tables/filter.hpp"

namespace evershard::actors {
namespace {

const TableSchema things{"things",
                         {{"k", FieldType::text, FieldRole::key},
                          {"i", FieldType::integer, FieldRole::index, true},
                          {"n", FieldType::number, FieldRole::normal, true},
                          {"b", FieldType::boolean, FieldRole::normal, true},
                          {"t", FieldType::text, FieldRole::unique, true},
                          {"at", FieldType::time, FieldRole::normal, true}}};

using Random = std::mt19937_64;
constexpr int no = 0, maybe = 1, yes = 2;

std::string some_text(Random& random) {
  constexpr std::string_view letters[] = {"a", "b", "é", "'", "%", "_"};
  std::string text;
  for (auto n = random() % 4; n != 0; --n) text += letters[random() % std::size(letters)];
  return text;
}

TableValue some_value(Random& random, FieldType type, bool null = true) {
  if (null && random() % 5 == 0) return {};
  switch (type) {
    case FieldType::integer:
      return static_cast<std::int64_t>(random() % 7) - 3;
    case FieldType::number:
      return static_cast<double>(static_cast<std::int64_t>(random() % 13) - 6) / 2;
    case FieldType::boolean:
      return random() % 2 == 0;
    case FieldType::time:
      return Timestamp{static_cast<std::int64_t>(random() % 4)};
    default:
      return some_text(random);
  }
}

FilterOperand some_operand(Random& random, std::size_t field) {
  FilterOperand operand;
  const FieldType type = things.fields[field].type;
  if (random() % 6 == 0) {
    operand.kind = FilterOperand::Kind::field;
    operand.name = type == FieldType::integer ? "n" : type == FieldType::text ? "k" : things.fields[field].name;
    return operand;
  }
  const bool numeric = type == FieldType::integer || type == FieldType::number;
  operand.value =
      some_value(random, numeric ? (random() % 2 == 0 ? FieldType::integer : FieldType::number) : type, false);
  if (type == FieldType::time) operand.value = TableValue(operand.value.as<Timestamp>()->text());
  return operand;
}

FilterNode some_filter(Random& random, int depth) {
  FilterNode node;
  const auto choice = random() % (depth == 0 ? 6 : 9);
  if (choice >= 6) {
    node.kind = choice == 6   ? FilterNode::Kind::negated
                : choice == 7 ? FilterNode::Kind::all_of
                              : FilterNode::Kind::any_of;
    const auto count = choice == 6 ? 1 : 2 + random() % 2;
    for (std::size_t i = 0; i < count; ++i) node.children.push_back(some_filter(random, depth - 1));
    return node;
  }
  const std::size_t field = random() % things.fields.size();
  node.field = things.fields[field].name;
  node.kind = FilterNode::Kind::compare;
  node.op = static_cast<CompareOp>(random() % 6);
  if (choice == 1) {
    node.kind = FilterNode::Kind::is_null;
    node.op = {};
    return node;
  }
  if (choice == 2 && things.fields[field].type == FieldType::boolean) {
    node.kind = FilterNode::Kind::holds;
    node.op = {};
    return node;
  }
  if (choice == 3) {
    node.kind = FilterNode::Kind::in;
    node.op = {};
    for (auto n = 1 + random() % 3; n != 0; --n) {
      node.operands.push_back(some_operand(random, field));
      while (node.operands.back().kind == FilterOperand::Kind::field)
        node.operands.back() = some_operand(random, field);
    }
    return node;
  }
  if ((choice == 4 || choice == 5) && things.fields[field].type == FieldType::text) {
    node.kind = choice == 4 ? FilterNode::Kind::like : FilterNode::Kind::contains;
    node.op = {};
    node.operands.push_back({.value = some_text(random)});
    return node;
  }
  node.operands.push_back(some_operand(random, field));
  return node;
}

// ---- the naive reading

TableValue value_of(const std::vector<TableValue>& row, const FilterOperand& operand) {
  if (operand.kind != FilterOperand::Kind::field) return operand.value;
  return row[*things.find(operand.name)];
}

long double as_number(const TableValue& value) {
  if (const auto* whole = value.as<std::int64_t>()) return static_cast<long double>(*whole);
  if (const auto* flag = value.as<bool>()) return *flag ? 1 : 0;
  if (const auto* time = value.as<Timestamp>()) return static_cast<long double>(time->micros);
  return static_cast<long double>(*value.as<double>());
}

int naive_order(const TableValue& a, TableValue b) {
  if (a.as<Timestamp>() != nullptr && b.as<std::string>() != nullptr)
    b = TableValue(*Timestamp::parse(*b.as<std::string>()));
  if (const auto* text = a.as<std::string>()) return text->compare(*b.as<std::string>());
  return as_number(a) < as_number(b) ? -1 : as_number(a) > as_number(b) ? 1 : 0;
}

/// Character by character, all ways tried.
bool naive_like(std::string_view pattern, std::string_view text) {
  const auto rest = [](std::string_view from) {
    std::size_t n = 1;
    while (n < from.size() && (static_cast<unsigned char>(from[n]) & 0xC0) == 0x80) ++n;
    return from.substr(n);
  };
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '%')
    return naive_like(pattern.substr(1), text) || (!text.empty() && naive_like(pattern, rest(text)));
  if (text.empty()) return false;
  if (pattern[0] == '_') return naive_like(pattern.substr(1), rest(text));
  return pattern[0] == text[0] && naive_like(pattern.substr(1), text.substr(1));
}

int naive(const FilterNode& node, const std::vector<TableValue>& row) {
  int result = node.kind == FilterNode::Kind::all_of ? yes : no;
  switch (node.kind) {
    case FilterNode::Kind::all_of:
      for (const auto& child : node.children) result = std::min(result, naive(child, row));
      return result;
    case FilterNode::Kind::any_of:
      for (const auto& child : node.children) result = std::max(result, naive(child, row));
      return result;
    case FilterNode::Kind::negated:
      return yes - naive(node.children[0], row);
    default:
      break;
  }
  const TableValue& value = row[*things.find(node.field)];
  if (node.kind == FilterNode::Kind::is_null) return value.is_null() ? yes : no;
  if (value.is_null()) return maybe;
  if (node.kind == FilterNode::Kind::holds) return *value.as<bool>() ? yes : no;
  for (const auto& operand : node.operands) {
    const TableValue other = value_of(row, operand);
    if (other.is_null()) return maybe;
    if (node.kind == FilterNode::Kind::like)
      return naive_like(*other.as<std::string>(), *value.as<std::string>()) ? yes : no;
    if (node.kind == FilterNode::Kind::contains)
      return std::string_view(*value.as<std::string>()).find(*other.as<std::string>()) != std::string_view::npos ? yes
                                                                                                                 : no;
    const int order = naive_order(value, other);
    if (node.kind == FilterNode::Kind::in) {
      if (order == 0) return yes;
      continue;
    }
    switch (node.op) {
      case CompareOp::equal:
        return order == 0 ? yes : no;
      case CompareOp::not_equal:
        return order != 0 ? yes : no;
      case CompareOp::less:
        return order < 0 ? yes : no;
      case CompareOp::less_equal:
        return order <= 0 ? yes : no;
      case CompareOp::greater:
        return order > 0 ? yes : no;
      case CompareOp::greater_equal:
        return order >= 0 ? yes : no;
    }
  }
  return no;
}

TEST(FilterProperty, MeansWhatANaiveReadingMeans) {
  const RowLayout layout(things);
  Random random(11);
  int found[3] = {};
  for (int round = 0; round < 20'000; ++round) {
    const FilterNode written = some_filter(random, 3);
    const std::string text = text_of(written);
    const auto read = parse_filter(text);
    ASSERT_TRUE(read) << text << ": " << read.error().what;
    const auto bound = Filter::bind(*read, things, {});
    ASSERT_TRUE(bound) << text << ": " << bound.error().what;
    for (int rows = 0; rows < 3; ++rows) {
      std::vector<TableValue> row;
      for (const auto& field : things.fields)
        row.push_back(some_value(random, field.type, field.role != FieldRole::key));
      const std::string bytes = layout.encode(row);
      const int expected = naive(written, row);
      ASSERT_EQ(static_cast<int>(bound->evaluate(RowView(layout, bytes)).value()), expected) << text;
      ++found[expected];
    }
  }
  for (const int each : found) EXPECT_GT(each, 1'000);
}

TEST(FilterProperty, IsReadAsItIsWritten) {
  Random random(12);
  for (int round = 0; round < 5'000; ++round) {
    const std::string once = text_of(some_filter(random, 4));
    const auto read = parse_filter(once);
    ASSERT_TRUE(read) << once;
    EXPECT_EQ(text_of(*read), once);
    EXPECT_EQ(parse_filter(text_of(*read)).value(), *read);
  }
}

}  // namespace
}  // namespace evershard::actors
