#include "evershard/protocol/table_value.hpp"

#include <array>
#include <charconv>

#include "evershard/protocol/in_quotes.hpp"

namespace evershard {
namespace {

constexpr std::array<std::string_view, field_types_end> field_type_names{"",        "text", "integer", "number",
                                                                         "boolean", "time", "bytes",   "json"};

struct ValueText {
  std::string operator()(std::monostate) const { return "null"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(double value) const {
    std::array<char, 32> buffer;
    return std::string(buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr);
  }
  std::string operator()(Timestamp value) const { return value.text(); }
  std::string operator()(const std::string& value) const { return in_quotes(value); }
};

}  // namespace

std::string_view name_of(FieldType type) { return field_type_names[static_cast<std::size_t>(type) % field_types_end]; }

std::optional<FieldType> field_type_of(std::string_view name) {
  for (std::uint8_t type = 1; type < field_types_end; ++type) {
    if (field_type_names[type] == name) return static_cast<FieldType>(type);
  }
  return {};
}

TableValue::TableValue(const TableValue&) = default;
TableValue::TableValue(TableValue&&) noexcept = default;
TableValue& TableValue::operator=(const TableValue&) = default;
TableValue& TableValue::operator=(TableValue&&) noexcept = default;
TableValue::~TableValue() = default;

std::string TableValue::text() const { return std::visit(ValueText{}, value_); }

}  // namespace evershard
