#include "evershard/services/tables/table_mapping.hpp"

#include <algorithm>
#include <charconv>

#include "evershard/protocol/base64.hpp"
#include "evershard/protocol/in_quotes.hpp"

namespace evershard::actors {
namespace {

Faulted json_not_of_type(const TableField& field, std::string_view raw) {
  return bad_value("field " + in_quotes(field.name) + " takes " + std::string(name_of(field.type)) + ", not " +
                   (raw.starts_with('"') ? "the string " + in_quotes(raw.substr(1, raw.size() - 2)) : in_quotes(raw)));
}

bool needs_payload(const ValueSource& source) { return source.kind == ValueSource::Kind::payload; }

TableValue tags_json(const std::vector<Tag>& tags) {
  std::string json = "[";
  for (const Tag& tag : tags) {
    if (json.size() > 1) json += ',';
    append_json_quoted(json, tag);
  }
  return TableValue(json + ']');
}

/// What an event says of itself, without its payload.
TableValue said_by(const RecordedEvent& event, const ValueSource& source) {
  using Kind = ValueSource::Kind;
  switch (source.kind) {
    case Kind::aggregate:
      return event.aggregate ? TableValue(event.aggregate->text()) : TableValue();
    case Kind::aggregate_type:
      return event.aggregate ? TableValue(event.aggregate->type) : TableValue();
    case Kind::aggregate_value:
      return event.aggregate ? TableValue(event.aggregate->value) : TableValue();
    case Kind::position:
      return TableValue(event.position.value);
    case Kind::seq_nr:
      return event.aggregate ? TableValue(event.seq_nr.value) : TableValue();
    case Kind::occurred_at:
      return TableValue(event.occurred_at);
    case Kind::type:
      return TableValue(event.type);
    case Kind::tags:
      return tags_json(event.tags);
    case Kind::event_id:
      return TableValue(event.id.text());
    case Kind::tag:
      for (const Tag& tag : event.tags) {
        if (tag.size() > source.name.size() && tag[source.name.size()] == ':' && tag.starts_with(source.name))
          return TableValue(tag.substr(source.name.size() + 1));
      }
      return {};
    case Kind::payload:
    case Kind::metadata:
    case Kind::constant:
      break;
  }
  return {};
}

/// The type that an event's own facts have; nothing: what the JSON has.
std::optional<FieldType> type_of(ValueSource::Kind kind) {
  using Kind = ValueSource::Kind;
  switch (kind) {
    case Kind::position:
    case Kind::seq_nr:
      return FieldType::integer;
    case Kind::occurred_at:
      return FieldType::time;
    case Kind::tags:
      return FieldType::json;
    case Kind::payload:
    case Kind::metadata:
    case Kind::constant:
      return {};
    default:
      return FieldType::text;
  }
}

bool takes(FieldType field, FieldType given) {
  return field == given || (field == FieldType::number && given == FieldType::integer);
}

}  // namespace

Faultable<TableValue> value_from_json(const TableField& field, std::string_view raw) {
  if (raw == "null") return TableValue();
  switch (field.type) {
    case FieldType::json:
      return TableValue(raw);
    case FieldType::boolean:
      if (raw != "true" && raw != "false") return json_not_of_type(field, raw);
      return TableValue(raw == "true");
    case FieldType::integer: {
      std::int64_t value = 0;
      const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), value);
      if (error != std::errc{} || end != raw.data() + raw.size()) return json_not_of_type(field, raw);
      return TableValue(value);
    }
    case FieldType::number: {
      double value = 0;
      const auto [end, error] = std::from_chars(raw.data(), raw.data() + raw.size(), value);
      if (error != std::errc{} || end != raw.data() + raw.size()) return json_not_of_type(field, raw);
      return TableValue(value);
    }
    case FieldType::text:
    case FieldType::time:
    case FieldType::bytes:
      break;
  }
  if (!raw.starts_with('"')) return json_not_of_type(field, raw);
  auto said = unescaped(raw);
  if (field.type == FieldType::text) return TableValue(std::move(said));
  if (field.type == FieldType::time) {
    const auto time = Timestamp::parse(said);
    if (!time) return json_not_of_type(field, raw);
    return TableValue(*time);
  }
  auto bytes = from_base64(said);
  if (!bytes) return bad_value("field " + in_quotes(field.name) + " takes bytes as base64, not " + in_quotes(said));
  return TableValue(std::move(*bytes));
}

Result<TableMapping::Source> TableMapping::source_of(const TableSchema& schema,
                                                     const std::pair<std::string, ValueSource>& asked, Rule& rule) {
  const auto field = schema.at(asked.first);
  if (!field) return refuse(field.error());
  const TableField& of = schema.fields[*field];
  Source source{&asked.second, *field};
  const auto given = type_of(asked.second.kind);
  if (given && !takes(of.type, *given)) {
    return refuse(ErrorCode::invalid_argument, "field " + in_quotes(of.name) + " takes " +
                                                   std::string(name_of(of.type)) + ", and what it is set from is " +
                                                   std::string(name_of(*given)));
  }
  if (asked.second.kind == ValueSource::Kind::constant) {
    auto constant = value_from_json(of, asked.second.constant);
    if (!constant) return refuse(std::move(constant).error().error);
    if (auto fits = fit(of, *constant); !fits) return refuse(std::move(fits).error().error);
    source.constant = std::move(*constant);
  }
  auto& paths = asked.second.kind == ValueSource::Kind::metadata ? rule.metadata_paths : rule.payload_paths;
  source.path = paths.size();
  if (asked.second.kind == ValueSource::Kind::metadata || needs_payload(asked.second))
    paths.push_back(&asked.second.path);
  return source;
}

Result<TableMapping> TableMapping::make(const TableSchema& schema, const std::vector<MappingRule>& rules) {
  TableMapping mapping;
  mapping.asked_ = std::make_shared<const std::vector<MappingRule>>(rules);
  if (rules.empty()) return refuse(ErrorCode::invalid_argument, "table " + in_quotes(schema.name) + " has no rules");
  if (rules.size() > mapping_rules_max)
    return refuse(ErrorCode::too_large, "a table has at most " + std::to_string(mapping_rules_max) + " rules");
  const auto key_fields = schema.key();
  for (std::size_t number = 0; number < rules.size(); ++number) {
    const MappingRule& asked = (*mapping.asked_)[number];
    const std::string where = "rule " + std::to_string(number) + ": ";
    const auto wrong = [&](const std::string& what) { return refuse(ErrorCode::invalid_argument, where + what); };
    Rule rule{asked.tags, asked.action, std::vector<Source>(key_fields.size()), {}, {}, {}};
    if (asked.types.empty()) return wrong("it names no event type");
    std::uint64_t seen = 0;
    for (const auto* list : {&asked.key, &asked.fields}) {
      for (const auto& each : *list) {
        auto source = source_of(schema, each, rule);
        if (!source) return refuse(source.error().code, where + source.error().what);
        if (seen >> source->field & 1) return wrong("field " + in_quotes(each.first) + " is there twice");
        seen |= std::uint64_t{1} << source->field;
        const auto of_key = std::find(key_fields.begin(), key_fields.end(), source->field);
        if ((of_key != key_fields.end()) != (list == &asked.key)) {
          return wrong("field " + in_quotes(each.first) +
                       (list == &asked.key ? " is not of the key" : " is of the key: it stands there"));
        }
        if (of_key != key_fields.end())
          rule.key[static_cast<std::size_t>(of_key - key_fields.begin())] = std::move(*source);
        else
          rule.fields.push_back(std::move(*source));
      }
    }
    for (std::size_t i = 0; i < key_fields.size(); ++i) {
      if (rule.key[i].from == nullptr)
        return wrong("the key needs field " + in_quotes(schema.fields[key_fields[i]].name));
    }
    if (asked.action == ChangeKind::erase && !rule.fields.empty()) return wrong("a delete sets no fields");
    if (asked.action == ChangeKind::increment) {
      for (const Source& source : rule.fields) {
        const TableField& field = schema.fields[source.field];
        if (field.type != FieldType::integer && field.type != FieldType::number) {
          return wrong("field " + in_quotes(field.name) + " cannot be incremented: it is of type " +
                       std::string(name_of(field.type)));
        }
      }
    }
    for (const auto& type : asked.types) {
      auto& of_type = mapping.by_type_[type];
      if (of_type.empty() || of_type.back() != number) of_type.push_back(number);
    }
    mapping.rules_.push_back(std::move(rule));
  }
  return mapping;
}

static_assert(table_fields_max <= json_paths_max, "a rule has a path a field at most");

Faultable<bool> TableMapping::look(const Rule& rule, const RecordedEvent& event, JsonFound& json) {
  json.payload.resize(rule.payload_paths.size());
  json.metadata.resize(rule.metadata_paths.size());
  if (!json.payload.empty()) {
    if (event.state != EventState::live) return false;
    if (!find_paths(event.payload, rule.payload_paths, json.payload))
      return bad_value("the payload is no JSON: " + in_quotes(event.payload));
  }
  if (!json.metadata.empty() && !event.metadata_bytes().empty() &&
      !find_paths(*event.metadata, rule.metadata_paths, json.metadata)) {
    return bad_value("the metadata is no JSON: " + in_quotes(*event.metadata));
  }
  return true;
}

bool TableMapping::is_for(const Rule& rule, const RecordedEvent& event) {
  return std::all_of(rule.tags.begin(), rule.tags.end(), [&](const Tag& tag) {
    return std::find(event.tags.begin(), event.tags.end(), tag) != event.tags.end();
  });
}

Faultable<TableValue> TableMapping::value_of(const Source& source, const RecordedEvent& event, const JsonFound& json,
                                             const TableSchema& schema) {
  switch (source.from->kind) {
    case ValueSource::Kind::constant:
      return source.constant;
    case ValueSource::Kind::payload:
    case ValueSource::Kind::metadata: {
      const auto& found =
          source.from->kind == ValueSource::Kind::payload ? json.payload[source.path] : json.metadata[source.path];
      if (!found) return TableValue();
      auto value = value_from_json(schema.fields[source.field], *found);
      if (!value) value.error().error.what = source.from->path.text() + ": " + value.error().error.what;
      return value;
    }
    default:
      return said_by(event, *source.from);
  }
}

Faultable<std::vector<TableValue>> TableMapping::key_of(const Rule& rule, const RecordedEvent& event,
                                                        const JsonFound& json, const TableSchema& schema) {
  std::vector<TableValue> key;
  key.reserve(rule.key.size());
  for (const Source& source : rule.key) {
    auto value = value_of(source, event, json, schema);
    if (!value) return Faulted(std::move(value).error());
    key.push_back(std::move(*value));
  }
  return key;
}

std::optional<std::string> TableMapping::row_key(const RecordedEvent& event, const TableWriter& writer) const {
  const auto found = by_type_.find(event.type);
  if (found == by_type_.end()) return std::nullopt;
  const auto first = std::find_if(found->second.begin(), found->second.end(),
                                  [&](std::size_t number) { return is_for(rules_[number], event); });
  if (first == found->second.end()) return std::nullopt;
  const auto& schema = writer.schema();
  std::vector<TableValue> key;
  for (const Source& source : rules_[*first].key) {
    const auto kind = source.from->kind;
    if (kind == ValueSource::Kind::constant) {
      key.push_back(source.constant);
    } else if (kind == ValueSource::Kind::payload || kind == ValueSource::Kind::metadata) {
      if (kind == ValueSource::Kind::payload && event.state != EventState::live) return std::nullopt;
      const JsonPath* path = &source.from->path;
      std::optional<std::string_view> value;
      if (!find_paths(kind == ValueSource::Kind::payload ? event.payload : event.metadata_bytes(), {&path, 1},
                      {&value, 1}) ||
          !value)
        return std::nullopt;
      auto taken = value_from_json(schema.fields[source.field], *value);
      if (!taken) return std::nullopt;
      key.push_back(std::move(*taken));
    } else {
      key.push_back(said_by(event, *source.from));
    }
  }
  auto encoded = writer.row_key(key);
  if (!encoded) return std::nullopt;
  return std::move(*encoded);
}

Faultable<void> TableMapping::apply(const RecordedEvent& event, const TableWriter& writer, EventRows& rows,
                                    TableCounts& counts) const {
  const auto found = by_type_.find(event.type);
  if (found == by_type_.end()) return {};
  for (const std::size_t number : found->second) {
    const Rule& rule = rules_[number];
    if (!is_for(rule, event)) continue;
    if (auto applied = apply(rule, event, writer, rows, counts); !applied) {
      applied.error().error.what = "rule " + std::to_string(number) + ": " + applied.error().error.what;
      return applied;
    }
  }
  return {};
}

Faultable<void> TableMapping::apply(const Rule& rule, const RecordedEvent& event, const TableWriter& writer,
                                    EventRows& rows, TableCounts& counts) const {
  JsonFound json;
  const auto there = look(rule, event, json);
  if (!there) return Faulted(there.error());
  if (!*there) {
    ++counts.erased;
    return {};
  }
  const auto& schema = writer.schema();
  auto key = key_of(rule, event, json, schema);
  if (!key) return Faulted(std::move(key).error());
  std::vector<FieldValue> fields;
  fields.reserve(rule.fields.size());
  for (const Source& source : rule.fields) {
    auto value = value_of(source, event, json, schema);
    if (!value) return Faulted(std::move(value).error());
    fields.emplace_back(source.field, std::move(*value));
  }
  return writer.change(rule.action, *key, fields, rows, counts);
}

void TableMapping::add_keys(const RecordedEvent& event, const TableWriter& writer,
                            std::vector<std::string>& keys) const {
  const auto found = by_type_.find(event.type);
  if (found == by_type_.end()) return;
  for (const std::size_t number : found->second) {
    const Rule& rule = rules_[number];
    if (!is_for(rule, event)) continue;
    JsonFound json;
    const bool in_event = std::all_of(rule.key.begin(), rule.key.end(), [](const Source& source) {
      return source.from->kind != ValueSource::Kind::payload && source.from->kind != ValueSource::Kind::metadata;
    });
    if (!in_event && !look(rule, event, json).value_or(false)) continue;
    auto key = key_of(rule, event, json, writer.schema());
    if (!key) continue;
    if (auto encoded = writer.row_key(*key)) keys.push_back(std::move(*encoded));
  }
}

}  // namespace evershard::actors
