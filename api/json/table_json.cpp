#include "evershard/api/json/table_json.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "evershard/api/json/json_value.hpp"
#include "evershard/protocol/base64.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::cluster {

void write_value(JsonText& json, FieldType type, const TableValue& value) {
  if (value.is_null()) {
    json.raw("null");
  } else if (const auto* flag = value.as<bool>()) {
    json.boolean(*flag);
  } else if (const auto* text = value.as<std::string>()) {
    if (type == FieldType::json)
      json.raw(json_on_one_line(*text));
    else
      json.string(type == FieldType::bytes ? to_base64(*text) : *text);
  } else if (const auto* time = value.as<Timestamp>()) {
    json.string(time->text());
  } else {
    json.raw(value.text());
  }
}

void write_row(JsonText& json, const std::vector<std::string>& fields, const std::vector<FieldType>& types,
               const std::vector<TableValue>& row) {
  json.begin_object();
  for (std::size_t i = 0; i < row.size(); ++i) write_value(json.key(fields[i]), types[i], row[i]);
  json.end_object();
}

void write_table_info(JsonText& json, const TableInfo& info) {
  json.begin_object()
      .key("projection")
      .string(info.projection)
      .key("version")
      .number(info.version.value)
      .key("state")
      .string(info.state);
  json.key("position").number(info.position.value).key("complete").boolean(info.complete);
  if (!info.error.empty()) json.key("error").string(info.error);
  for (const auto& [name, figure] : info.figures) json.key(name).number(figure);
  json.key("definition").raw(info.definition.empty() ? "null" : info.definition).end_object();
}

void write_parked(JsonText& json, const ParkedRow& parked) {
  json.begin_object()
      .key("position")
      .number(parked.position.value)
      .key("kind")
      .string(parked.kind)
      .key("type")
      .string(parked.type);
  json.key("aggregate");
  if (parked.aggregate.empty())
    json.raw("null");
  else
    json.string(parked.aggregate);
  json.key("reason").string(parked.reason).key("attempts").number(parked.attempts);
  if (parked.part) json.key("part").number(*parked.part);
  json.end_object();
}

TableValue parameter_of(std::string_view text) {
  const auto json = JsonValue::parse(text);
  if (!json) return TableValue(text);
  const std::string_view raw = json->raw();
  switch (json->kind()) {
    case JsonValue::Kind::null:
      return {};
    case JsonValue::Kind::boolean:
      return TableValue(raw == "true");
    case JsonValue::Kind::string:
      return TableValue(*json->string());
    case JsonValue::Kind::number: {
      std::int64_t whole = 0;
      if (const auto read = std::from_chars(raw.data(), raw.data() + raw.size(), whole);
          read.ec == std::errc{} && read.ptr == raw.data() + raw.size())
        return TableValue(whole);
      double number = 0;
      std::from_chars(raw.data(), raw.data() + raw.size(), number);
      return TableValue(number);
    }
    default:
      return TableValue(text);
  }
}

Result<void> add_field(std::string_view name, std::vector<std::string>& to) {
  if (std::ranges::find(to, name) != to.end())
    return refuse(ErrorCode::invalid_argument, "field " + in_quotes(name) + " is named twice");
  to.emplace_back(name);
  return {};
}

Result<void> add_order(std::string_view text, std::vector<TableOrder>& to) {
  const bool descending = text.starts_with('-');
  const auto field = text.substr(descending ? 1 : 0);
  if (std::ranges::find(to, field, &TableOrder::field) != to.end())
    return refuse(ErrorCode::invalid_argument, "the order names field " + in_quotes(field) + " twice");
  to.push_back({std::string(field), descending});
  return {};
}

Result<void> add_parameter(std::string_view text, std::map<std::string, TableValue>& to) {
  const auto equal = text.find('=');
  if (equal == std::string_view::npos || equal == 0)
    return refuse(ErrorCode::invalid_argument, "parameter " + in_quotes(text) + " is not NAME=VALUE");
  if (!to.try_emplace(std::string(text.substr(0, equal)), parameter_of(text.substr(equal + 1))).second) {
    return refuse(ErrorCode::invalid_argument, "parameter " + in_quotes(text.substr(0, equal)) + " is given twice");
  }
  return {};
}

}  // namespace evershard::cluster
