#include "evershard/services/indexes/indexed_value.hpp"

#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include <nlohmann/json.hpp>

#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/timestamp.hpp"
#include "evershard/protocol/utf8.hpp"
#include "evershard/services/indexes/row_bytes.hpp"

namespace evershard::actors {
namespace {

constexpr std::array<std::string_view, 5> value_type_names{"text", "integer", "number", "boolean", "time"};
constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;

Refused not_a_value(ValueType type, std::string_view text) {
  const auto* such_as = type == ValueType::time      ? ", such as 2026-01-31T12:00:00Z"
                        : type == ValueType::boolean ? ": true or false"
                        : type == ValueType::text    ? ": it is not UTF-8"
                                                     : "";
  return refuse(ErrorCode::invalid_argument, in_quotes(std::string(text.substr(0, 100))) + " is no value of type " +
                                                 std::string(name_of(type)) + such_as);
}

template <class Number>
std::optional<Number> number_of(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::int64_t integer_of(std::string_view key) { return static_cast<std::int64_t>(read_big_endian(key) ^ sign_bit); }

double double_of(std::string_view key) {
  const auto bits = read_big_endian(key);
  return std::bit_cast<double>((bits & sign_bit) != 0 ? bits ^ sign_bit : ~bits);
}

}  // namespace

std::string_view name_of(ValueType type) { return value_type_names[static_cast<std::size_t>(type)]; }

std::optional<ValueType> value_type_of(std::string_view name) {
  for (std::size_t i = 0; i < value_type_names.size(); ++i)
    if (value_type_names[i] == name) return static_cast<ValueType>(i);
  return std::nullopt;
}

/// 00 is written 00 FF, and 00 00 ends it: what is a beginning of another sorts before it.
std::string text_key(std::string_view text) {
  std::string key;
  key.reserve(text.size() + 2);
  for (const char c : text) {
    key += c;
    if (c == '\0') key += '\xFF';
  }
  key.append(2, '\0');
  return key;
}

std::string integer_key(std::int64_t value) { return big_endian(static_cast<std::uint64_t>(value) ^ sign_bit); }

std::string number_key(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value == 0 ? 0.0 : value);
  return big_endian((bits & sign_bit) != 0 ? ~bits : bits ^ sign_bit);
}

std::string boolean_key(bool value) { return std::string(1, value ? '\1' : '\0'); }

Result<std::string> value_key(ValueType type, std::string_view text) {
  switch (type) {
    case ValueType::text:
      if (is_utf8(text)) return text_key(text);
      break;
    case ValueType::integer:
      if (const auto integer = number_of<std::int64_t>(text)) return integer_key(*integer);
      break;
    case ValueType::number:
      if (const auto number = number_of<double>(text); number && std::isfinite(*number)) return number_key(*number);
      break;
    case ValueType::boolean:
      if (text == "true" || text == "false") return boolean_key(text == "true");
      break;
    case ValueType::time:
      if (const auto time = Timestamp::parse(text)) return integer_key(time->micros);
      break;
  }
  return not_a_value(type, text);
}

Result<ValueRead> read_value_key(ValueType type, std::string_view key) {
  const auto damaged = [] { return refuse(ErrorCode::corruption, "a row of a value index cannot be read"); };
  if (type == ValueType::text) {
    std::string text;
    for (std::size_t i = 0; i + 1 < key.size(); ++i) {
      text += key[i];
      if (key[i] != '\0') continue;
      if (key[i + 1] == '\0') {
        text.pop_back();
        return ValueRead{nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), i + 2};
      }
      ++i;
    }
    return damaged();
  }
  if (key.size() < (type == ValueType::boolean ? 1u : 8u)) return damaged();
  switch (type) {
    case ValueType::integer:
      return ValueRead{std::to_string(integer_of(key)), 8};
    case ValueType::number:
      return ValueRead{nlohmann::json(double_of(key)).dump(), 8};
    case ValueType::boolean:
      return ValueRead{key[0] != '\0' ? "true" : "false", 1};
    default:
      return ValueRead{"\"" + Timestamp{integer_of(key)}.text() + "\"", 8};
  }
}

}  // namespace evershard::actors
