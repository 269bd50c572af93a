#include "evershard/services/tables/table_keys.hpp"

#include <bit>
#include <cmath>

#include "evershard/protocol/check.hpp"

namespace evershard::actors::table_keys {
namespace {

constexpr char string_end = '\x01';  ///< behind a NUL: the end
constexpr char string_nul = '\xff';  ///< behind a NUL: a NUL of the string's own
constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;

void put_big(std::string& out, std::uint64_t value) {
  char bytes[8];
  for (unsigned i = 0; i < 8; ++i) bytes[i] = static_cast<char>(value >> (56 - 8 * i));
  out.append(bytes, sizeof bytes);
}

std::uint64_t get_big(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 8; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// Of doubles the negative ones sort backwards: all of their bits are turned.
std::uint64_t turned(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
  return bits & sign_bit ? ~bits : bits | sign_bit;
}
double turned_back(std::uint64_t bits) { return std::bit_cast<double>(bits & sign_bit ? bits & ~sign_bit : ~bits); }

void put_string(std::string& out, std::string_view value) {
  for (std::size_t at = 0; at <= value.size();) {
    const std::size_t nul = value.find('\0', at);
    out.append(value.substr(at, nul == std::string_view::npos ? nul : nul - at));
    out += '\0';
    if (nul == std::string_view::npos) break;
    out += string_nul;
    at = nul + 1;
  }
  out += string_end;
}

Refused damaged_key(std::string_view why) {
  return refuse(ErrorCode::corruption, "a key of a table is damaged: " + std::string(why));
}

Result<std::string> take_string(std::string_view& from) {
  std::string value;
  for (;;) {
    const std::size_t nul = from.find('\0');
    if (nul == std::string_view::npos || nul + 1 >= from.size()) return damaged_key("a string has no end");
    value.append(from.substr(0, nul));
    const char mark = from[nul + 1];
    from.remove_prefix(nul + 2);
    if (mark == string_end) return value;
    if (mark != string_nul) return damaged_key("a NUL is followed by what cannot be");
    value += '\0';
  }
}

std::string field_key(Part part, std::size_t field) {
  std::string key = part_prefix(part);
  key += static_cast<char>(field);
  return key;
}

}  // namespace

void append_ordered(std::string& out, FieldType type, const TableValue& value) {
  switch (type) {
    case FieldType::text:
    case FieldType::bytes:
      return put_string(out, *value.as<std::string>());
    case FieldType::integer:
      return put_big(out, static_cast<std::uint64_t>(*value.as<std::int64_t>()) ^ sign_bit);
    case FieldType::time:
      return put_big(out, static_cast<std::uint64_t>(value.as<Timestamp>()->micros) ^ sign_bit);
    case FieldType::number:
      return put_big(out, turned(*value.as<double>()));
    case FieldType::boolean:
      out += *value.as<bool>() ? '\1' : '\0';
      return;
    case FieldType::json:
      break;
  }
  EVERSHARD_CHECK(false, "JSON is in no key: the schema was checked");
}

void append_ordered_or_null(std::string& out, FieldType type, const TableValue& value) {
  out += value.is_null() ? '\0' : '\1';
  if (!value.is_null()) append_ordered(out, type, value);
}

Result<TableValue> take_ordered(std::string_view& from, FieldType type) {
  switch (type) {
    case FieldType::text:
    case FieldType::bytes: {
      auto taken = take_string(from);
      if (!taken) return refuse(std::move(taken).error());
      return TableValue(std::move(*taken));
    }
    case FieldType::boolean: {
      if (from.empty() || static_cast<unsigned char>(from[0]) > 1) return damaged_key("a boolean is neither");
      const bool value = from[0] != '\0';
      from.remove_prefix(1);
      return TableValue(value);
    }
    case FieldType::integer:
    case FieldType::time:
    case FieldType::number: {
      if (from.size() < 8) return damaged_key("a number has no 8 bytes");
      const std::uint64_t bits = get_big(from);
      from.remove_prefix(8);
      if (type == FieldType::number) return TableValue(turned_back(bits));
      const auto value = static_cast<std::int64_t>(bits ^ sign_bit);
      return type == FieldType::time ? TableValue(Timestamp{value}) : TableValue(value);
    }
    case FieldType::json:
      break;
  }
  return damaged_key("a field of its type is in no key");
}

Result<TableValue> take_ordered_or_null(std::string_view& from, FieldType type) {
  if (from.empty() || static_cast<unsigned char>(from[0]) > 1) return damaged_key("a value is neither null nor not");
  const bool null = from[0] == '\0';
  from.remove_prefix(1);
  if (null) return TableValue();
  return take_ordered(from, type);
}

void append_inverted(std::string& out, std::string_view bytes) {
  for (const char c : bytes) out += static_cast<char>(~static_cast<unsigned char>(c));
}

void append_row(std::string& out, std::string_view key) {
  out += static_cast<char>(Part::row);
  out += key;
}

std::string row(std::string_view key) {
  std::string made;
  made.reserve(1 + key.size());
  append_row(made, key);
  return made;
}

std::string index_field_prefix(std::size_t field) { return field_key(Part::index, field); }
std::string unique_field_prefix(std::size_t field) { return field_key(Part::unique, field); }

std::string index(std::size_t field, FieldType type, const TableValue& value, std::string_view key) {
  const auto* text = value.as<std::string>();
  std::string made;
  made.reserve(3 + (text == nullptr ? 8 : text->size() + 2) + key.size());
  made += static_cast<char>(Part::index);
  made += static_cast<char>(field);
  append_ordered_or_null(made, type, value);
  made += key;
  return made;
}

std::string index_prefix(std::size_t field, FieldType type, const TableValue& value) {
  return index(field, type, value, {});
}

std::string unique(std::size_t field, FieldType type, const TableValue& value) {
  std::string key = unique_field_prefix(field);
  append_ordered(key, type, value);
  return key;
}

std::string parked(GlobalPosition position) {
  std::string key = part_prefix(Part::parked);
  put_big(key, position.value);
  return key;
}

std::string behind(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

Result<std::string_view> row_of_index(std::string_view key, FieldType type) {
  if (key.size() < 2 || key[0] != static_cast<char>(Part::index)) return damaged_key("it is of no index");
  key.remove_prefix(2);
  const auto value = take_ordered_or_null(key, type);
  if (!value) return refuse(value.error());
  return key;
}

Result<GlobalPosition> position_of_parked(std::string_view key) {
  if (key.size() != 9 || key[0] != static_cast<char>(Part::parked)) return damaged_key("it is of no parked event");
  return GlobalPosition(get_big(key.substr(1)));
}

}  // namespace evershard::actors::table_keys
