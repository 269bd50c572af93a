#include "evershard/protocol/table_schema.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/name.hpp"

namespace evershard {
namespace {

constexpr std::array<std::string_view, 4> field_role_names{"normal", "key", "index", "unique"};
constexpr std::array<std::string_view, 10> reserved_names{"and",      "or", "not",  "in",   "like",
                                                          "contains", "is", "null", "true", "false"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

Result<void> check_field_name(std::string_view name) {
  EVERSHARD_TRY(check_name("field", name, field_name_bytes_max));
  if (!is_letter(name[0]) ||
      !std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || is_digit(c); })) {
    return refuse(ErrorCode::invalid_argument,
                  "field " + in_quotes(name) + ": a field's name is a letter or _, then letters, digits and _");
  }
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (std::find(reserved_names.begin(), reserved_names.end(), lower) != reserved_names.end()) {
    return refuse(ErrorCode::invalid_argument,
                  "field " + in_quotes(name) + " is a word of filter expressions: give it another name");
  }
  return {};
}

}  // namespace

std::span<const std::string_view> reserved_field_names() { return reserved_names; }

std::string_view name_of(FieldRole role) {
  return field_role_names[static_cast<std::size_t>(role) % field_role_names.size()];
}

std::optional<FieldRole> field_role_of(std::string_view name) {
  const auto found = std::find(field_role_names.begin(), field_role_names.end(), name);
  if (found == field_role_names.end()) return {};
  return static_cast<FieldRole>(found - field_role_names.begin());
}

std::optional<std::size_t> TableSchema::find(std::string_view field) const {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name == field) return i;
  }
  return {};
}

Result<std::size_t> TableSchema::at(std::string_view field) const {
  if (const auto found = find(field)) return *found;
  std::string known;
  for (const auto& each : fields) known += (known.empty() ? "" : ", ") + each.name;
  return refuse(ErrorCode::invalid_argument,
                "table " + in_quotes(name) + " has no field " + in_quotes(field) + "; its fields are " + known);
}

std::vector<std::size_t> TableSchema::key() const {
  std::vector<std::size_t> key;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].role == FieldRole::key) key.push_back(i);
  }
  return key;
}

Result<void> TableSchema::check() const {
  EVERSHARD_TRY(check_name("table", name, table_name_bytes_max));
  if (fields.empty()) return refuse(ErrorCode::invalid_argument, "table " + in_quotes(name) + " has no fields");
  if (fields.size() > table_fields_max) {
    return refuse(ErrorCode::too_large, "table " + in_quotes(name) + " has " + std::to_string(fields.size()) +
                                            " fields; at most " + std::to_string(table_fields_max));
  }
  bool has_key = false;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const TableField& field = fields[i];
    EVERSHARD_TRY(check_field_name(field.name));
    if (find(field.name) != i)
      return refuse(ErrorCode::invalid_argument, "field " + in_quotes(field.name) + " is there twice");
    if (name_of(field.type).empty())
      return refuse(ErrorCode::invalid_argument, "field " + in_quotes(field.name) + " has no type");
    if (field.role != FieldRole::normal && !is_ordered(field.type)) {
      return refuse(ErrorCode::invalid_argument, "field " + in_quotes(field.name) + " is " +
                                                     std::string(name_of(field.role)) + ", which a field of type " +
                                                     std::string(name_of(field.type)) + " cannot be");
    }
    if (field.role == FieldRole::key && field.nullable)
      return refuse(ErrorCode::invalid_argument,
                    "field " + in_quotes(field.name) + " is of the key: it cannot be nullable");
    has_key |= field.role == FieldRole::key;
  }
  if (!has_key) return refuse(ErrorCode::invalid_argument, "table " + in_quotes(name) + " has no field of role key");
  return {};
}

}  // namespace evershard
