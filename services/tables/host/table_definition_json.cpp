#include "evershard/services/tables/host/table_definition_json.hpp"

#include <algorithm>
#include <array>

#include "evershard/api/json/json_text.hpp"
#include "evershard/api/json/json_value.hpp"
#include "evershard/api/json/query_json.hpp"
#include "evershard/protocol/in_quotes.hpp"
#include "evershard/protocol/nearest.hpp"
#include "evershard/services/indexes/part_name.hpp"

namespace evershard::cluster {
namespace {

using actors::ChangeKind;
using actors::HandlerName;
using actors::MappingRule;
using actors::OnFault;
using actors::TableDefinition;
using actors::ValueSource;
using Names = std::vector<std::string>;
using Sources = std::vector<std::pair<std::string, ValueSource>>;

constexpr std::array<std::pair<std::string_view, ValueSource::Kind>, 9> event_facts{
    {{"aggregate", ValueSource::Kind::aggregate},
     {"aggregate.type", ValueSource::Kind::aggregate_type},
     {"aggregate.value", ValueSource::Kind::aggregate_value},
     {"position", ValueSource::Kind::position},
     {"seq_nr", ValueSource::Kind::seq_nr},
     {"occurred_at", ValueSource::Kind::occurred_at},
     {"type", ValueSource::Kind::type},
     {"tags", ValueSource::Kind::tags},
     {"id", ValueSource::Kind::event_id}}};
constexpr std::string_view metadata_mark = "metadata:";
constexpr std::string_view tag_mark = "tag:";

Refused unknown_name(const JsonValue& at, std::string_view what, std::string_view name, const Names& known) {
  std::string text = "unknown " + std::string(what) + ' ' + in_quotes(name);
  if (const std::string near = nearest(name, known); !near.empty())
    return at.wrong(text + "; did you mean " + near + '?');
  std::string list;
  for (const auto& each : known) list += (list.empty() ? "" : ", ") + each;
  return at.wrong(text + "; known are " + list);
}

/// One of some names, with what it stands for.
template <class T>
Result<void> read_choice(const JsonValue& from, std::string_view what,
                         const std::vector<std::pair<std::string, T>>& known, T& to) {
  const auto name = from.string();
  if (!name) return refuse(name.error());
  Names names;
  for (const auto& [each, value] : known) {
    if (each == *name) {
      to = value;
      return {};
    }
    names.push_back(each);
  }
  return unknown_name(from, what, *name, names);
}

template <class T>
std::vector<std::pair<std::string, T>> names_up_to(T first, T last) {
  std::vector<std::pair<std::string, T>> names;
  for (auto i = static_cast<unsigned>(first); i <= static_cast<unsigned>(last); ++i)
    names.emplace_back(std::string(name_of(static_cast<T>(i))), static_cast<T>(i));
  return names;
}

Result<void> read_text(const JsonValue& from, std::string& to) {
  auto text = from.string();
  if (!text) return refuse(std::move(text).error());
  to = std::move(*text);
  return {};
}

Result<void> read_flag(const JsonValue& from, bool& to) {
  if (from.kind() != JsonValue::Kind::boolean) return from.wrong("must be true or false");
  to = from.raw() == "true";
  return {};
}

Result<void> read_field(const JsonValue& from, TableField& field) {
  bool typed = false;
  EVERSHARD_TRY(from.for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (key == "name") return read_text(value, field.name);
    if (key == "role") return read_choice(value, "role", names_up_to(FieldRole::normal, FieldRole::unique), field.role);
    if (key == "nullable") return read_flag(value, field.nullable);
    if (key != "type") return unknown_name(from, "key", key, {"name", "type", "role", "nullable"});
    typed = true;
    return read_choice(value, "type", names_up_to(FieldType::text, FieldType::json), field.type);
  }));
  if (field.name.empty()) return from.wrong("name is missing");
  if (!typed) return from.wrong("type is missing");
  return {};
}

Result<void> read_path(const JsonValue& from, std::string_view text, ValueSource& to) {
  auto path = actors::JsonPath::parse(text);
  if (!path) return from.wrong(path.error().what);
  to.path = std::move(*path);
  return {};
}

Result<void> read_source(const JsonValue& from, ValueSource& to) {
  if (from.kind() == JsonValue::Kind::object) {
    bool given = false;
    EVERSHARD_TRY(from.for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
      if (key != "constant") return unknown_name(from, "key", key, {"constant"});
      to.kind = ValueSource::Kind::constant;
      to.constant = value.raw();
      given = true;
      return {};
    }));
    return given ? Result<void>() : from.wrong("constant is missing");
  }
  const auto text = from.string();
  if (!text) return refuse(text.error());
  if (text->starts_with('$')) return read_path(from, *text, to);
  if (text->starts_with(metadata_mark)) {
    to.kind = ValueSource::Kind::metadata;
    return read_path(from, std::string_view(*text).substr(metadata_mark.size()), to);
  }
  if (text->starts_with(tag_mark)) {
    to.kind = ValueSource::Kind::tag;
    to.name = text->substr(tag_mark.size());
    if (to.name.empty()) return from.wrong("tag: is followed by what stands before the colon of the tag");
    return {};
  }
  Names known;
  for (const auto& [name, kind] : event_facts) {
    if (name == *text) {
      to.kind = kind;
      return {};
    }
    known.emplace_back(name);
  }
  known.insert(known.end(), {"tag:NAME", "$.path", "metadata:$.path"});
  return unknown_name(from, "source", *text, known);
}

Result<void> read_sources(const JsonValue& from, Sources& to) {
  EVERSHARD_TRY(from.for_each_member([&](std::string_view key, const JsonValue& value) {
    to.emplace_back(std::string(key), ValueSource{});
    return read_source(value, to.back().second);
  }));
  std::sort(to.begin(), to.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return {};
}

Result<void> read_key(const JsonValue& from, const TableSchema& schema, Sources& to) {
  if (from.kind() == JsonValue::Kind::object) return read_sources(from, to);
  const auto fields = schema.key();
  if (fields.size() != 1)
    return from.wrong("the key has " + std::to_string(fields.size()) + " fields: each needs its source, as {\"" +
                      (fields.empty() ? "field" : schema.fields[fields[0]].name) + "\":\"aggregate\"}");
  to.emplace_back(schema.fields[fields[0]].name, ValueSource{});
  return read_source(from, to.back().second);
}

Result<void> read_rule(const JsonValue& from, const TableSchema& schema, MappingRule& rule) {
  bool acts = false;
  EVERSHARD_TRY(from.for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (key == "types") return read_strings(value, rule.types);
    if (key == "tags") return read_strings(value, rule.tags);
    if (key == "key") return read_key(value, schema, rule.key);
    if (key == "fields") return read_sources(value, rule.fields);
    if (key != "action") return unknown_name(from, "key", key, {"types", "tags", "action", "key", "fields"});
    acts = true;
    return read_choice(value, "action", names_up_to(ChangeKind::upsert, ChangeKind::set_if_absent), rule.action);
  }));
  if (!acts) return from.wrong("action is missing");
  return {};
}

Result<void> read_parts(const JsonValue& from, std::uint32_t& parts) {
  const auto number = from.number();
  if (!number || *number == 0 || *number > actors::table_parts_max)
    return from.wrong("must be 1 to " + std::to_string(actors::table_parts_max));
  parts = static_cast<std::uint32_t>(*number);
  return {};
}

Result<void> read_handler(const JsonValue& from, HandlerName& handler) {
  bool asks = false;
  EVERSHARD_TRY(from.for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (key == "name") return read_text(value, handler.name);
    if (key == "revision") {
      const auto revision = value.number();
      if (!revision) return refuse(revision.error());
      handler.revision = *revision;
      return {};
    }
    if (key != "query") return unknown_name(from, "key", key, {"name", "revision", "query"});
    asks = true;
    auto query = read_query(value);
    if (!query) return refuse(std::move(query).error());
    handler.query = query->canonical();
    return {};
  }));
  if (!asks) return from.wrong("query is missing");
  return {};
}

void write_source(JsonText& json, const ValueSource& source) {
  switch (source.kind) {
    case ValueSource::Kind::payload:
      json.string(source.path.text());
      return;
    case ValueSource::Kind::metadata:
      json.string(std::string(metadata_mark) + source.path.text());
      return;
    case ValueSource::Kind::tag:
      json.string(std::string(tag_mark) + source.name);
      return;
    case ValueSource::Kind::constant:
      json.begin_object().key("constant").raw(source.constant).end_object();
      return;
    default:
      break;
  }
  for (const auto& [name, kind] : event_facts) {
    if (kind == source.kind) json.string(name);
  }
}

void write_sources(JsonText& json, const Sources& sources) {
  json.begin_object();
  for (const auto& [field, source] : sources) {
    json.key(field);
    write_source(json, source);
  }
  json.end_object();
}

void write_strings(JsonText& json, const std::vector<std::string>& strings) {
  json.begin_array();
  for (const auto& each : strings) json.string(each);
  json.end_array();
}

void write_query_items(JsonText& json, const Query& query) {
  json.begin_object();
  if (query.is_all()) {
    json.key("all").boolean(true).end_object();
    return;
  }
  json.key("items").begin_array();
  for (const QueryItem& item : query.items()) {
    json.begin_object();
    if (!item.types.empty()) write_strings(json.key("types"), item.types);
    if (!item.tags.empty()) write_strings(json.key("tags"), item.tags);
    if (!item.concerning.empty()) {
      json.key("concerning").begin_array();
      for (const auto& aggregate : item.concerning) json.string(aggregate.text());
      json.end_array();
    }
    json.end_object();
  }
  json.end_array().end_object();
}

}  // namespace

Result<TableDefinition> read_table_definition(std::string_view text, const std::string& name) {
  const std::string what = "table " + in_quotes(name);  // errors name it
  const auto json = JsonValue::parse(text, what);
  if (!json) return refuse(json.error());
  TableDefinition definition;
  definition.schema.name = name;
  // Fields first: rules are read against them.
  EVERSHARD_TRY(json->for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (key == "table") return read_text(value, definition.schema.name);
    if (key == "fields")
      return value.for_each_element(
          [&](const JsonValue& field) { return read_field(field, definition.schema.fields.emplace_back()); });
    if (key == "on_violation")
      return read_choice(value, "policy", names_up_to(OnFault::fail, OnFault::park), definition.on_violation);
    if (key == "on_error")
      return read_choice<OnFault>(value, "policy", {{"fail", OnFault::fail}, {"park", OnFault::park}},
                                  definition.on_error);
    if (key == "parts") return read_parts(value, definition.parts);
    if (key != "rules" && key != "handler")
      return unknown_name(*json, "key", key,
                          {"table", "fields", "on_violation", "on_error", "parts", "rules", "handler"});
    return {};
  }));
  const auto wrong = [&](const Error& error) {
    const bool named = error.what.starts_with("table ");
    return refuse(error.code, named ? error.what : "table " + in_quotes(name) + ": " + error.what);
  };
  if (const auto fields = definition.schema.check(); !fields) return wrong(fields.error());
  bool rules = false, handler = false;
  EVERSHARD_TRY(json->for_each_member([&](std::string_view key, const JsonValue& value) -> Result<void> {
    if (key == "rules") {
      rules = true;
      auto& read = definition.made_by.emplace<std::vector<MappingRule>>();
      return value.for_each_element(
          [&](const JsonValue& rule) { return read_rule(rule, definition.schema, read.emplace_back()); });
    }
    if (key != "handler") return {};
    handler = true;
    return read_handler(value, definition.made_by.emplace<HandlerName>());
  }));
  if (rules == handler) return json->wrong("either rules or a handler");
  if (const auto checked = definition.check(); !checked) return wrong(checked.error());
  return definition;
}

std::uint32_t table_parts(const std::string& spec) {
  if (spec.find("\"parts\"") == std::string::npos) return 1;
  const auto definition = read_table_definition(spec, "table");
  return definition ? definition->parts : 1;
}

std::string table_definition_json(const TableDefinition& definition) {
  JsonText json;
  json.begin_object().key("table").string(definition.schema.name).key("fields").begin_array();
  for (const TableField& field : definition.schema.fields) {
    json.begin_object()
        .key("name")
        .string(field.name)
        .key("type")
        .string(name_of(field.type))
        .key("role")
        .string(name_of(field.role))
        .key("nullable")
        .boolean(field.nullable)
        .end_object();
  }
  json.end_array()
      .key("on_violation")
      .string(name_of(definition.on_violation))
      .key("on_error")
      .string(name_of(definition.on_error));
  if (definition.parts != 1) json.key("parts").number(definition.parts);
  if (const auto* handler = std::get_if<HandlerName>(&definition.made_by)) {
    json.key("handler")
        .begin_object()
        .key("name")
        .string(handler->name)
        .key("revision")
        .number(handler->revision)
        .key("query");
    write_query_items(json, handler->query);
    json.end_object();
  } else {
    json.key("rules").begin_array();
    for (const MappingRule& rule : std::get<std::vector<MappingRule>>(definition.made_by)) {
      json.begin_object();
      write_strings(json.key("types"), rule.types);
      write_strings(json.key("tags"), rule.tags);
      json.key("action").string(name_of(rule.action)).key("key");
      write_sources(json, rule.key);
      json.key("fields");
      write_sources(json, rule.fields);
      json.end_object();
    }
    json.end_array();
  }
  return json.end_object().take();
}

}  // namespace evershard::cluster
